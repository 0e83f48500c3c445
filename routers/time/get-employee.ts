import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';

const currentContract = z.object({
  contratoId: sealedId('contract'),
  tipo_contrato: z.object({ tipoContratoId: sealedId('contractType'), titulo: z.string() }),
  fecha_alta: z.string(),
  fecha_baja: z.string().nullable(),
  minimo_horas_dia_laborable: z.number(),
  modo_turno: z.string(),
  turnoId: sealedId('shift'),
  firmado: z.boolean(),
});

/** A person with the current contract, or null. No payroll amounts. EMP-01, EMP-02, CON-02 */
export const getEmployee = operation({
  title: 'Empleado',
  description: 'Una persona de la plantilla con su contrato vigente. empleadoId: de consultar_empleados.',
  rest: ['GET /employees/{empleadoId}'],
  alias: 'obtenerEmpleado',
  scope: 'svc.read',
  input: { empleadoId: id('employee').describe('La persona') },
  output: z.object({
    empleado: z.object({
      empleadoId: sealedId('employee'),
      nombre: z.string(),
      apellidos: z.string(),
      email: z.string(),
      activo: z.boolean(),
      departamento: z.object({ departamentoId: sealedId('department'), titulo: z.string() }),
      contrato_vigente: currentContract.nullable(),
    }),
  }),
  async handler({ input: { empleadoId }, db, accountId, today }) {
    const [employee, contract] = await Promise.all([
      db
        .selectFrom('employees as e')
        .leftJoin('departments as d', (join) =>
          join.onRef('d.account_id', '=', 'e.account_id').onRef('d.id', '=', 'e.department_id'),
        )
        .select(['e.id', 'e.first_name', 'e.last_name', 'e.email', 'e.active', 'e.department_id', 'd.title'])
        .where('e.account_id', '=', accountId)
        .where('e.id', '=', empleadoId)
        .executeTakeFirst(),
      db
        .selectFrom('contracts as c')
        .innerJoin('contract_types as t', (join) =>
          join.onRef('t.account_id', '=', 'c.account_id').onRef('t.id', '=', 'c.contract_type_id'),
        )
        .select(['c.id', 'c.contract_type_id', 't.title', 'c.start_date', 'c.end_date', 'c.minimum_daily_hours'])
        .select(['c.shift_mode', 'c.shift_id', 'c.signed'])
        .where('c.account_id', '=', accountId)
        .where('c.employee_id', '=', empleadoId)
        .where('c.start_date', '<=', today.toString())
        .where((eb) => eb.or([eb('c.end_date', 'is', null), eb('c.end_date', '>', today.toString())]))
        .orderBy('c.start_date', 'desc')
        .orderBy('c.id', 'desc')
        .limit(1)
        .executeTakeFirst(),
    ]);
    if (!employee) throw notFound('empleadoId');
    return {
      empleado: {
        empleadoId: employee.id,
        nombre: employee.first_name,
        apellidos: employee.last_name,
        email: employee.email ?? '',
        activo: employee.active,
        departamento: { departamentoId: employee.department_id, titulo: employee.title ?? '' },
        contrato_vigente: contract
          ? {
              contratoId: contract.id,
              tipo_contrato: { tipoContratoId: contract.contract_type_id, titulo: contract.title },
              fecha_alta: contract.start_date,
              fecha_baja: contract.end_date,
              minimo_horas_dia_laborable: contract.minimum_daily_hours,
              modo_turno: contract.shift_mode,
              turnoId: contract.shift_id,
              firmado: contract.signed,
            }
          : null,
      },
    };
  },
});
