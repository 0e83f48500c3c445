import { sql } from 'kysely';
import { z } from 'zod';
import { containing, emailKey, taxKey } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { pageOfRows } from '../shared/rows.ts';
import { PAGE, page, paged, pageOf, text } from '../shared/schemas.ts';
import { CLIENT_COLUMNS, client, clientOf } from './client.ts';

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
    ...page(PAGE),
  },
  output: paged('total_clientes', 'clientes', client),
  async handler({ input, db, accountId }) {
    const { busqueda, cif, email, tarifa } = input;
    const selected = db
      .selectFrom('clients as c')
      .where('c.account_id', '=', accountId)
      .$if(Boolean(busqueda), (q) => q.where('c.search', 'like', containing(busqueda ?? '')))
      // What leaves nothing to compare ("-") is nobody's.
      .$if(Boolean(cif), (q) => q.where('c.tax_key', '=', taxKey(cif) ?? ''))
      .$if(Boolean(email), (q) => q.where(sql<boolean>`lower(c.email) = ${emailKey(email)}`))
      // As bigint: a list can't have a number beyond int, but may be asked for by one.
      .$if(tarifa !== undefined, (q) => q.where(sql<boolean>`coalesce(c.price_list, 1) = ${tarifa}::bigint`));
    const { total, rows } = await pageOfRows(
      db,
      selected,
      selected.select(CLIENT_COLUMNS).orderBy('c.legal_name').orderBy('c.id'),
      input,
    );
    return { total_clientes: total, ...pageOf(total, input), clientes: rows.map(clientOf) };
  },
});
