// A sale counts once in every report, in whatever order it is delivered and invoiced.
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T09:00:00Z'), quotaPerMinute: 1_000_000 });
afterAll(() => server.stop());

const CLIENTS = [1, 2] as const;
const PROJECTS = [21, 22] as const;
/** By id: VAT and initial stock; a sale moves stock of the first only. */
const ARTICLES = {
  11: { modo: 'venta', iva: 10, stock: 100 },
  12: { modo: 'alquiler', iva: 21, stock: 6 },
  13: { modo: 'servicio', iva: 4, stock: 0 },
} as const;
const records: FileRecord[] = [
  ...CLIENTS.map((id) => ({ coleccion: 'clientes', ref: `c${id}`, id, nombre_fiscal: `Cliente ${id}` })),
  ...PROJECTS.map((id) => ({ coleccion: 'proyectos', ref: `p${id}`, id, numero: `${id}`, descripcion: 'Obra' })),
  ...Object.entries(ARTICLES).map(([id, article]) => ({
    coleccion: 'articulos',
    ref: `a${id}`,
    id: Number(id),
    descripcion: `Artículo ${id}`,
    ...article,
  })),
];

type ArticleId = keyof typeof ARTICLES;
interface Line {
  cantidad: number;
  /** Thousandths, so that amounts have to be rounded. */
  price: number;
  descuento: number;
  article: ArticleId | undefined;
  project: number | undefined;
}
interface Note {
  id: string | number;
  client: number;
  lines: Line[];
  invoiced: boolean;
}

const line: fc.Arbitrary<Line> = fc.record({
  cantidad: fc.integer({ min: -3, max: 5 }).filter((n) => n !== 0),
  price: fc.integer({ min: 0, max: 99_999 }),
  descuento: fc.constantFrom(0, 0, 15, 33),
  article: fc.constantFrom<ArticleId | undefined>(11, 12, 13, undefined),
  project: fc.constant(undefined),
});
const client = fc.constantFrom(...CLIENTS);
const lines = fc.array(line, { minLength: 1, maxLength: 4 });
const onProject = fc.option(fc.constantFrom(...PROJECTS), { nil: undefined });
const step = fc.oneof(
  fc.record({ kind: fc.constant('note' as const), client, lines }),
  // Projects are imported; imports move no stock.
  fc.record({
    kind: fc.constant('brought note' as const),
    client,
    lines: fc.array(fc.tuple(line, onProject), { minLength: 1, maxLength: 3 }),
    project: onProject,
  }),
  fc.record({ kind: fc.constant('invoice of lines' as const), client, lines, halves: fc.boolean() }),
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('invoice of notes' as const),
      picks: fc.array(fc.nat(9), { minLength: 1, maxLength: 3 }),
    }),
  },
);

/** Rounds half away from zero. */
const divide = (value: number, by: number) => Math.sign(value) * Math.floor((2 * Math.abs(value) + by) / (2 * by)) || 0;
const vatOf = ({ article }: Line) => (article === undefined ? 21 : ARTICLES[article].iva);
/** Without VAT, in cents. */
const amountOf = ({ cantidad, price, descuento }: Line) => divide(cantidad * price * (100 - descuento), 1000);
const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);
const baseOf = (document: readonly Line[]) => sum(document.map(amountOf));
/** With VAT, in cents: rounded once for each rate. */
const totalOf = (document: readonly Line[]) =>
  sum([...Map.groupBy(document, vatOf)].map(([rate, ofRate]) => baseOf(ofRate) + divide(baseOf(ofRate) * rate, 100)));
const euros = (cents: number) => cents / 100;

/** The events in plain lists. */
class Model {
  readonly notes: Note[] = [];
  /** Each with its due dates in cents. */
  readonly invoices: { client: number; lines: Line[]; due: number[] }[] = [];
  /** Delivered, or invoiced without a note. */
  readonly sold: { client: number; line: Line }[] = [];
  stock = ARTICLES[11].stock as number;

  sell(client: number, lines: readonly Line[]) {
    this.sold.push(...lines.map((line) => ({ client, line })));
  }
  deliver(lines: readonly Line[]) {
    this.stock -= sum(lines.filter(({ article }) => article === 11).map(({ cantidad }) => cantidad));
  }
}

const detalles = (lines: readonly Line[]) =>
  lines.map(({ cantidad, price, descuento, article }) => ({
    cantidad,
    descuento,
    importe_unitario: price / 1000,
    articulo_fk: article,
    ...(article === undefined ? { descripcion: 'Suelto' } : {}),
  }));

async function take(
  company: Company,
  model: Model,
  action: typeof step extends fc.Arbitrary<infer Step> ? Step : never,
) {
  const created = async (path: string, body: object): Promise<string> => {
    const answer = await company.post(path, body);
    expect([answer.status, answer.body.errorMsg]).toEqual([200, '']);
    return answer.body.data;
  };
  const pedido = { obra: 'Obra' };
  switch (action.kind) {
    case 'note': {
      const { client, lines } = action;
      const id = await created('/delivery-notes', { cliente: { id: client }, pedido, detalles: detalles(lines) });
      model.notes.push({ id, client, lines, invoiced: false });
      model.sell(client, lines);
      model.deliver(lines);
      return;
    }
    case 'brought note': {
      const { client, project } = action;
      const lines = action.lines.map(([line, own]) => ({ ...line, project: project ?? own }));
      const id = 500 + model.notes.length;
      await company.load([
        {
          coleccion: 'albaranes',
          ref: `n${id}`,
          id,
          fecha: '2026-02-01',
          cliente: `c${client}`,
          proyecto: project && `p${project}`,
          lineas: lines.map(({ cantidad, price, descuento, article, project: own }) => ({
            descripcion: 'x',
            cantidad,
            importe_unitario: price / 1000,
            descuento,
            ...(article === undefined ? {} : { articulo: `a${article}`, iva: ARTICLES[article].iva }),
            ...(project === undefined && own !== undefined ? { proyecto: `p${own}` } : {}),
          })),
        },
      ]);
      model.notes.push({ id, client, lines, invoiced: false });
      model.sell(client, lines);
      return;
    }
    case 'invoice of lines': {
      const { client, lines, halves } = action;
      const total = totalOf(lines);
      // Avoids -0, which no answer has.
      const half = Math.trunc(total / 2) + 0;
      const due = halves ? [half, total - half] : [total];
      const vencimientos = due.map((cents, month) => ({ fecha: `2026-0${month + 4}-01`, importe: euros(cents) }));
      await created('/invoices', {
        cliente: { id: client },
        pedido,
        detalles: detalles(lines),
        ...(halves ? { vencimientos } : {}),
      });
      model.invoices.push({ client, lines, due });
      model.sell(client, lines);
      model.deliver(lines);
      return;
    }
    case 'invoice of notes': {
      const notes = action.picks.flatMap((pick) => model.notes[pick % model.notes.length] ?? []);
      const [first] = notes;
      if (!first) return;
      const albaranes = notes.map(({ id }) => id);
      const fits =
        new Set(notes).size === notes.length &&
        notes.every(({ client, invoiced }) => client === first.client && !invoiced);
      if (!fits) {
        expect((await company.post('/invoices', { albaranes })).status).toBe(400);
        return;
      }
      await created('/invoices', { albaranes });
      for (const note of notes) note.invoiced = true;
      const lines = notes.flatMap((note) => note.lines);
      model.invoices.push({ client: first.client, lines, due: [totalOf(lines)] });
    }
  }
}

/** All data derived from documents, as the operations show it. */
async function compare(company: Company, model: Model) {
  const data = async (path: string, query: object = {}) => (await company.get(path, { ...query })).body.data;
  const year = { fecha_inicio: '2026-01-01', fecha_fin: '2026-12-31' };
  const [report, projects, products, dueDates, invoices, notes] = await Promise.all([
    data('/reports/sales', { ...year, agrupar: 'cliente' }),
    data('/projects'),
    data('/products'),
    data('/treasury/due-dates', { tipo: 'cobro', por_pagina: 500 }),
    data('/invoices', { por_pagina: 500 }),
    data('/delivery-notes', { por_pagina: 500 }),
  ]);
  const soldTo = (wanted: number) => model.sold.flatMap(({ client, line }) => (client === wanted ? [line] : []));
  expect(report.total_ventas).toBe(euros(baseOf(model.sold.map(({ line }) => line))));
  const perClient: { nombre_fiscal: string; total: number }[] = report.agrupacion.grupos;
  expect(Object.fromEntries(perClient.map(({ nombre_fiscal, total }) => [nombre_fiscal, total]))).toEqual(
    Object.fromEntries(
      CLIENTS.filter((id) => soldTo(id).length > 0).map((id) => [`Cliente ${id}`, euros(baseOf(soldTo(id)))]),
    ),
  );
  const perProject: { numero: string; economico: { ventas: number } }[] = projects.proyectos;
  expect(Object.fromEntries(perProject.map(({ numero, economico }) => [numero, economico.ventas]))).toEqual(
    Object.fromEntries(
      PROJECTS.map((id) => [
        `${id}`,
        euros(baseOf(model.sold.flatMap(({ line }) => (line.project === id ? [line] : [])))),
      ]),
    ),
  );
  const stocks: { stock: number }[] = products.articulos;
  expect(stocks.map(({ stock }) => stock)).toEqual([model.stock, ARTICLES[12].stock, ARTICLES[13].stock]);

  const newestFirst = model.invoices.toReversed();
  expect(invoices.facturas).toMatchObject(
    newestFirst.map(({ lines }, index) => ({
      numero: `F2026-${String(newestFirst.length - index).padStart(4, '0')}`,
      base_imponible: euros(baseOf(lines)),
      total_con_iva: euros(totalOf(lines)),
      saldo: euros(totalOf(lines)),
    })),
  );
  const dues: { importe: number; documento: { numero: string } }[] = dueDates.vencimientos;
  const dueOf = Map.groupBy(dues, ({ documento }) => documento.numero);
  for (const [index, { due }] of model.invoices.entries()) {
    const shown = dueOf.get(`F2026-${String(index + 1).padStart(4, '0')}`)?.map(({ importe }) => importe);
    expect(shown).toEqual(due.map(euros));
  }
  expect(dues).toHaveLength(sum(model.invoices.map(({ due }) => due.length)));
  expect(notes.documentos.filter(({ facturado }: { facturado: boolean }) => facturado)).toHaveLength(
    model.notes.filter(({ invoiced }) => invoiced).length,
  );
}

test('[PRJ-01] [DLV-03] any deliveries and invoices: sales, projects, stock and due dates count each once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const company = await server.company(records);
      const model = new Model();
      for (const action of steps) await take(company, model, action);
      await compare(company, model);
    }),
    { numRuns: 12, endOnFailure: true },
  );
}, 60_000);
