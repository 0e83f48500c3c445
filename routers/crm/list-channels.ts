import { z } from 'zod';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';

/** The company's acquisition channels, by title. PAG-02 */
export const listChannels = operation({
  title: 'Canales',
  description: 'Canales de captación de la empresa. Da el canal_fk que admite crear_oportunidad.',
  rest: ['GET /crm/channels'],
  alias: 'listarCanales',
  scope: 'svc.read',
  input: {},
  output: z.object({ canales: z.array(z.object({ canalId: sealedId('channel'), canal: z.string() })) }),
  async handler({ db, accountId }) {
    const rows = await db
      .selectFrom('channels')
      .select(['id', 'title'])
      .where('account_id', '=', accountId)
      .orderBy('title')
      .orderBy('id')
      .execute();
    return { canales: rows.map(({ id, title }) => ({ canalId: id, canal: title })) };
  },
});
