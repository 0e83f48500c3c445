// Schemas that many operations share. Wire names are the specification's.
import { sql } from 'kysely';
import { z } from 'zod';
import { MAX_SUM } from '../../platform/amounts.ts';
import type { Position } from '../../platform/cursors.ts';
import { badField } from '../../platform/errors.ts';
import { isEmail } from '../../platform/text.ts';

/** `YYYY-MM-DD`, a real calendar date. DATE-01 */
export const isoDate = () =>
  z.iso
    .date({ error: ({ input }) => (input === undefined ? 'es obligatorio' : 'se esperaba una fecha real AAAA-MM-DD') })
    .refine((value) => !value.startsWith('0000'), 'se esperaba un año desde 0001');

/** The same where `""` leaves the record without one. W-01 */
export const isoDateOrNone = () =>
  z.union([z.literal(''), isoDate()], { error: () => 'se esperaba una fecha real AAAA-MM-DD' });

/** `fecha_inicio` and `fecha_fin`, both inclusive and required. The builder refuses a reversed range everywhere. DATE-01 */
export const requiredDates = () => ({
  fecha_inicio: isoDate().describe('Primer día, incluido (AAAA-MM-DD)'),
  fecha_fin: isoDate().describe('Último día, incluido (AAAA-MM-DD)'),
});

/** The same, each optional. */
export const optionalDates = () => ({
  fecha_inicio: isoDate().optional().describe('Primer día, incluido (AAAA-MM-DD)'),
  fecha_fin: isoDate().optional().describe('Último día, incluido (AAAA-MM-DD)'),
});

/** 400 for a range that is too long to show month by month, zeros included. PRP-01 */
export function refuseManyMonths(from: string, to: string): void {
  if (Temporal.PlainDate.compare(to, Temporal.PlainDate.from(from).add({ years: 20 })) > 0) {
    throw badField('fecha_fin', 'el rango máximo por meses es de 20 años');
  }
}

/** `modificado_desde` of a list of records: a day or an instant. */
export const changedSince = () => ({
  modificado_desde: z
    .string()
    .trim()
    .refine(
      (moment) =>
        (isoDate().safeParse(moment).success || isoInstant.safeParse(moment).success) && !moment.startsWith('0000'),
      'se esperaba AAAA-MM-DD, o un instante con zona como 2026-01-31T08:00:00Z',
    )
    .optional()
    .describe('Solo lo creado o cambiado desde este día (AAAA-MM-DD) o instante (2026-01-31T08:00:00Z)'),
});

const isoInstant = z.iso.datetime({ offset: true });

export const PAGE = { size: 100, max: 500 } as const;
export const LONG_PAGE = { size: 200, max: 1000 } as const;
/** Of lists that callers expect whole: as long as an answer's length lets it be, or a 400. FAIR-03 */
export const WHOLE_PAGE = { size: 10_000, max: 10_000 } as const;

/** Where a page begins, and the `cursor` of the one that follows. */
export interface Begin {
  /** Undefined where the page is told by its number. */
  after: Position | undefined;
  next(position: Position): string;
}

/** The `cursor` that a page answered, of the page after it. The builder makes a `Begin` of it, also where none is sent. */
function cursor(): z.ZodDefault<z.ZodType<Begin, string>> {
  const schema = z
    .string()
    .trim()
    .max(20_000)
    .optional()
    .describe('El de la página anterior, en vez de pagina: lo que entra o sale entretanto ni se repite ni se salta');
  // The builder replaces what was parsed before a handler sees it; Zod can't know the company.
  return schema as z.ZodType as z.ZodDefault<z.ZodType<Begin, string>>;
}

/** `pagina`, or `cursor`, and `por_pagina`; above the maximum the maximum is used. PAG-01 */
export const page = ({ size, max }: { size: number; max: number } = PAGE) => ({
  pagina: z.int().min(1).default(1).describe('Página, desde 1'),
  por_pagina: z
    .int()
    .min(1)
    .transform((asked) => Math.min(asked, max))
    .prefault(size)
    .describe(`Registros por página, ${max} como máximo`),
  cursor: cursor(),
});

export type Page = { pagina: number; por_pagina: number; cursor: Begin };

/** Sizes that callers ask for; any other is a parameter of its statement. */
const USUAL_SIZES = new Set([20, 100, 200, 500, 1000, 10_000]);

/** The number itself in the text of a statement. */
const literal = (number: number) => sql<number>`${sql.lit(number)}`;

/**
 * Rows of a page, and rows to skip for it. What callers usually ask for stands in the statement itself: with the numbers as
 * parameters PostgreSQL plans it anew for each call, which takes as long as reading the page. `more`: as many rows beyond it.
 */
export const size = ({ por_pagina }: Page, more = 0) =>
  USUAL_SIZES.has(por_pagina) ? literal(por_pagina + more) : sql<number>`${por_pagina + more}::int`;
/** A page that follows a cursor reads one more row, which tells whether another page follows. */
export const limit = (input: Page) => size(input, input.cursor.after ? 1 : 0);
/** Whether the statement of a page holds none of its numbers as a value. */
export const isUsual = ({ pagina, por_pagina, cursor }: Page) =>
  pagina === 1 && USUAL_SIZES.has(por_pagina) && cursor.after === undefined;
export const offset = ({ pagina, por_pagina }: Page) =>
  pagina === 1 ? literal(0) : Math.min((pagina - 1) * por_pagina, Number.MAX_SAFE_INTEGER);

const COUNTERS = {
  pagina: z.int(),
  por_pagina: z.int(),
  num_paginas: z.int(),
  cursor: z.string().nullable(),
};

/** `total_x`, `pagina`, `por_pagina`, `num_paginas`, `cursor` and the rows, in this order. PAG-02 */
export function paged<Total extends string, Rows extends string, Row extends z.ZodType>(
  total: Total,
  rows: Rows,
  row: Row,
) {
  const totals = { [total]: z.int() } as Record<Total, z.ZodInt>;
  const list = { [rows]: z.array(row) } as Record<Rows, z.ZodArray<Row>>;
  return z.object({ ...totals, ...COUNTERS, ...list });
}

/** A quantity, price or percentage of an input: at most 6 decimals, within ±10^12 or the limit given. */
export const decimalInput = (limit = 1e12) =>
  z
    .number()
    .min(-limit)
    .max(limit)
    .refine((value) => Number(value.toFixed(6)) === value, 'se esperaban como mucho 6 decimales');

/** An amount of money in an input: within what a whole document may add up to. W-08 */
export const amountInput = () => decimalInput(MAX_SUM);

/** The same in cents, as it is paid. */
export const centsInput = () =>
  amountInput().refine((value) => Number(value.toFixed(2)) === value, 'se esperaban como mucho 2 decimales');

/** A percentage of an input, as registers of invoices hold it. */
export const percentInput = () => centsInput().min(0).max(100);

/** Text of an input, trimmed; half characters are replaced, and NUL is refused: PostgreSQL can't hold either. */
export const text = (max = 1000) =>
  z
    .string()
    .trim()
    .overwrite((value) => value.toWellFormed())
    .max(max)
    .refine((value) => !value.includes('\0'), 'contiene un carácter no admitido');

/** An e-mail of an input, trimmed, of any script; `""` is none. W-11 */
export const email = () =>
  z
    .string()
    .trim()
    .refine((value) => value === '' || isEmail(value), 'se esperaba un correo electrónico');
