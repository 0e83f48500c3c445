// The period that an answer is about.
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';

interface Range {
  fecha_inicio: string;
  fecha_fin: string;
}

/** `periodo`, of an answer's schema. */
export const period = { periodo: z.object({ desde: z.string(), hasta: z.string() }) };

/** The same of an answer. */
export const periodOf = ({ fecha_inicio, fecha_fin }: Range) => ({
  periodo: { desde: fecha_inicio, hasta: fecha_fin },
});

/** How many days of an absence `a`, or of another day off, are in the period. */
export const daysWithin = ({ fecha_inicio, fecha_fin }: Range): RawBuilder<number> =>
  sql`least(a.end_date, ${fecha_fin}::date) - greatest(a.start_date, ${fecha_inicio}::date) + 1`;
