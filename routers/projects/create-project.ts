import { sql } from 'kysely';
import { searchable } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { nextNumber } from '../shared/documents/document-number.ts';
import { sealedId } from '../shared/id.ts';
import { projectFields } from './project.ts';

/** Creates a project, with the next number of the year. Budgets without VAT. DLV-02 */
export const createProject = operation({
  title: 'Crear proyecto',
  description: 'Crea un proyecto, con el número siguiente del año.',
  rest: ['POST /projects'],
  alias: 'crearProyecto',
  scope: 'svc.write',
  input: { datos: projectFields },
  output: sealedId('project').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input: { datos }, db, accountId, today, newId, beforeCommit, journal }) {
    const id = await newId('project');
    const { descripcion, clienteId, estadoId, presupuesto_coste, presupuesto_venta } = datos;
    // `search` is as `derivedOf` makes it. Counters, counts and totals are locked in the order of imports.
    const { taken, numbered } = nextNumber(db, accountId, 'project', today);
    beforeCommit(taken);
    beforeCommit(
      sql`insert into projects (account_id, id, number, description, client_id, state_id, budgeted_cost, budgeted_sales, search)
        select ${accountId}, ${id}, number, ${descripcion}, ${clienteId ?? null}::bigint, ${estadoId ?? null}::bigint,
          ${presupuesto_coste ?? 0}, ${presupuesto_venta ?? 0}, concat(${searchable(descripcion)}::text, e'\n', number)
        from ${numbered}
        returning id`.execute(db),
    );
    beforeCommit(
      sql`insert into record_counts as c (account_id, projects) values (${accountId}, 1)
        on conflict (account_id) do update
          set projects = c.projects + 1, version = c.version + 1, updated_at = excluded.updated_at`.execute(db),
    );
    beforeCommit(db.insertInto('project_totals').values({ account_id: accountId, project_id: id }).execute());
    journal('create', 'project', id);
    return id;
  },
});
