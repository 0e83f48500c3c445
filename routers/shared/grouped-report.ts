// What a report of a range says, in groups where the caller asks for them.
import type { z } from 'zod';
import { always, arrayOf, type Shown, shape } from './shape.ts';

/** `agrupacion` where it is this one: its groups, of which the query writes the text as `groups`. */
export const groupedBy = <const By extends string, Schema extends z.ZodType>(by: By, group: Shown<Schema, object>) =>
  shape({ por: always(by), grupos: arrayOf(group, 'groups') });
