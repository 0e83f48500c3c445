// How an opportunity is read and shown, alone and in the list.
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { sealedId } from '../shared/id.ts';
import { CONTACT_COLUMNS, contact, contactOf } from './contact.ts';

/** `resultado` on the wire and the state that is stored. */
export const STATES = { abierta: 'open', ganado: 'won', perdido: 'lost' } as const;
const RESULTS = { open: 'abierta', won: 'ganado', lost: 'perdido' } as const;

export const stage = z.object({ etapaId: sealedId('stage'), etapa: z.string() });

/** `valor_cierre` without VAT; moments in the company's local time, `fecha_cierre` "" while open. */
export const opportunity = z.object({
  oportunidadId: sealedId('opportunity'),
  titulo: z.string(),
  funnel: z.object({ funnelId: sealedId('funnel'), funnel: z.string() }),
  etapa: stage,
  canal: z.object({ canalId: sealedId('channel'), canal: z.string() }),
  contacto: contact,
  resultado: z.enum(['abierta', 'ganado', 'perdido']),
  valor_cierre: z.number().nullable(),
  fecha_creacion: z.string(),
  fecha_cierre: z.string(),
  motivo: z.string(),
});

/** The company's opportunities, to be narrowed down before `withDetails`. */
export const opportunitiesOf = (db: Db, accountId: number) =>
  db.selectFrom('opportunities as o').where('o.account_id', '=', accountId);

/** The rows of these opportunities, newest first, as `opportunityOf` takes them. */
export function withDetails(selected: ReturnType<typeof opportunitiesOf>, timeZone: string) {
  const local = (column: 'opened_at' | 'closed_at') =>
    sql<string | null>`to_char(o.${sql.ref(column)} at time zone ${timeZone}, 'YYYY-MM-DD HH24:MI:SS')`;
  return selected
    .innerJoin('funnels as f', (join) =>
      join.onRef('f.account_id', '=', 'o.account_id').onRef('f.id', '=', 'o.funnel_id'),
    )
    .innerJoin('funnel_stages as s', (join) =>
      join.onRef('s.account_id', '=', 'o.account_id').onRef('s.id', '=', 'o.stage_id'),
    )
    .leftJoin('channels as c', (join) =>
      join.onRef('c.account_id', '=', 'o.account_id').onRef('c.id', '=', 'o.channel_id'),
    )
    .leftJoin('contacts as k', (join) =>
      join.onRef('k.account_id', '=', 'o.account_id').onRef('k.id', '=', 'o.contact_id'),
    )
    .leftJoin('loss_reasons as r', (join) =>
      join.onRef('r.account_id', '=', 'o.account_id').onRef('r.id', '=', 'o.loss_reason_id'),
    )
    .select(['o.id', 'o.title', 'o.funnel_id', 'f.title as funnel', 'o.stage_id', 's.title as stage'])
    .select(['o.channel_id', 'c.title as channel', ...CONTACT_COLUMNS])
    .select(['o.state', 'o.closing_value', 'r.title as reason'])
    .select([local('opened_at').as('opened'), local('closed_at').as('closed')])
    .orderBy('o.opened_at', 'desc')
    .orderBy('o.id', 'desc');
}

type OpportunityRow = Awaited<ReturnType<ReturnType<typeof withDetails>['execute']>>[number];

export const opportunityOf = (row: OpportunityRow) => ({
  oportunidadId: row.id,
  titulo: row.title,
  funnel: { funnelId: row.funnel_id, funnel: row.funnel },
  etapa: { etapaId: row.stage_id, etapa: row.stage },
  canal: { canalId: row.channel_id, canal: row.channel ?? '' },
  contacto: contactOf(row),
  resultado: RESULTS[row.state],
  valor_cierre: row.closing_value,
  fecha_creacion: row.opened ?? '',
  fecha_cierre: row.closed ?? '',
  motivo: row.reason ?? '',
});
