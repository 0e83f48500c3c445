import { operation } from '../operation.ts';
import { jsonArray, jsonRow } from '../shared/pages.ts';
import { arrayOf, shape } from '../shared/shape.ts';
import { channel as channelProperties } from './funnel.ts';

const channel = shape(channelProperties);
const channels = shape({ canales: arrayOf(channel, 'channels') });

/** The company's acquisition channels, by title. PAG-02 */
export const listChannels = operation({
  title: 'Canales',
  description: 'Canales de captación de la empresa. Da el canal_fk que admite crear_oportunidad.',
  rest: ['GET /crm/channels'],
  alias: 'listarCanales',
  scope: 'svc.read',
  input: {},
  output: channels.schema,
  async handler({ db, accountId }) {
    const rows = db
      .selectFrom('channels as c')
      .select(channel.columns)
      .where('c.account_id', '=', accountId)
      .orderBy('c.title')
      .orderBy('c.id');
    return jsonRow(db, db.selectNoFrom(jsonArray(rows, channel).as('channels')), channels);
  },
});
