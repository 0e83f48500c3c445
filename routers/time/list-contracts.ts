import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { id } from '../shared/id.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { personOf } from '../shared/person.ts';
import { changedSince, page, WHOLE_PAGE } from '../shared/schemas.ts';
import { flagOf, plainOf, shape } from '../shared/shape.ts';
import { contractDates, contractId, contractTerms, contractType } from './contract.ts';
import { departmentOf } from './employee.ts';

const contracts = listOf(
  'total_contratos',
  'contratos',
  shape({
    ...contractId,
    empleado: personOf('c.employee_id'),
    ...contractType,
    departamento: departmentOf('c.department_id'),
    ...contractDates,
    fecha_fin_periodo_pruebas: plainOf('c.probation_end_date').orNull(),
    vigente: flagOf('current'),
    ...contractTerms,
  }),
  orderOf('c', 'start_date desc', 'id'),
);

/** Contracts by start, the latest first; the current ones unless the whole history is asked for. No amounts. CON-01, CON-02, PAG-02 */
export const listContracts = operation({
  title: 'Contratos',
  description:
    'Contratos laborales (sin importes). Solo los vigentes salvo vigentes=false. empleadoId: de consultar_empleados.',
  rest: ['GET /employees/contracts', 'GET /employees/{empleadoId}/contract'],
  alias: 'consultarContratos',
  scope: 'svc.read',
  input: {
    empleadoId: id('employee').optional().describe('Solo los de esta persona'),
    vigentes: z.boolean().default(true).describe('false: todo el historial'),
    ...changedSince(),
    ...page(WHOLE_PAGE),
  },
  output: contracts.schema,
  async handler({ input, db, accountId, today, principal: { timeZone } }) {
    const { empleadoId, vigentes } = input;
    const selected = db
      .selectFrom('contracts as c')
      .where('c.account_id', '=', accountId)
      .$call(when(changedIn('c', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(empleadoId, (q, employee) => q.where('c.employee_id', '=', employee)))
      .$if(vigentes, (q) =>
        q.where((eb) => eb.or([eb('c.end_date', 'is', null), eb('c.end_date', '>=', today.toString())])),
      );
    return contracts.read(db, input, {
      selected,
      rows: selected
        .innerJoin('employees as e', (join) =>
          join.onRef('e.account_id', '=', 'c.account_id').onRef('e.id', '=', 'c.employee_id'),
        )
        .innerJoin('contract_types as t', (join) =>
          join.onRef('t.account_id', '=', 'c.account_id').onRef('t.id', '=', 'c.contract_type_id'),
        )
        .leftJoin('departments as d', (join) =>
          join.onRef('d.account_id', '=', 'c.account_id').onRef('d.id', '=', 'c.department_id'),
        )
        .select(contracts.columns)
        .select(sql<boolean>`coalesce(c.end_date >= ${today.toString()}::date, true)`.as('current')),
    });
  },
});
