import { z } from 'zod';
import { withMore } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { jsonRow } from '../shared/pages.ts';
import { fieldOf, flagOf, shape, textOf } from '../shared/shape.ts';

const company = shape({
  nombre: textOf('a.name'),
  cif: textOf('a.tax_id'),
  zona_horaria: textOf('a.time_zone'),
  stock_multiformato: flagOf('a.multi_format_stock'),
  emision_automatica: fieldOf<string>()(
    z.boolean(),
    'a.automatic_issuing_since',
    (column) => `(${column} is not null)::text`,
  ).describe('Si las renovaciones se emiten solas'),
});

/** The caller's company, what the caller may do, and what is left of the quota after this call. TEN-01, LIM-01 */
export const getAccount = operation({
  title: 'Cuenta',
  description:
    'La empresa sobre la que se actúa, con su zona horaria, los permisos de quien llama y las llamadas que le quedan en este minuto. Úsala para saber dónde estás y qué puedes hacer.',
  rest: ['GET /account'],
  alias: 'obtenerCuenta',
  scope: 'svc.read',
  lasts: false,
  input: {},
  output: company.schema.extend({
    hoy: z.string().describe('Fecha de la empresa'),
    permisos: z.array(z.enum(['svc.read', 'svc.write'])),
    cuota: z.object({
      limite: z.int().describe('Llamadas por minuto de la empresa'),
      restante: z.int().describe('Llamadas que quedan'),
      reinicio: z.int().describe('Segundos hasta la próxima cuota'),
    }),
  }),
  async handler({ db, accountId, today, principal: { scopes }, quota }) {
    const stored = await jsonRow(
      db,
      db.selectFrom('accounts as a').select(company.columns).where('a.id', '=', accountId),
      company,
    );
    return withMore(stored, {
      hoy: today.toString(),
      permisos: [...scopes],
      cuota: { limite: quota.limit, restante: quota.remaining, reinicio: quota.resetSeconds },
    });
  },
});
