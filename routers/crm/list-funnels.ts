import { sql } from 'kysely';
import { operation } from '../operation.ts';
import { jsonArray, jsonRow } from '../shared/pages.ts';
import { arrayOf, shape, wholeOf } from '../shared/shape.ts';
import { funnel, stage } from './funnel.ts';

const stageInOrder = shape({ ...stage, orden: wholeOf('place') });
const wholeFunnel = shape({ ...funnel, etapas: arrayOf(stageInOrder, 'stages') });
const funnels = shape({ total_funnels: wholeOf('total'), funnels: arrayOf(wholeFunnel, 'funnels') });

/** The company's funnels with their stages in order. */
export const listFunnels = operation({
  title: 'Funnels',
  description:
    'Funnels de venta y sus etapas, en orden. Da el funnel_fk y la etapa_fk que piden crear_oportunidad y mover_oportunidad.',
  rest: ['GET /crm/funnels'],
  alias: 'listarFunnels',
  scope: 'svc.read',
  input: {},
  output: funnels.schema,
  async handler({ db, accountId }) {
    const selected = db.selectFrom('funnels as f').where('f.account_id', '=', accountId);
    const rows = selected
      .select(wholeFunnel.columns)
      .select((eb) => {
        const stages = eb
          .selectFrom('funnel_stages as s')
          .select(stageInOrder.columns)
          .select(sql<number>`row_number() over (order by s.position)`.as('place'))
          .where('s.account_id', '=', accountId)
          .whereRef('s.funnel_id', '=', 'f.id')
          .orderBy('s.position');
        return jsonArray(stages, stageInOrder).as('stages');
      })
      .orderBy('f.title')
      .orderBy('f.id');
    return jsonRow(
      db,
      selected.select((eb) => eb.fn.countAll<number>().as('total')).select(jsonArray(rows, wholeFunnel).as('funnels')),
      funnels,
    );
  },
});
