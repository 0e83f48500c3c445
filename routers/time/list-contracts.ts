import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { person } from '../shared/schemas.ts';

/** Contracts, the current ones unless the whole history is asked for. No amounts. CON-01, CON-02 */
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
  },
  output: z.object({
    total_contratos: z.int(),
    contratos: z.array(
      z.object({
        contratoId: sealedId('contract'),
        empleado: person,
        tipo_contrato: z.object({ tipoContratoId: sealedId('contractType'), titulo: z.string() }),
        departamento: z.object({ departamentoId: sealedId('department'), titulo: z.string() }),
        fecha_alta: z.string(),
        fecha_baja: z.string().nullable(),
        fecha_fin_periodo_pruebas: z.string().nullable(),
        vigente: z.boolean(),
        minimo_horas_dia_laborable: z.number(),
        modo_turno: z.string(),
        turnoId: sealedId('shift'),
        firmado: z.boolean(),
      }),
    ),
  }),
  async handler({ input: { empleadoId, vigentes }, db, accountId, today }) {
    const rows = await db
      .selectFrom('contracts as c')
      .innerJoin('employees as e', (join) =>
        join.onRef('e.account_id', '=', 'c.account_id').onRef('e.id', '=', 'c.employee_id'),
      )
      .innerJoin('contract_types as t', (join) =>
        join.onRef('t.account_id', '=', 'c.account_id').onRef('t.id', '=', 'c.contract_type_id'),
      )
      .leftJoin('departments as d', (join) =>
        join.onRef('d.account_id', '=', 'c.account_id').onRef('d.id', '=', 'c.department_id'),
      )
      .select(['c.id', 'c.employee_id', 'e.first_name', 'e.last_name', 'c.contract_type_id', 't.title as type'])
      .select(['c.department_id', 'd.title as department', 'c.start_date', 'c.end_date', 'c.probation_end_date'])
      .select(['c.minimum_daily_hours', 'c.shift_mode', 'c.shift_id', 'c.signed'])
      .where('c.account_id', '=', accountId)
      .$if(empleadoId !== undefined, (q) => q.where('c.employee_id', '=', empleadoId ?? 0))
      .$if(vigentes, (q) =>
        q.where((eb) => eb.or([eb('c.end_date', 'is', null), eb('c.end_date', '>=', today.toString())])),
      )
      .orderBy('c.start_date', 'desc')
      .orderBy('c.id')
      .execute();
    return {
      total_contratos: rows.length,
      contratos: rows.map((row) => ({
        contratoId: row.id,
        empleado: { empleadoId: row.employee_id, nombre: row.first_name, apellidos: row.last_name },
        tipo_contrato: { tipoContratoId: row.contract_type_id, titulo: row.type },
        departamento: { departamentoId: row.department_id, titulo: row.department ?? '' },
        fecha_alta: row.start_date,
        fecha_baja: row.end_date,
        fecha_fin_periodo_pruebas: row.probation_end_date,
        vigente: row.end_date === null || row.end_date >= today.toString(),
        minimo_horas_dia_laborable: row.minimum_daily_hours,
        modo_turno: row.shift_mode,
        turnoId: row.shift_id,
        firmado: row.signed,
      })),
    };
  },
});
