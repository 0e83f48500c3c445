// A day of a company: random writes of every kind by eight callers at once, each with a key of its own, over REST. Nothing is answered
// but what is documented, and at the end all that the API shows is what the records say. A failure names its seed, as a counterexample;
// DAY_SEED repeats its choices, though not their timing; DAY_RUNS lives more days than three.

import fc from 'fast-check';
import { CompiledQuery } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { exportAccountFile } from '../../account-file/export.ts';
import { importAccountFile } from '../../account-file/import.ts';
import type { Operation } from '../../bridges/operations.ts';
import { ROLLUPS } from '../../figures/figures.ts';
import { differences } from '../../figures/rollups.ts';
import { routeCall } from '../faults/doors.ts';
import { NEVER } from '../faults/once/never.ts';
import { records, Writer, writes } from '../faults/once/writes.ts';
import { Random } from '../faults/random.ts';
import { EXAMPLE_NOW, exampleAccount } from '../helpers/examples.ts';
import type { Input } from '../helpers/places.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../helpers/world.ts';
import { expectAsRecords, openingsOf } from './plain-day.ts';

const TODAY = EXAMPLE_NOW.slice(0, 10);
const CALLERS = 8;
const WRITES = 200;
const PROJECTS = [9301, 9302, 9303, 9304];
const TASKS = [9401, 9402, 9403, 9404];
const CLIENTS = [1901, 1902, 9101];

const server = await startServer({ clock: new TestClock(EXAMPLE_NOW), quotaPerMinute: 1_000_000 });
const { database } = server.service;
afterAll(() => server.stop());

const clocked = (hora: string) => ({ fecha: '2026-02-27', hora, metodo: 'app' });
const entry = (ref: string, more: object): FileRecord => ({
  ...{ coleccion: 'fichajes', ref, empleado: 'ana', entrada: clocked('08:10'), salida: clocked('12:30') },
  ...more,
});
const base: FileRecord[] = [
  ...records,
  {
    ...{ coleccion: 'articulos', ref: 'cable', id: 2203, descripcion: 'Cable', coste: 0.25, stock: 900 },
    precios: [{ tarifa: 1, precio: 0.4 }],
    formatos: [{ ref: 'rollo', id: 2231, titulo: 'Rollo', factor: 100, defecto_venta: true }],
  },
  ...TASKS.map((id) => entry(`f${id}`, { tarea: `t${id}`, maquina: 'sierra', pausa_minutos: 7 })),
];

/** What the callers have made so far: any of them may go on with it. */
interface Made {
  /** Delivery notes with the client's number. */
  notes: { id: string; client: number }[];
  received: string[];
  estimates: string[];
  invoices: string[];
  rectifying: string[];
  bills: string[];
}

class Caller {
  readonly random: Random;
  readonly #made: Made;
  readonly #writer: Writer;
  readonly #company: Company;
  readonly #headers: Record<string, string>;

  constructor(company: Company, headers: Record<string, string>, made: Made, seed: number, index: number) {
    this.random = new Random(seed, index);
    this.#writer = new Writer(`w${seed}-${index}`, this.random);
    [this.#company, this.#headers, this.#made] = [company, headers, made];
  }

  /** Whether there is something to go on with. */
  ready({ path }: Operation): boolean {
    return (FROM[path] ?? []).every((what) => this.#made[what].length > 0);
  }

  /** Calls an operation. Answers the status, or two. */
  async call(operation: Operation): Promise<number[]> {
    const plain = this.#writer.next(operation);
    const input = (await this.#inputs[operation.path]?.(plain.mark)) ?? plain.input;
    const [route] = operation.routes;
    if (!route) throw new Error(`${operation.path} has no route`);
    const { method, path, body } = routeCall(route, input);
    const headers = { ...this.#headers, 'content-type': 'application/json' };
    const send = () => server.request(path, { method, headers, body: body ?? null });
    // Sometimes twice at once, as who clicks twice does: each is a call of its own.
    const sent = TAKES.has(operation.path) && this.random.chance(0.3) ? [send(), send()] : [send()];
    const answers = await Promise.all(sent);
    for (const { status, body: answer } of answers) {
      if (status === 200) this.#keep(operation.path, input, answer.data);
    }
    return answers.map(({ status }) => status);
  }

  #keep(path: string, { cliente, destino }: Input, data: string): void {
    const { notes, received, estimates, invoices, rectifying, bills } = this.#made;
    if (path === 'deliveryNotes.create') notes.push({ id: data, client: (cliente as { id: number }).id });
    if (path === 'purchaseDeliveryNotes.create') received.push(data);
    if (path === 'estimates.create') estimates.push(data);
    if (path === 'invoices.create' || (path === 'estimates.convert' && destino === 'factura')) invoices.push(data);
    if (path === 'invoices.rectify') rectifying.push(data);
    if (path === 'purchaseInvoices.create') bills.push(data);
  }

  async #read(path: string, query: object = {}) {
    const { status, body } = await this.#company.get(path, { ...query }, this.#headers);
    expect(status).toBe(200);
    return body.data;
  }

  /** Some lines of a document, in whole or in part. */
  async #some(path: string): Promise<{ lineaId: string; cantidad: number }[] | undefined> {
    if (this.random.chance(0.3)) return undefined;
    const { lineas } = await this.#read(path);
    const part = this.random.pick([1, 0.5, 0.25]);
    const chosen = lineas.filter(() => this.random.chance(0.7));
    return (chosen.length > 0 ? chosen : lineas).map(
      ({ lineaId, cantidad }: { lineaId: string; cantidad: number }) => ({
        lineaId,
        cantidad: Math.round(cantidad * part * 1e4) / 1e4,
      }),
    );
  }

  /** One of the newest, which others go on with too. */
  #recent = <T>(list: readonly T[]): T => this.random.pick(list.slice(-3));
  #project = () => (this.random.chance(0.6) ? { proyectoId: this.random.pick(PROJECTS) } : {});
  #price = () => this.random.int(1, 90_000) / 100;
  #taxed = () => ({ iva: this.random.pick([0, 4, 10, 21]), descuento: this.random.pick([0, 0, 12.5, 33.33]) });

  /** Lines of goods in formats, by weight or returned, rented, and of work. */
  #lines(trade: 'sale' | 'purchase'): object[] {
    const { random } = this;
    const kinds = [
      () => ({ articulo_fk: 2203, cantidad: random.int(1, 6), ...(trade === 'purchase' && { formatoId: 2231 }) }),
      () => ({
        ...{
          articulo_fk: 2201,
          formatoId: 2221,
          cantidad: random.int(1, 3),
          cantidad_base_real: random.int(30, 130) / 10,
        },
        ...{ importe_unitario: this.#price(), ...this.#taxed() },
      }),
      () => ({ articulo_fk: 2201, variacion_articulo_fk: 2211, cantidad: random.pick([2, 1.5, -1]), ...this.#taxed() }),
      () => ({
        descripcion: 'Obra',
        cantidad: random.int(1, 900) / 100,
        importe_unitario: this.#price(),
        ...this.#taxed(),
      }),
      ...(trade === 'sale'
        ? [
            () => ({
              ...{ articulo_fk: 2202, cantidad: random.int(1, 2), importe_unitario: this.#price() },
              ...{ startDate: `2026-0${random.int(3, 4)}-20`, endDate: `2026-05-${random.int(10, 28)}` },
            }),
          ]
        : []),
    ];
    return Array.from({ length: random.int(1, 4) }, () => ({ ...random.pick(kinds)(), ...this.#project() }));
  }

  #sale = (mark: string): Input => ({
    cliente: { id: this.random.pick(CLIENTS) },
    pedido: { obra: mark, ...this.#project() },
    detalles: this.#lines('sale'),
  });

  readonly #inputs: Readonly<Record<string, (mark: string) => Input | Promise<Input>>> = {
    'deliveryNotes.create': this.#sale,
    'estimates.create': this.#sale,
    'invoices.create': (mark) => {
      const { notes } = this.#made;
      if (notes.length === 0 || this.random.chance(0.4)) return this.#sale(mark);
      const first = this.#recent(notes);
      const others = notes.filter(({ client }) => client === first.client && this.random.chance(0.2));
      return { albaranes: [...new Set([first, ...others])].map(({ id }) => id), pedido: { obra: mark } };
    },
    'deliveryNotes.annul': (motivo) => ({ albaranId: this.#recent(this.#made.notes).id, motivo }),
    'estimates.answer': () => ({
      presupuestoId: this.#recent(this.#made.estimates),
      estado: this.random.pick(['aceptado', 'rechazado', 'pendiente']),
    }),
    'estimates.convert': async () => {
      const presupuestoId = this.#recent(this.#made.estimates);
      const lineas = await this.#some(`/estimates/${presupuestoId}`);
      return { presupuestoId, destino: this.random.pick(['albaran', 'factura']), lineas };
    },
    'invoices.rectify': async (motivo) => {
      const facturaId = this.#recent(this.#made.invoices);
      const liberar_albaranes = this.random.chance(0.3);
      const lineas = liberar_albaranes ? undefined : await this.#some(`/invoices/${facturaId}`);
      const how = { devolver_stock: this.random.chance(0.6), compensar: this.random.chance(0.7), liberar_albaranes };
      return { facturaId, motivo, lineas, ...how };
    },
    'invoices.annul': (motivo) => {
      const { invoices, rectifying } = this.#made;
      const from = rectifying.length > 0 && this.random.chance(0.5) ? rectifying : invoices;
      return { facturaId: this.#recent(from), motivo };
    },
    'purchaseDeliveryNotes.create': (numero) => ({
      ...{ proveedor: { id: 2001 }, numero, ...this.#project(), detalles: this.#lines('purchase') },
    }),
    'purchaseDeliveryNotes.annul': (motivo) => ({ albaranCompraId: this.#recent(this.#made.received), motivo }),
    'purchaseInvoices.create': (numero) => {
      const bill = { proveedor: { id: 2001 }, numero, fecha: TODAY, actualizar_coste: this.random.chance(0.3) };
      const albaranes = this.#made.received.filter(() => this.random.chance(0.3));
      if (albaranes.length > 0) return { ...bill, albaranes };
      return { ...bill, ...this.#project(), detalles: this.#lines('purchase') };
    },
    'purchaseInvoices.annul': (motivo) => ({ facturaCompraId: this.#recent(this.#made.bills), motivo }),
    'dueDates.settle': async () => {
      const all = await this.#read('/treasury/due-dates', { pendiente: true, por_pagina: 500 });
      // Of the soonest, so that several settle the same one; not those that are too large to be settled.
      const due: { vencimientoId: string; pendiente: number }[] = all.vencimientos;
      const { vencimientoId, pendiente } = this.random.pick(due.filter((one) => one.pendiente < 1e6).slice(0, 4));
      const importe = Math.round(pendiente * this.random.pick([0.3, 0.5, 0.9]) * 100) / 100;
      return {
        ...{ vencimientoId, importe: importe !== 0 && this.random.chance(0.5) ? importe : undefined },
        cuentaId: this.random.chance(0.7) ? 4301 : undefined,
      };
    },
    'products.adjustStock': (motivo) => ({
      ...{ articuloId: this.random.pick([2201, 2203]), motivo },
      ...(this.random.chance(0.5)
        ? { recuento: this.random.int(0, 500) / 2 }
        : { cantidad: this.random.pick([-0.5, 3]) }),
    }),
    'tasks.update': () => ({
      tareaId: this.random.pick(TASKS),
      datos: { proyectoId: this.random.chance(0.8) ? this.random.pick(PROJECTS) : '' },
    }),
  };
}

/** What an operation goes on with. */
const FROM: Readonly<Record<string, (keyof Made)[]>> = {
  'deliveryNotes.annul': ['notes'],
  'estimates.answer': ['estimates'],
  'estimates.convert': ['estimates'],
  'invoices.rectify': ['invoices'],
  'invoices.annul': ['invoices'],
  'purchaseDeliveryNotes.annul': ['received'],
  'purchaseInvoices.annul': ['bills'],
};

/** Those that take of what there is once. */
const TAKES: ReadonlySet<string> = new Set([
  ...Object.keys(FROM),
  ...['invoices.create', 'purchaseInvoices.create', 'dueDates.settle', 'recurrings.renew'],
]);

/** Webhooks and links show the day to others: they are nothing of it. */
const dayWrites = writes.filter(({ path }) => !path.startsWith('webhooks.') && !path.endsWith('Link'));

/** Every one of these, those of documents, money and stock more often than the others. */
const OFTEN: Readonly<Record<string, number>> = {
  ...{ 'deliveryNotes.create': 8, 'estimates.create': 5, 'estimates.convert': 8, 'deliveryNotes.annul': 6 },
  ...{ 'invoices.create': 9, 'invoices.rectify': 9, 'invoices.annul': 5, 'dueDates.settle': 8 },
  ...{ 'purchaseDeliveryNotes.create': 5, 'purchaseDeliveryNotes.annul': 5 },
  ...{ 'purchaseInvoices.create': 6, 'purchaseInvoices.annul': 5 },
  ...{ 'products.adjustStock': 3, 'recurrings.renew': 4, 'tasks.update': 3 },
};

function dayOf(random: Random): Operation[] {
  const deck = dayWrites.flatMap((operation) => Array<Operation>(OFTEN[operation.path] ?? 1).fill(operation));
  return Array.from({ length: WRITES }, (_, index) => deck[index % deck.length] ?? random.pick(deck))
    .map((operation) => ({ operation, at: random.next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ operation }) => operation);
}

const exported = async ({ id }: Company) => {
  const lines = await Array.fromAsync(exportAccountFile(database, id));
  return { lines, records: lines.map((line): FileRecord => JSON.parse(line)) };
};

/** A day with the choices of a seed. Counts what was done and refused. */
async function live(seed: number, counts: Map<string, { done: number; refused: number }>) {
  const company = await server.company(base, { cuenta: exampleAccount });
  const openings = openingsOf((await exported(company)).records);
  const made: Made = { notes: [], received: [], estimates: [], invoices: [], rectifying: [], bills: [] };
  const left = dayOf(new Random(seed, CALLERS));
  const keys = await Promise.all(Array.from({ length: CALLERS }, () => company.newKey()));
  // Working time comes by the operator's imports alone. TIM-01
  const imports = async () => {
    for (const project of ['y9301', 'y9302']) {
      await company.load(TASKS.map((id) => entry(`${project} ${id}`, { proyecto: project, maquina: 'sierra' })));
    }
  };
  await Promise.all([
    imports(),
    ...keys.map(async (headers, index) => {
      const caller = new Caller(company, headers, made, seed, index);
      for (;;) {
        const place = left.findIndex((operation) => caller.ready(operation));
        const [operation] = left.splice(place < 0 ? left.length : place, 1);
        if (!operation) return;
        const count = counts.get(operation.path) ?? { done: 0, refused: 0 };
        counts.set(operation.path, count);
        for (const status of await caller.call(operation)) {
          expect([200, 400, 404, 409], operation.path).toContain(status);
          if (status === 200) count.done++;
          else count.refused++;
        }
      }
    }),
  ]);
  expect(left).toEqual([]);
  return { company, openings };
}

test('[W-02] [W-04] [DLV-03] [PRJ-01] [TEN-01] after a day of random writes by many at once, all that is shown is what the records say', async () => {
  const counts = new Map<string, { done: number; refused: number }>();
  const repeated: [number][] = process.env.DAY_SEED ? [[Number(process.env.DAY_SEED)]] : [];
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 999_999 }), async (seed) => {
      const { company, openings } = await live(seed, counts);
      const { lines, records: after } = await exported(company);
      // What the writers create has a stock of 5.
      await expectAsRecords(company, after, { today: TODAY, openings, openingOfNew: 5 });
      await database.transaction(company.id, {}, async (db) => {
        // As `albaran check` does.
        for (const rollup of ROLLUPS) expect(await differences(db, company.id, rollup)).toEqual([]);
        for (const [what, query] of Object.entries(NEVER)) {
          const { rows } = await db.executeQuery(CompiledQuery.raw(query, [company.id]));
          expect(rows, what).toEqual([]);
        }
      });
      // The file has all of it.
      const other = await server.company();
      await importAccountFile(database, other.id, lines);
      expect((await exported(other)).lines).toEqual(lines);
    }),
    { numRuns: Number(process.env.DAY_RUNS ?? 3), endOnFailure: true, examples: repeated },
  );
  // Each kind of write was done, and what callers took from each other was refused.
  expect(dayWrites.filter(({ path }) => !counts.get(path)?.done).map(({ path }) => path)).toEqual([]);
  const sum = (what: 'done' | 'refused') => counts.values().reduce((all, count) => all + count[what], 0);
  expect(sum('done')).toBeGreaterThan(sum('refused'));
}, 120_000);
