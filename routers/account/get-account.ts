import { z } from 'zod';
import { operation } from '../operation.ts';

/** The caller's company, what the caller may do, and what is left of the quota after this call. TEN-01, LIM-01 */
export const getAccount = operation({
  title: 'Cuenta',
  description:
    'La empresa sobre la que se actúa, con su zona horaria, los permisos de quien llama y las llamadas que le quedan en este minuto. Úsala para saber dónde estás y qué puedes hacer.',
  rest: ['GET /account'],
  alias: 'obtenerCuenta',
  scope: 'svc.read',
  input: {},
  output: z.object({
    nombre: z.string(),
    zona_horaria: z.string(),
    stock_multiformato: z.boolean(),
    permisos: z.array(z.enum(['svc.read', 'svc.write'])),
    cuota: z.object({
      limite: z.int().describe('Llamadas por minuto de la empresa'),
      restante: z.int().describe('Llamadas que quedan'),
      reinicio: z.int().describe('Segundos hasta la próxima cuota'),
    }),
  }),
  async handler({ db, accountId, principal: { scopes }, quota }) {
    const account = await db
      .selectFrom('accounts')
      .select(['name', 'time_zone', 'multi_format_stock'])
      .where('id', '=', accountId)
      .executeTakeFirstOrThrow();
    return {
      nombre: account.name,
      zona_horaria: account.time_zone,
      stock_multiformato: account.multi_format_stock,
      permisos: [...scopes],
      cuota: { limite: quota.limit, restante: quota.remaining, reinicio: quota.resetSeconds },
    };
  },
});
