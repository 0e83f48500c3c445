import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { id, sealedId } from '../shared/id.ts';
import { person, requiredDates, text } from '../shared/schemas.ts';

/** Absences that overlap the range; their days are those inside it. AUS-01 */
export const listAbsences = operation({
  title: 'Ausencias',
  description:
    'Ausencias de la plantilla que tocan un periodo (vacaciones, bajas, permisos). Sin las rechazadas salvo incluir_rechazadas. empleadoId: de consultar_empleados.',
  rest: ['GET /time-off'],
  alias: 'consultarAusencias',
  scope: 'svc.read',
  input: {
    ...requiredDates(),
    empleadoId: id('employee').optional().describe('Solo las de esta persona'),
    tipo: text(100).optional().describe('Código del tipo, como en la respuesta'),
    incluir_rechazadas: z.boolean().optional().describe('true: también las rechazadas'),
  },
  output: z.object({
    periodo: z.object({ desde: z.string(), hasta: z.string() }),
    total_ausencias: z.int(),
    ausencias: z.array(
      z.object({
        ausenciaId: sealedId('absence'),
        empleado: person,
        titulo: z.string(),
        tipo: z.string(),
        tipo_titulo: z.string(),
        fecha_inicio: z.string(),
        fecha_fin: z.string(),
        dias_en_periodo: z.int(),
        porcentaje_imputable: z.number(),
        autorizada: z.boolean(),
        rechazada: z.boolean(),
      }),
    ),
  }),
  async handler({ input, db, accountId }) {
    const { fecha_inicio: from, fecha_fin: to, empleadoId, tipo, incluir_rechazadas } = input;
    const rows = await db
      .selectFrom('absences as a')
      .innerJoin('employees as e', (join) =>
        join.onRef('e.account_id', '=', 'a.account_id').onRef('e.id', '=', 'a.employee_id'),
      )
      .innerJoin('day_types as t', (join) =>
        join.onRef('t.account_id', '=', 'a.account_id').onRef('t.code', '=', 'a.day_type'),
      )
      .select(['a.id', 'a.employee_id', 'e.first_name', 'e.last_name', 'a.title', 'a.day_type', 't.title as type'])
      .select(['a.start_date', 'a.end_date', 'a.chargeable_percent', 'a.authorised', 'a.rejected'])
      .select(sql<number>`least(a.end_date, ${to}::date) - greatest(a.start_date, ${from}::date) + 1`.as('days'))
      .where('a.account_id', '=', accountId)
      .where('a.start_date', '<=', to)
      .where('a.end_date', '>=', from)
      .$if(empleadoId !== undefined, (q) => q.where('a.employee_id', '=', empleadoId ?? 0))
      .$if(Boolean(tipo), (q) => q.where('a.day_type', '=', tipo ?? ''))
      .$if(incluir_rechazadas !== true, (q) => q.where('a.rejected', '=', false))
      .orderBy('a.start_date')
      .orderBy('a.id')
      .execute();
    return {
      periodo: { desde: from, hasta: to },
      total_ausencias: rows.length,
      ausencias: rows.map((row) => ({
        ausenciaId: row.id,
        empleado: { empleadoId: row.employee_id, nombre: row.first_name, apellidos: row.last_name },
        titulo: row.title,
        tipo: row.day_type,
        tipo_titulo: row.type,
        fecha_inicio: row.start_date,
        fecha_fin: row.end_date,
        dias_en_periodo: row.days,
        porcentaje_imputable: row.chargeable_percent,
        autorizada: row.authorised,
        rechazada: row.rejected,
      })),
    };
  },
});
