// What the API answers of a company's sales, purchases and hours is what the books say.
import { expect } from 'vitest';
import type { Company } from '../../helpers/world.ts';
import { type Books, economicsOf, type Line, monthsOf, part, totalsOf } from './plain-books.ts';

/** The data of an answer that has to be 200. */
export async function answered(company: Company, path: string, query: object = {}) {
  const { status, body } = await company.get(path, { ...query });
  expect([status, body.errorMsg], path).toEqual([200, '']);
  return body.data;
}

/** The report of sales in all its groupings equals the books. */
export async function expectSalesAsBooks(company: Company, books: Books, from: string, to: string) {
  const { sales, of } = part(books, from, to);
  const { total: total_ventas, num_documentos } = totalsOf(sales);
  const dates = { fecha_inicio: from, fecha_fin: to };
  expect(await answered(company, '/reports/sales', dates)).toEqual({ ...dates, total_ventas, num_documentos });
  const groups = async (agrupar: string) => {
    const { agrupacion, ...whole } = await answered(company, '/reports/sales', { ...dates, agrupar });
    expect(whole).toEqual({ ...dates, total_ventas, num_documentos });
    expect(agrupacion.por).toBe(agrupar);
    return agrupacion.grupos;
  };
  expect(await groups('mes')).toEqual(
    monthsOf(from, to).map((mes) => ({ mes, ...totalsOf(sales.filter(({ day }) => day.startsWith(mes))) })),
  );
  const family = ({ article }: Line) => of('articulos', article)?.familia;
  const rankings: [string, string, (line: Line) => [key: unknown, title: unknown]][] = [
    ['cliente', 'nombre_fiscal', ({ client }) => [client, of('clientes', client)?.nombre_fiscal]],
    ['familia', 'titulo', (line) => [family(line) ?? null, of('familias', family(line))?.titulo ?? 'Sin clasificar']],
    ['articulo', 'descripcion', ({ article }) => [article, of('articulos', article)?.descripcion ?? 'Sin artículo']],
  ];
  for (const [agrupar, name, keyOf] of rankings) {
    const expected = [...Map.groupBy(sales, (each) => keyOf(each)[0]).values()]
      .map((lines) => ({ title: lines[0] && keyOf(lines[0])[1], ...totalsOf(lines) }))
      .sort((a, b) => b.total - a.total);
    const found: { title: unknown; total: number; num_documentos: number }[] = (await groups(agrupar)).map(
      ({ total, num_documentos: documents, [name]: title }: Record<string, number>) => ({
        title,
        total,
        num_documentos: documents,
      }),
    );
    expect(found.map(({ total }) => total)).toEqual(expected.slice(0, 25).map(({ total }) => total));
    // Any of those that tie with the last one shown may be shown.
    const last = expected.length > 25 ? (expected[24]?.total ?? 0) : Number.NEGATIVE_INFINITY;
    const sure = (list: typeof found) => list.filter(({ total }) => total > last).map((group) => JSON.stringify(group));
    expect(sure(found).sort()).toEqual(sure(expected).sort());
  }
}

/** The report in all its groupings equals the books. */
export async function expectResultsAsBooks(company: Company, books: Books, from: string, to: string) {
  const dates = { fecha_inicio: from, fecha_fin: to };
  const within = part(books, from, to);
  const expected = { ...dates, economico: economicsOf(within) };
  expect(await answered(company, '/reports/results', dates)).toEqual(expected);
  expect(await answered(company, '/reports/results', { ...dates, agrupar: 'mes' })).toEqual({
    ...expected,
    agrupacion: {
      por: 'mes',
      grupos: monthsOf(from, to).map((mes) => ({
        mes,
        economico: economicsOf(part(within, from, to, ({ day }) => day.startsWith(mes))),
      })),
    },
  });
  const { agrupacion, ...whole } = await answered(company, '/reports/results', { ...dates, agrupar: 'proyecto' });
  expect(whole).toEqual(expected);
  const projects = new Set([...within.sales, ...within.purchases, ...within.shifts].map(({ project }) => project));
  const groups = [...projects].map((ref) => ({
    numero: books.of('proyectos', ref)?.numero ?? '',
    descripcion: books.of('proyectos', ref)?.descripcion ?? 'Sin proyecto',
    economico: economicsOf(part(within, from, to, ({ project }) => project === ref)),
  }));
  const found = agrupacion.grupos.map(({ proyectoId, ...group }: { proyectoId: unknown }) => group);
  const sorted = (list: unknown[]) => list.map((group) => JSON.stringify(group)).sort();
  expect(sorted(found)).toEqual(sorted(groups));
}

/** The breakdown of each project adds up to its economics, exactly, and its pages are the whole. */
export async function expectBreakdownsToAddUp(company: Company, dates: object) {
  for (const { proyectoId, economico } of (await answered(company, '/projects', dates)).proyectos) {
    const lines = (page: object) => answered(company, `/projects/${proyectoId}/breakdown`, { ...dates, ...page });
    const { totales, desglose, total_lineas } = await lines({ por_pagina: 1000 });
    expect(economico).toMatchObject(totales);
    expect(desglose).toHaveLength(total_lineas);
    const millionths = Map.groupBy<string, { concepto: string; importe: number }>(desglose, ({ concepto }) => concepto);
    for (const [concepto, figure] of Object.entries<number>(totales)) {
      const sum = (millionths.get(concepto) ?? []).reduce((all, { importe }) => all + Math.round(importe * 1e6), 0);
      expect((Math.round(Math.abs(sum) / 1e4) * Math.sign(sum)) / 100, concepto).toBeCloseTo(figure, 9);
    }
    const pages = [];
    for (let pagina = 1; pagina <= Math.ceil(total_lineas / 3); pagina++) {
      pages.push(...(await lines({ pagina, por_pagina: 3 })).desglose);
    }
    expect(pages).toEqual(desglose);
  }
}
