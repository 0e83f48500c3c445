import { z } from 'zod';
import { withMore } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { jsonRow } from '../shared/pages.ts';
import { shape, textOf } from '../shared/shape.ts';

const settings = shape({
  razon_social: textOf('legal_name'),
  cif: textOf('a.tax_id'),
  direccion: textOf('a.address'),
  cp: textOf('a.postal_code'),
  poblacion: textOf('a.city'),
  provincia: textOf('a.province'),
  pais: textOf('a.country'),
  email: textOf('a.email'),
  iban: textOf('a.iban'),
  color: textOf('a.color'),
});

/**
 * What the company says of itself on the documents that it issues; set by an administrator on its page, or by the operator. Without a legal
 * name, its name. `logo`: an address that works for ten minutes, null without one. DOC-03
 */
export const getFiscalSettings = operation({
  title: 'Datos fiscales',
  description: 'Los datos de la empresa en los documentos que emite.',
  rest: ['GET /fiscal-settings'],
  alias: 'obtenerDatosFiscales',
  scope: 'svc.read',
  lasts: false,
  input: {},
  output: settings.schema.extend({ logo: z.string().nullable() }),
  async handler({ db, accountId, downloadUrl }) {
    const account = db.selectFrom('accounts as a').where('a.id', '=', accountId);
    const [shown, { logo }] = await Promise.all([
      jsonRow(
        db,
        account.select((eb) => [...settings.columns, eb.fn.coalesce('a.legal_name', 'a.name').as('legal_name')]),
        settings,
      ),
      account.select('a.logo').executeTakeFirstOrThrow(),
    ]);
    return withMore(shown, { logo: logo && downloadUrl({ accountId, file: 'logo', id: accountId }) });
  },
});
