// How an opportunity is read and shown, alone and in the list.
import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { notFound } from '../../platform/errors.ts';
import { party } from '../shared/documents/sale-document.ts';
import { jsonRecord } from '../shared/pages.ts';
import { decimalOf, enumOf, idOf, objectOf, plainOf, shape, textOf } from '../shared/shape.ts';
import { contact } from './contact.ts';
import { channel, funnel, stage } from './funnel.ts';

/** `resultado` on the wire and the state that is stored. */
export const STATES = { abierta: 'open', ganado: 'won', perdido: 'lost' } as const;

const properties = {
  oportunidadId: idOf('opportunity', 'o.id'),
  titulo: textOf('o.title'),
  funnel,
  etapa: stage,
  canal: channel,
  contacto: contact,
  resultado: enumOf('o.state', STATES),
  valor_cierre: decimalOf('o.closing_value').orNull(),
  fecha_creacion: plainOf('opened'),
  fecha_cierre: plainOf('closed'),
  motivo: textOf('r.title as reason'),
};

/** `valor_cierre` without VAT; moments in the company's local time, `fecha_cierre` "" while open. */
export const opportunity = shape(properties);

const billed = shape(party);

/** An opportunity by itself, with the client that it is billed to, or null, and what was said of its loss. */
export const wholeOpportunity = shape({
  oportunidad: { ...properties, cliente: objectOf(billed, 'client').orNull(), comentarios: textOf('o.comments') },
});

/** The company's opportunities, to be narrowed down before `withDetails`. */
export const opportunitiesOf = (db: Db, accountId: number) =>
  db.selectFrom('opportunities as o').where('o.account_id', '=', accountId);

/** The rows of these opportunities as `opportunity` shows them. */
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
    .select(opportunity.columns)
    .select([local('opened_at').as('opened'), local('closed_at').as('closed')]);
}

/** The opportunity `oportunidadId`; 404 without one. */
export async function readOpportunity(db: Db, accountId: number, oportunidadId: number, timeZone: string) {
  const client = sql<string | null>`(select ${billed.json()} from (
    select id as client_id, legal_name, tax_id, email from clients where account_id = ${accountId} and id = o.client_id) r)`;
  const selected = opportunitiesOf(db, accountId).where('o.id', '=', oportunidadId);
  const rows = withDetails(selected, timeZone).select(['o.comments', client.as('client')]);
  const found = await jsonRecord(db, rows, wholeOpportunity);
  if (!found) throw notFound('oportunidadId');
  return found;
}
