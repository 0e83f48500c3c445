// Who did something, as callers are told: a key, a connection, a person, an import, the schedule or a command. JRN-01
import { sql } from 'kysely';
import { z } from 'zod';

export const origin = z.object({
  tipo: z.enum(['clave', 'conexion', 'persona', 'importacion', 'programa', 'comando']),
  nombre: z.string().nullable(),
});

/** What is stored of who did it: the caller as the journal names it, and the columns of `originNames`. */
export interface OriginRow {
  actor: string;
  door: string;
  operation: string;
  key_name: string | null;
  application: string | null;
}

/** SQL for the columns that name the caller of a row, and the joins that they are taken from. */
export const originNames = sql`k.name as key_name, g.client_name as application`;
export const originJoins = (accountId: number, row: string) => sql`
  left join api_keys k on k.account_id = ${accountId} and ${sql.ref(`${row}.actor`)} = 'key:' || k.id
  left join grants g on g.account_id = ${accountId} and ${sql.ref(`${row}.actor`)} = 'token:' || g.id`;

/** The kind of caller, and its name where it has one. */
export function originOf({
  actor,
  door,
  operation: command,
  key_name,
  application,
}: OriginRow): z.input<typeof origin> {
  if (actor.startsWith('key:')) return { tipo: 'clave', nombre: key_name };
  if (actor.startsWith('token:')) return { tipo: 'conexion', nombre: application };
  if (actor.startsWith('user:')) return { tipo: 'persona', nombre: null };
  if (door === 'schedule') return { tipo: 'programa', nombre: null };
  return { tipo: command === 'import' ? 'importacion' : 'comando', nombre: null };
}

/** A stored moment with the offset of a time zone. */
export const momentIn = (timeZone: string, stored: string): string =>
  Temporal.Instant.from(stored)
    .toZonedDateTimeISO(timeZone)
    .toString({ timeZoneName: 'never', fractionalSecondDigits: 3 });
