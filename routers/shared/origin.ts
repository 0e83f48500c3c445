// Who did something, as callers are told: a key, a connection, a person, an import, the schedule or a command. JRN-01
import { sql } from 'kysely';
import { z } from 'zod';

/** Who calls. */
export const ORIGINS = ['clave', 'conexion', 'persona', 'importacion', 'programa', 'comando'] as const;

export const origin = z.object({ tipo: z.enum(ORIGINS), nombre: z.string().nullable() });

/** Which of them a stored row `e` names, in SQL. */
export const originType = sql<(typeof ORIGINS)[number]>`case when e.actor like 'key:%' then 'clave'
  when e.actor like 'token:%' then 'conexion' when e.actor like 'user:%' then 'persona'
  when e.door = 'schedule' then 'programa' when e.operation = 'import' then 'importacion' else 'comando' end`;

/** The columns that say it, of a row `e` joined to `originNames`. */
export const originColumns = sql`${originType} as origin, coalesce(k.name, g.client_name) as origin_name`;

export interface OriginRow {
  origin: (typeof ORIGINS)[number];
  origin_name: string | null;
}

export const originOf = ({ origin: tipo, origin_name: nombre }: OriginRow): z.input<typeof origin> => ({
  tipo,
  nombre,
});

/** The key `k` or connection `g` of a row `e`, to be joined to it. */
export const originNames = (accountId: number) => sql`
    left join api_keys k on k.account_id = ${accountId} and e.actor = 'key:' || k.id
    left join grants g on g.account_id = ${accountId} and e.actor = 'token:' || g.id`;

/** A stored moment with the offset of a time zone. */
export const momentIn = (timeZone: string, stored: string): string =>
  Temporal.Instant.from(stored)
    .toZonedDateTimeISO(timeZone)
    .toString({ timeZoneName: 'never', fractionalSecondDigits: 3 });
