// What is said of tasks in more than one place.
import { sql } from 'kysely';

/** Of a task `t`: not finished, and planned to end before today. TSK-01 */
export const overdue = (today: Temporal.PlainDate) =>
  sql<boolean>`coalesce(t.progress < 100 and t.planned_end_date < ${today.toString()}::date, false)`;
