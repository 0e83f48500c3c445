import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { jsonRecord } from '../shared/pages.ts';
import { objectOf, shape } from '../shared/shape.ts';
import { contractDates, contractId, contractTerms, contractType } from './contract.ts';
import { employee } from './employee.ts';

const contract = shape({ ...contractId, ...contractType, ...contractDates, ...contractTerms });
const shown = shape({ empleado: { ...employee, contrato_vigente: objectOf(contract, 'contract').orNull() } });

/** A person with the current contract, or null. No payroll amounts. EMP-01, EMP-02, CON-02 */
export const getEmployee = operation({
  title: 'Empleado',
  description: 'Una persona de la plantilla con su contrato vigente. empleadoId: de consultar_empleados.',
  rest: ['GET /employees/{empleadoId}'],
  alias: 'obtenerEmpleado',
  scope: 'svc.read',
  input: { empleadoId: id('employee').describe('La persona') },
  output: shown.schema,
  async handler({ input: { empleadoId }, db, accountId, today }) {
    const day = today.toString();
    const selected = db
      .selectFrom('employees as e')
      .leftJoin('departments as d', (join) =>
        join.onRef('d.account_id', '=', 'e.account_id').onRef('d.id', '=', 'e.department_id'),
      )
      .select(shown.columns)
      .select((eb) => {
        const current = eb
          .selectFrom('contracts as c')
          .innerJoin('contract_types as t', (join) =>
            join.onRef('t.account_id', '=', 'c.account_id').onRef('t.id', '=', 'c.contract_type_id'),
          )
          .select(contract.columns)
          .where('c.account_id', '=', accountId)
          .where('c.employee_id', '=', empleadoId)
          .where('c.start_date', '<=', day)
          .where(({ or, eb }) => or([eb('c.end_date', 'is', null), eb('c.end_date', '>', day)]))
          .orderBy('c.start_date', 'desc')
          .orderBy('c.id', 'desc')
          .limit(1);
        return eb.selectFrom(current.as('r')).select(contract.json().as('text')).as('contract');
      })
      .where('e.account_id', '=', accountId)
      .where('e.id', '=', empleadoId);
    const found = await jsonRecord(db, selected, shown);
    if (!found) throw notFound('empleadoId');
    return found;
  },
});
