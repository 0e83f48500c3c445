import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { CLIENT_COLUMNS, client, clientOf } from './client.ts';

/** One client with its address. TAR-01 */
export const getClient = operation({
  title: 'Cliente',
  description: 'Un cliente con su tarifa y su dirección. clienteId: de consultar_clientes.',
  rest: ['GET /clients/{clienteId}'],
  alias: 'obtenerCliente',
  scope: 'svc.read',
  input: { clienteId: id('client').describe('El cliente') },
  output: z.object({
    cliente: client.extend({
      direccion: z.string(),
      cp: z.string(),
      poblacion: z.string(),
      provincia: z.string(),
      pais: z.string(),
    }),
  }),
  async handler({ input: { clienteId }, db, accountId }) {
    const row = await db
      .selectFrom('clients as c')
      .select([...CLIENT_COLUMNS, 'c.address', 'c.postal_code', 'c.city', 'c.province', 'c.country'])
      .where('c.account_id', '=', accountId)
      .where('c.id', '=', clienteId)
      .executeTakeFirst();
    if (!row) throw notFound('clienteId');
    return {
      cliente: {
        ...clientOf(row),
        direccion: row.address,
        cp: row.postal_code,
        poblacion: row.city,
        provincia: row.province,
        pais: row.country,
      },
    };
  },
});
