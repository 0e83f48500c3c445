import { sql } from 'kysely';
import { z } from 'zod';
import { containing, emailKeys, taxKey } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, PAGE, page, text } from '../shared/schemas.ts';
import { shape } from '../shared/shape.ts';
import { client, priceListOf } from './client.ts';

const clients = listOf('total_clientes', 'clientes', shape(client), orderOf('c', 'legal_name', 'id'));

/** The clients by legal name. Tax ids are compared as in DLV-01, e-mails whole and without case. PAG-02, TAR-01 */
export const listClients = operation({
  title: 'Clientes',
  description:
    'Clientes, por nombre fiscal, con su tarifa. Da el clienteId que piden las demás herramientas. Para saber si un cliente existe, búscalo por cif o email. tarifa: de consultar_tarifas.',
  rest: ['GET /clients'],
  alias: 'consultarClientes',
  scope: 'svc.read',
  input: {
    busqueda: text(200).optional().describe('Texto en nombre fiscal, nombre comercial, CIF o correo'),
    cif: text(50).optional().describe('Solo los de este CIF, con o sin espacios, puntos, guiones o prefijo ES'),
    email: text(320).optional().describe('Solo los de este correo exacto'),
    tarifa: z.int().min(1).optional().describe('Solo los de esta tarifa; los que no tienen cuentan en la 1'),
    ...changedSince(),
    ...page(PAGE),
  },
  output: clients.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { busqueda, cif, email, tarifa } = input;
    const selected = db
      .selectFrom('clients as c')
      .where('c.account_id', '=', accountId)
      .$call(when(changedIn('c', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(busqueda, (q, wanted) => q.where('c.search', 'like', containing(wanted))))
      // An empty normalised tax id ("-") matches nothing.
      .$call(when(cif, (q, wanted) => q.where('c.tax_key', '=', taxKey(wanted) ?? '')))
      .$call(
        when(email, (q, wanted) =>
          q.where(sql<boolean>`lower(normalize(c.email) collate "und-x-icu") = any(${emailKeys(wanted)}::text[])`),
        ),
      )
      // As bigint: a list can't have a number beyond int, but may be asked for by one.
      .$call(when(tarifa, (q, list) => q.where(sql<boolean>`${priceListOf} = ${list}::bigint`)));
    return clients.read(db, input, {
      selected,
      rows: selected.select(clients.columns).select(priceListOf.as('list')),
    });
  },
});
