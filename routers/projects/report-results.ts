import { sql } from 'kysely';
import { z } from 'zod';
import { JsonText, jsonObject } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { refuseManyMonths, requiredDates } from '../shared/schemas.ts';
import { idOf, shape, textOf } from '../shared/shape.ts';
import { companyEconomics, economics } from './economics.ts';

const byMonth = shape({ mes: textOf('e.month'), economico: economics });

const byProject = shape({
  proyectoId: idOf('project', 'e.project_id').orNull(),
  numero: textOf('p.number'),
  descripcion: textOf('description'),
  economico: economics,
});

const grouping = z.discriminatedUnion('por', [
  z.object({ por: z.literal('mes'), grupos: z.array(byMonth.schema) }),
  z.object({ por: z.literal('proyecto'), grupos: z.array(byProject.schema) }),
]);

/**
 * The economics of the whole company in a range: every document and closed entry, with or without a project. By project:
 * those with a line or an entry that counts, by number, highest first, and last what has no project. Amounts without VAT;
 * decimal hours. PRJ-01, PRJ-02
 */
export const reportResults = operation({
  title: 'Informe de resultados',
  description:
    'Ventas, compras, costes, resultado, margen y horas de toda la empresa en un periodo, si se quiere por mes o proyecto.',
  rest: ['GET /reports/results'],
  alias: 'consultarResultados',
  scope: 'svc.read',
  report: true,
  plan: 'custom',
  input: { ...requiredDates(), agrupar: z.enum(['mes', 'proyecto']).optional().describe('Desglose') },
  output: z.object({
    fecha_inicio: z.string(),
    fecha_fin: z.string(),
    economico: economics.schema,
    agrupacion: grouping.optional(),
  }),
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { fecha_inicio: from, fecha_fin: to, agrupar } = input;
    if (agrupar === 'mes') refuseManyMonths(from, to);
    const range = { accountId, timeZone, from, to };
    const statements = {
      none: { group: economics, rows: sql`select * from ${companyEconomics(range)} e` },
      mes: {
        group: byMonth,
        rows: sql`select * from ${companyEconomics(range, 'month')} e order by e.whole desc, e.month`,
      },
      proyecto: {
        group: byProject,
        rows: sql`select e.*, p.number, coalesce(p.description, 'Sin proyecto') as description
          from ${companyEconomics(range, 'project')} e
          left join projects p on p.account_id = ${accountId} and p.id = e.project_id
          order by e.whole desc, p.number desc nulls last, p.id desc`,
      },
    };
    const { group, rows } = statements[agrupar ?? 'none'];
    const found = await sql<{ economics: string; shown: string }>`
      select ${economics.json()} as economics, ${group.json()} as shown from (${rows}) as r`.execute(db);
    const [whole, ...groups] = found.rows;
    if (!whole) throw new Error('The whole has no row');
    const grupos = new JsonText(`[${groups.map(({ shown }) => shown).join(',')}]`);
    const grouped = agrupar && new JsonText<z.input<typeof grouping>>(jsonObject({ por: agrupar, grupos }).text);
    return jsonObject({
      fecha_inicio: from,
      fecha_fin: to,
      economico: new JsonText<z.input<typeof economics.schema>>(whole.economics),
      ...(grouped && { agrupacion: grouped }),
    });
  },
});
