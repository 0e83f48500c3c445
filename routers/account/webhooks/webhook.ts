// Webhooks: how they are shown and written, and what is sent to them. Operations and the page of integrations share this.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import { type Author, noteWrite } from '../../../platform/audit.ts';
import type { Service } from '../../../platform/context.ts';
import type { CredentialCheck, Db } from '../../../platform/database.ts';
import { ApiError, badField, notFound } from '../../../platform/errors.ts';
import { beginJournal } from '../../../platform/journal.ts';
import { type JsonText, jsonObject, listOfTexts } from '../../../platform/json-text.ts';
import { type Attempt, BOTH_SIGN_HOURS, type Receiver, type Webhooks } from '../../../platform/webhooks.ts';
import { updateRecord } from '../../shared/changes.ts';
import { sealedId } from '../../shared/id.ts';
import { momentIn } from '../../shared/origin.ts';
import { text } from '../../shared/schemas.ts';
import { type Change, journalHead, refuseUnknownPlace, types } from '../changes.ts';

/** How many a company may have. */
const MOST_WEBHOOKS = 20;

/** What is written of a webhook. */
export const webhookFields = {
  url: text(2000).describe('https://'),
  tipos: types().optional().describe('Solo estas colecciones; todas si falta'),
  descripcion: text(200).optional(),
  desde: z.int().min(0).optional().describe('Envía los cambios posteriores a este número'),
};
type Fields = z.output<z.ZodObject<typeof webhookFields>>;

export const webhook = z.object({
  webhookId: sealedId('webhook'),
  url: z.string(),
  tipos: z.array(z.string()).describe('Ninguno: todos'),
  descripcion: z.string(),
  activo: z.boolean(),
  entregado_hasta: z.int().describe('Número del último cambio entregado'),
  fallos_seguidos: z.int(),
  proximo_intento: z.string().nullable(),
});

/** A webhook as it is stored. */
export interface Stored {
  id: number;
  url: string;
  types: string[] | null;
  description: string | null;
  active: boolean;
  delivered_up_to: number;
  failures: number;
  next_attempt_at: string | null;
}

/** The company's webhooks, or this one of them, the oldest first. */
export const storedWebhooks = (db: Db, accountId: number, id?: number): Promise<Stored[]> =>
  db
    .selectFrom('webhooks')
    .select(['id', 'url', 'types', 'description', 'active', 'delivered_up_to', 'failures', 'next_attempt_at'])
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? 0))
    .orderBy('id')
    .execute();

export const shownWebhook = (stored: Stored, timeZone: string): z.input<typeof webhook> => ({
  webhookId: stored.id,
  url: stored.url,
  tipos: stored.types ?? [],
  descripcion: stored.description ?? '',
  activo: stored.active,
  entregado_hasta: stored.delivered_up_to,
  fallos_seguidos: stored.failures,
  proximo_intento: stored.next_attempt_at && momentIn(timeZone, stored.next_attempt_at),
});

/** What writes of webhooks need of their call. */
export interface WebhookCall {
  db: Db;
  accountId: number;
  now: Temporal.Instant;
  author: Author;
  webhooks: Webhooks;
}

/** Creates a webhook; 400 for an address that it may not have, and for one too many. The secret is known only now. */
export async function makeWebhook(
  { db, accountId, now, author, webhooks }: WebhookCall,
  operation: string,
  { url, tipos = [], descripcion = '', desde }: Fields,
): Promise<{ id: number; secret: string }> {
  refuseAddress(webhooks, 'url', url);
  // Whoever creates another waits here, so that they are counted one by one.
  await beginJournal(db, accountId);
  await sql`select 1 from journals where account_id = ${accountId} for update`.execute(db);
  const [head, there] = await Promise.all([journalHead(db, accountId), storedWebhooks(db, accountId)]);
  if (there.length >= MOST_WEBHOOKS) throw new ApiError('badInput', `Ya hay ${MOST_WEBHOOKS} webhooks, el máximo`);
  if (desde !== undefined) refuseUnknownPlace(desde, head);
  const { secret, sealed } = webhooks.newSecret(accountId);
  const { id } = await db
    .insertInto('webhooks')
    .values({
      account_id: accountId,
      url,
      types: tipos.length > 0 ? tipos : null,
      description: descripcion || null,
      secret: sealed,
      delivered_up_to: desde ?? head.last,
      created_at: now.toString(),
      updated_at: now.toString(),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await noteWrite(db, accountId, author, { operation, kind: 'webhook', id });
  return { id, secret };
}

/** Changes what is sent of a webhook. Whatever changes where or what it is sent, it is sent at once. */
export async function changeWebhook(
  { db, accountId, now, author, webhooks }: WebhookCall,
  operation: string,
  id: number,
  { url, tipos, descripcion, activo, desde }: Partial<Fields> & { activo?: boolean | undefined },
): Promise<Stored> {
  if (url !== undefined) refuseAddress(webhooks, 'datos.url', url);
  await lockWebhook(db, accountId, id);
  if (desde !== undefined) refuseUnknownPlace(desde, await journalHead(db, accountId), 'datos.desde');
  const again = desde !== undefined || tipos !== undefined;
  const changes = await updateRecord(
    db,
    'webhooks',
    { accountId, id, now },
    {
      url,
      types: tipos && (tipos.length > 0 ? tipos : null),
      description: descripcion === '' ? null : descripcion,
      active: activo,
      delivered_up_to: desde,
      ...(again && { batch_end: null, lease: null, leased_until: null }),
      ...((again || url !== undefined || activo !== undefined) && { failures: 0, next_attempt_at: null }),
    },
  );
  const [stored] = await storedWebhooks(db, accountId, id);
  if (!stored) throw notFound('webhookId');
  if (changes) await noteWrite(db, accountId, author, { operation, kind: 'webhook', id });
  return stored;
}

/** Deletes a webhook with its secrets. It stays without them for as long as its deliveries do. */
export async function removeWebhook(
  { db, accountId, now, author }: Omit<WebhookCall, 'webhooks'>,
  operation: string,
  id: number,
): Promise<void> {
  const { numAffectedRows } = await sql`
    update webhooks set active = false, secret = '', earlier_secret = null, lease = null, leased_until = null,
      next_attempt_at = null, deleted_at = ${now.toString()}, version = version + 1, updated_at = ${now.toString()}
    where account_id = ${accountId} and id = ${id} and deleted_at is null`.execute(db);
  if (numAffectedRows === 1n) await noteWrite(db, accountId, author, { operation, kind: 'webhook', id });
}

/** Gives a webhook another secret; for a day the earlier one signs too. */
export async function rotateSecret(
  { db, accountId, now, author, webhooks }: WebhookCall,
  operation: string,
  id: number,
): Promise<string> {
  await lockWebhook(db, accountId, id);
  const { secret, sealed } = webhooks.newSecret(accountId);
  await sql`
    update webhooks set earlier_secret = secret, earlier_secret_until = ${now.add({ hours: BOTH_SIGN_HOURS }).toString()},
      secret = ${sealed}, version = version + 1, updated_at = ${now.toString()}
    where account_id = ${accountId} and id = ${id}`.execute(db);
  await noteWrite(db, accountId, author, { operation, kind: 'webhook', id });
  return secret;
}

/** A webhook stays as it is for the rest of the transaction; 404 without one. */
async function lockWebhook(db: Db, accountId: number, id: number): Promise<void> {
  const { rows } = await sql`
    select id from webhooks where account_id = ${accountId} and id = ${id} and deleted_at is null for update`.execute(
    db,
  );
  if (rows.length === 0) throw notFound('webhookId');
}

function refuseAddress(webhooks: Webhooks, campo: string, url: string): void {
  const refusal = webhooks.refusal(url);
  if (refusal) throw badField(campo, refusal);
}

/** The body of a delivery. */
export const bodyOf = (epoch: string, timestamp: string, changes: readonly JsonText<Change>[]): string =>
  jsonObject({
    type: 'cambios',
    timestamp,
    data: jsonObject({ epoca: epoch, cambios: listOfTexts(changes) }),
  }).text;

/** Sends a webhook one delivery without changes, also to one that is off; undefined without one. No connection is held meanwhile. */
export async function testWebhook(
  { database, webhooks, clock }: Pick<Service, 'database' | 'webhooks' | 'clock'>,
  { accountId, timeZone, credential }: { accountId: number; timeZone: string; credential?: CredentialCheck },
  id: number,
): Promise<Attempt | undefined> {
  const { rows, epoch } = await database.transaction(accountId, { credential }, async (db) => {
    const [{ epoch }, { rows }] = await Promise.all([
      journalHead(db, accountId),
      sql<Receiver>`
        select url, secret, earlier_secret, earlier_secret_until from webhooks
        where account_id = ${accountId} and id = ${id} and deleted_at is null`.execute(db),
    ]);
    return { rows, epoch };
  });
  const [receiver] = rows;
  const body = bodyOf(epoch, momentIn(timeZone, clock.now().toString()), []);
  return receiver && webhooks.send(accountId, receiver, `prueba-${randomUUID()}`, body);
}
