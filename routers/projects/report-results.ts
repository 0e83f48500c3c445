import { sql } from 'kysely';
import { z } from 'zod';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import { refuseManyMonths, requiredDates } from '../shared/schemas.ts';
import { companyEconomics, type EconomicsRow, economics, economicsOf } from './economics.ts';

interface Row extends EconomicsRow {
  whole: number;
  month: string;
  project_id: number | null;
  number: string | null;
  description: string | null;
}

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
  planned: 'anew',
  input: { ...requiredDates(), agrupar: z.enum(['mes', 'proyecto']).optional().describe('Desglose') },
  output: z.object({
    fecha_inicio: z.string(),
    fecha_fin: z.string(),
    economico: economics,
    agrupacion: z
      .discriminatedUnion('por', [
        z.object({ por: z.literal('mes'), grupos: z.array(z.object({ mes: z.string(), economico: economics })) }),
        z.object({
          por: z.literal('proyecto'),
          grupos: z.array(
            z.object({
              proyectoId: sealedId('project').nullable(),
              numero: z.string(),
              descripcion: z.string(),
              economico: economics,
            }),
          ),
        }),
      ])
      .optional(),
  }),
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { fecha_inicio: from, fecha_fin: to, agrupar } = input;
    if (agrupar === 'mes') refuseManyMonths(from, to);
    const range = { accountId, timeZone, from, to };
    const statements = {
      none: sql<Row>`select e.* from ${companyEconomics(range)} e`,
      mes: sql<Row>`select e.* from ${companyEconomics(range, 'month')} e order by e.whole desc, e.month`,
      proyecto: sql<Row>`select e.*, p.number, p.description from ${companyEconomics(range, 'project')} e
        left join projects p on p.account_id = ${accountId} and p.id = e.project_id
        order by e.whole desc, p.number desc nulls last, p.id desc`,
    };
    const { rows } = await statements[agrupar ?? 'none'].execute(db);
    const [whole, ...groups] = rows;
    if (!whole) throw new Error('The whole has no row');
    return {
      fecha_inicio: from,
      fecha_fin: to,
      economico: economicsOf(whole),
      ...(agrupar && { agrupacion: shown(agrupar, groups) }),
    };
  },
});

function shown(por: 'mes' | 'proyecto', groups: Row[]) {
  if (por === 'mes') return { por, grupos: groups.map((row) => ({ mes: row.month, economico: economicsOf(row) })) };
  return {
    por,
    grupos: groups.map((row) => ({
      proyectoId: row.project_id,
      numero: row.number ?? '',
      descripcion: row.description ?? 'Sin proyecto',
      economico: economicsOf(row),
    })),
  };
}
