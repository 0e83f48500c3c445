// The states that projects and tasks may be in.
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import type { Kind } from '../../platform/ids.ts';
import { jsonObject } from '../../platform/json-text.ts';
import { jsonList } from '../shared/pages.ts';
import { idOf, type RowOf, shape, textOf } from '../shared/shape.ts';

/** The states of a table by title: their `schema`, and how they are read. PAG-02 */
export function statesOf(kind: Kind, table: 'project_states' | 'task_states') {
  const state = shape({ estadoId: idOf(kind, 's.id'), titulo: textOf('s.title') });
  return {
    schema: z.object({ estados: z.array(state.schema) }),
    async read(db: Db, accountId: number) {
      const states = sql<RowOf<typeof state>>`select ${state.selected} from ${sql.table(table)} s
        where s.account_id = ${accountId} order by s.title, s.id`;
      const { rows } = await jsonList(db, states, state);
      return jsonObject({ estados: rows });
    },
  };
}
