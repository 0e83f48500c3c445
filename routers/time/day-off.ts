// How days off are shown: absences and days of the company's calendar.
import { plainOf, textOf, wholeOf } from '../shared/shape.ts';

/** A day off `a` of a type `t`. */
export const dayOff = {
  titulo: textOf('a.title'),
  tipo: textOf('a.day_type'),
  tipo_titulo: textOf('t.title as type'),
};

/** The same with its first and last day, and how many of its days are in a period: `daysWithin`, as `days`. */
export const daysOff = {
  ...dayOff,
  fecha_inicio: plainOf('a.start_date'),
  fecha_fin: plainOf('a.end_date'),
  dias_en_periodo: wholeOf('days'),
};
