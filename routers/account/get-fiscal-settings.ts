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
});

/** What the company says of itself on the documents that it issues; the operator sets it. Without a legal name, its name. DOC-03 */
export const getFiscalSettings = operation({
  title: 'Datos fiscales',
  description: 'Los datos de la empresa en los documentos que emite. Los cambia el operador.',
  rest: ['GET /fiscal-settings'],
  alias: 'obtenerDatosFiscales',
  scope: 'svc.read',
  input: {},
  output: settings.schema,
  handler: ({ db, accountId }) =>
    jsonRow(
      db,
      db
        .selectFrom('accounts as a')
        .select((eb) => [...settings.columns, eb.fn.coalesce('a.legal_name', 'a.name').as('legal_name')])
        .where('a.id', '=', accountId),
      settings,
    ),
});
