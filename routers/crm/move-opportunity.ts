import { z } from 'zod';
import { badField, notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { shape } from '../shared/shape.ts';
import { stage } from './funnel.ts';

/** Moves an open opportunity to another stage of its funnel; to the stage it is in, nothing changes. ID-05 */
export const moveOpportunity = operation({
  title: 'Mover oportunidad',
  description:
    'Pasa una oportunidad abierta a otra etapa de su funnel. oportunidadId: de consultar_oportunidades; etapa_fk: de listar_funnels. Para ganarla, perderla o reabrirla usa cerrar_oportunidad.',
  rest: ['PUT /crm/opportunities/{oportunidadId}/stage'],
  alias: 'moverOportunidad',
  scope: 'svc.write',
  oauthWrite: true,
  destructive: true,
  input: {
    oportunidadId: id('opportunity').describe('La oportunidad'),
    etapa_fk: id('stage').describe('La etapa de destino, del mismo funnel'),
  },
  output: z.object({
    oportunidadId: sealedId('opportunity'),
    titulo: z.string(),
    etapa_anterior: shape(stage).schema,
    etapa: shape(stage).schema,
  }),
  async handler({ input: { oportunidadId, etapa_fk }, db, accountId, now, journal }) {
    const [moved, target] = await Promise.all([
      // Locked: of two moves at once the second starts where the first ended.
      db
        .selectFrom('opportunities as o')
        .select(['o.title', 'o.state', 'o.funnel_id', 'o.stage_id'])
        .select((eb) =>
          eb
            .selectFrom('funnel_stages as s')
            .select('s.title')
            .where('s.account_id', '=', accountId)
            .whereRef('s.id', '=', 'o.stage_id')
            .as('stage'),
        )
        .where('o.account_id', '=', accountId)
        .where('o.id', '=', oportunidadId)
        .forUpdate()
        .executeTakeFirst(),
      db
        .selectFrom('funnel_stages')
        .select(['funnel_id', 'title'])
        .where('account_id', '=', accountId)
        .where('id', '=', etapa_fk)
        .executeTakeFirst(),
    ]);
    if (!moved) throw notFound('oportunidadId');
    if (!target) throw notFound('etapa_fk');
    if (target.funnel_id !== moved.funnel_id)
      throw badField('etapa_fk', 'no es una etapa del funnel de la oportunidad');
    if (moved.state !== 'open') throw badField('oportunidadId', 'está cerrada; para moverla hay que reabrirla antes');
    if (moved.stage_id !== etapa_fk) {
      await db
        .updateTable('opportunities')
        .set((eb) => ({ stage_id: etapa_fk, version: eb('version', '+', 1), updated_at: now.toString() }))
        .where('account_id', '=', accountId)
        .where('id', '=', oportunidadId)
        .execute();
      journal('modify', 'opportunity', oportunidadId);
    }
    return {
      oportunidadId,
      titulo: moved.title,
      etapa_anterior: { etapaId: moved.stage_id, etapa: moved.stage ?? '' },
      etapa: { etapaId: etapa_fk, etapa: target.title },
    };
  },
});
