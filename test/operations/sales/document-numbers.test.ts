// Numbers without gaps, even if a write fails after it took one. How counters continue after imported numbers: import.test.ts.
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../../helpers/own-database.ts';
import { type Company, type FileRecord, type Server, startServer, TestClock } from '../../helpers/world.ts';

const WRITERS = 8;
const clock = new TestClock('2026-12-30T09:00:00Z');
let database: OwnDatabase;
let server: Server;
/** Another process of the service, with a short lock timeout. */
let impatient: Server;
beforeAll(async () => {
  // A separate one, since its connections are ended here.
  database = await ownDatabase();
  const options = { clock, database: { url: database.url }, quotaPerMinute: 1_000_000 };
  server = await startServer(options);
  impatient = await startServer({ ...options, idempotencyWaitMs: 100 });
});
afterAll(async () => {
  await server.stop();
  await impatient.stop();
  await database[Symbol.asyncDispose]();
});

const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo' },
  { coleccion: 'articulos', ref: 'cable', id: 11, descripcion: 'Cable', precios: [{ tarifa: 1, precio: 10 }] },
];
const body = (more: object = {}) => ({
  cliente: { id: 1 },
  pedido: { obra: 'Obra' },
  detalles: [{ cantidad: 1, articulo_fk: 11 }],
  ...more,
});

/** The actions of a writer in turn. The third fails on its due dates, after the invoice has its number. */
const calls: ((company: Company) => Promise<{ status: number }>)[] = [
  (company) => company.post('/invoices', body()),
  (company) => company.post('/delivery-notes', body()),
  (company) => company.post('/invoices', body({ vencimientos: [{ fecha: '2026-12-31', importe: 1 }] })),
  (company) => company.post('/delivery-notes', body({ detalles: [{ cantidad: 1, articulo_fk: 999 }] })),
  async (company) => {
    const estimate = await company.post('/estimates', body());
    if (estimate.status !== 200) return estimate;
    return company.post(`/estimates/${estimate.body.data}/convert`, { destino: 'factura' });
  },
  async (company) => {
    const note = await company.post('/delivery-notes', body());
    return note.status === 200 ? company.post('/invoices', { albaranes: [note.body.data] }) : note;
  },
];

/** The statuses of eight writers with several calls each, started one after another. */
async function write(company: Company, each: number): Promise<number[]> {
  const statuses = await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      const got: number[] = [];
      for (let turn = 0; turn < each; turn++) {
        const call = calls[(writer + turn) % calls.length];
        if (call) got.push((await call(company)).status);
      }
      return got;
    }),
  );
  return statuses.flat();
}

/** Requests an invoice from one process of the service. */
const invoiceBy = ({ url }: Server, { headers }: Company, signal: AbortSignal | null = null) =>
  fetch(`${url}/api/v1/invoices`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body()),
    signal,
  });

/** The connection of the writer that has taken its number and waits for the stock that this test locks. */
async function untilNumbered(): Promise<number> {
  for (;;) {
    const { rows } = await database.admin.query<{ pid: number }>(
      `select pid from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like 'insert into product_stocks%'`,
    );
    if (rows[0]) return rows[0].pid;
  }
}

/** Locks the company's stock while `work` runs, so that writers of documents stop after their lines. */
async function holdingStock({ id }: Company, work: () => Promise<void>): Promise<void> {
  const holder = new pg.Client({ connectionString: database.directUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select 1 from product_stocks where account_id = $1 for update', [id]);
    await work();
    await holder.query('rollback');
  } finally {
    await holder.end();
  }
}

/** The numbers of all documents of a kind, through the operations, in order. */
async function numbersOf(
  company: Company,
  kind: 'invoices' | 'delivery-notes' | 'estimates',
  year: number,
): Promise<string[]> {
  const { body: answer } = await company.get(`/${kind}`, {
    fecha_inicio: `${year}-01-01`,
    fecha_fin: `${year}-12-31`,
    por_pagina: 500,
  });
  const documents: { numero: string }[] = answer.data.facturas ?? answer.data.documentos ?? answer.data.presupuestos;
  return documents.map(({ numero }) => numero).sort();
}

const gapless = (letter: string, year: number, length: number) =>
  Array.from({ length }, (_, index) => `${letter}${year}-${String(index + 1).padStart(4, '0')}`);

test('[DLV-02] numbers have no gaps, by company and year: eight writers, refusals, timeouts, connections that die', async () => {
  const acme = await server.company(records);
  const other = await server.company(records);
  // A first document, so that there is a row of stock to lock.
  await acme.post('/delivery-notes', body());

  for (const [year, moment] of [
    [2026, '2026-12-30T09:00:00Z'],
    [2027, '2027-01-02T09:00:00Z'],
  ] as const) {
    clock.set(moment);
    const undisturbed = write(other, 4);
    const statuses = await write(acme, 5);

    // The writer's connection is killed after it took its number, which ends its transaction.
    for (const path of ['/invoices', '/delivery-notes']) {
      await holdingStock(acme, async () => {
        const doomed = acme.post(path, body());
        await database.admin.query('select pg_terminate_backend($1)', [await untilNumbered()]);
        expect((await doomed).status).toBe(503);
      });
    }
    // The lock timeout ends it after it took its number, while others wait for that number.
    const behind: Promise<number[]>[] = [];
    await holdingStock(acme, async () => {
      const slow = invoiceBy(impatient, acme);
      behind.push(write(acme, 2));
      expect((await slow).status).toBe(503);
    });
    // The caller disconnects: the document is written completely or not at all.
    await holdingStock(acme, async () => {
      const gone = new AbortController();
      const call = invoiceBy(server, acme, gone.signal);
      const failed = expect(call).rejects.toThrow('abort');
      await untilNumbered();
      gone.abort();
      await failed;
    });
    statuses.push(...(await Promise.all(behind)).flat(), ...(await write(acme, 3)));

    expect(new Set(statuses)).toEqual(new Set([200, 400, 404]));
    expect(new Set(await undisturbed)).toEqual(new Set([200, 400, 404]));
    for (const company of [acme, other]) {
      const invoices = await numbersOf(company, 'invoices', year);
      const notes = await numbersOf(company, 'delivery-notes', year);
      const estimates = await numbersOf(company, 'estimates', year);
      expect(invoices).toEqual(gapless('F', year, invoices.length));
      expect(notes).toEqual(gapless('A', year, notes.length));
      expect(estimates).toEqual(gapless('P', year, estimates.length));
      expect(estimates.length).toBeGreaterThan(company === acme ? 10 : 4);
      expect(invoices.length).toBeGreaterThan(company === acme ? 20 : 8);
    }
    // Documents answered with 200 exist.
    const written =
      (await numbersOf(acme, 'invoices', year)).length + (await numbersOf(acme, 'delivery-notes', year)).length;
    expect(written).toBeGreaterThanOrEqual(statuses.filter((status) => status === 200).length);
  }
}, 60_000);

/** Series that companies take in turn, each of one kind of document. */
const POOLS = {
  albaran: ['A', 'ALB-', 'A/'],
  factura: ['F', '1/', 'FAC-', 'FF'],
  rectificativa: ['R', 'F-R', 'REC/'],
  presupuesto: ['P', '-', '26P/'],
} as const;

const KIND_OF = { A: 'albaran', F: 'factura', R: 'rectificativa', P: 'presupuesto' } as const;

test('[DLV-02] numbers have no gaps and are given once, whenever the series change: four writers', async () => {
  clock.set('2026-12-30T09:00:00Z');
  const anySeries = fc.record(
    {
      albaran: fc.constantFrom(...POOLS.albaran),
      factura: fc.constantFrom(...POOLS.factura),
      rectificativa: fc.constantFrom(...POOLS.rectificativa),
      presupuesto: fc.constantFrom(...POOLS.presupuesto),
    },
    { requiredKeys: [] },
  );
  const rectified = async (company: Company) => {
    const invoice = await company.post('/invoices', body());
    return company.post(`/invoices/${invoice.body.data}/rectify`, { motivo: 'Error' });
  };
  const writing = [...calls, rectified, (company: Company) => company.post('/estimates', body())];
  const turns = fc.array(fc.constantFrom(...writing), { minLength: 1, maxLength: 4 });
  const writers = fc.array(turns, { minLength: 4, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.array(anySeries, { minLength: 1, maxLength: 5 }), writers, async (changes, all) => {
      const acme = await server.company(records);
      const written = all.map(async (turns) => {
        for (const turn of turns) await turn(acme);
      });
      for (const series of changes) await acme.load([], { series });
      await Promise.all(written);
      await Promise.all(writing.map((turn) => turn(acme)));
      const { rows } = await database.admin.query<{ kind: keyof typeof KIND_OF; number: string }>(
        `select 'A' as kind, number from delivery_notes where account_id = $1
         union all select case when rectified_invoice_id is null then 'F' else 'R' end, number from invoices where account_id = $1
         union all select 'P', number from estimates where account_id = $1`,
        [acme.id],
      );
      for (const [kind, ofKind] of Map.groupBy(rows, ({ kind }) => KIND_OF[kind])) {
        const parts = ofKind.map(({ number }) => /^(.+)2026-(\d{4})$/.exec(number) ?? []);
        expect(
          parts.map(([, , digits]) => Number(digits)).sort((one, other) => one - other),
          kind,
        ).toEqual(parts.map((_, index) => index + 1));
        expect(new Set<string>(POOLS[kind])).toEqual(new Set([...POOLS[kind], ...parts.map(([, series]) => series)]));
      }
      expect(new Set(rows.map(({ kind }) => kind)).size).toBe(4);
      expect(new Set(rows.map(({ number }) => number)).size).toBe(rows.length);
    }),
    { numRuns: 12, endOnFailure: true },
  );
}, 60_000);
