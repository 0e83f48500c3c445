import { sql } from 'kysely';
import { z } from 'zod';
import { seriesOf } from '../../documents/series.ts';
import { REGISTER_MODES, type RegisterMode } from '../../entities/values.ts';
import { withMore } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { jsonRow } from '../shared/pages.ts';
import { enumOf, shape, textOf } from '../shared/shape.ts';

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
  regimen_iva: enumOf('vat_scheme', { general: 'general', caja: 'caja' }),
  series: {
    albaran: textOf('delivery_note_series'),
    factura: textOf('invoice_series'),
    rectificativa: textOf('rectification_series'),
    presupuesto: textOf('estimate_series'),
  },
});

const output = settings.schema.extend({
  logo: z.string().nullable(),
  verifactu: z.object({
    activo: z.boolean(),
    modo: z.enum(REGISTER_MODES).nullable(),
    pendientes: z.int().describe('Registros sin enviar o sin respuesta'),
  }),
  declaracion_responsable: z.string().nullable().describe('La del productor del sistema'),
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
  output,
  async handler({ db, accountId, verifactu, downloadUrl }) {
    const [said, { rows }] = await Promise.all([
      jsonRow(
        db,
        db
          .selectFrom('accounts as a')
          .select((eb) => [
            ...settings.columns,
            eb.fn.coalesce('a.legal_name', 'a.name').as('legal_name'),
            sql<'general' | 'caja'>`coalesce(a.vat_scheme, 'general')`.as('vat_scheme'),
            seriesOf('delivery_note').as('delivery_note_series'),
            seriesOf('invoice').as('invoice_series'),
            seriesOf('rectification').as('rectification_series'),
            seriesOf('estimate').as('estimate_series'),
          ])
          .where('a.id', '=', accountId),
        settings,
      ),
      sql<{ mode: RegisterMode | null; logo: string | null; pending: number }>`
      select a.verifactu_mode as mode, a.logo, coalesce(sum(c.n - c.answered), 0)::int as pending
      from accounts a left join register_chains c on c.account_id = ${accountId} and a.id = c.account_id
      where a.id = ${accountId} group by a.verifactu_mode, a.logo`.execute(db),
    ]);
    const [{ mode, logo, pending } = { mode: null, logo: null, pending: 0 }] = rows;
    return withMore(said, {
      logo: logo && downloadUrl({ accountId, file: 'logo', id: 0 }),
      verifactu: { activo: mode !== null, modo: mode, pendientes: pending },
      declaracion_responsable: verifactu?.declarationUrl ?? null,
    });
  },
});
