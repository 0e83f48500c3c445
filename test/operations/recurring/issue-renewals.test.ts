// Issuing due cycles of recurring services: each once, whatever happens. `albaran renew` and the schedule are tested as processes
// in test/system/renew.test.ts.
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { constraintOf, Database } from '../../../platform/database.ts';
import { dueRenewals, issueRenewals } from '../../../routers/shared/renewals/issue-renewals.ts';
import {
  CYCLES,
  type Periodicity,
  renewalDates,
  type Schedule,
} from '../../../routers/shared/renewals/renewal-dates.ts';
import { renewCompanies } from '../../../server/renewals.ts';
import { poolerOptions } from '../../helpers/pgbouncer.ts';
import { recordStatements } from '../../helpers/statements.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-05-10T10:00:00Z');
const server = await startServer({ clock });
const { database } = server.service;
afterAll(() => server.stop());

const client: FileRecord = { coleccion: 'clientes', ref: 'cli', nombre_fiscal: 'Cliente SL', tarifa: 1 };
const line = { descripcion: 'Cuota', cantidad: 1, importe_unitario: 20 };
const recurring = (ref: string, periodicidad: string, more: object = {}): FileRecord => ({
  coleccion: 'recurrentes',
  ref,
  descripcion: ref,
  cliente: 'cli',
  periodicidad,
  fecha_creacion: '2025-01-15',
  lineas: [line],
  ...more,
});

const author = { actor: 'schedule', door: 'schedule', requestId: 'test' } as const;
const day = (text: string) => Temporal.PlainDate.from(text);

/** By hand, however long ago it was due; automatic issuing is tested in automatic-issuing.test.ts. */
const since = day('0001-01-01');

/** The result of a run on this day; the company is in Madrid. */
const issueOn = (company: Pick<Company, 'id'>, today: string, { until = today, on = database } = {}) => {
  clock.set(`${today}T10:00:00Z`);
  const days = { today: day(today), until: day(until), since };
  return Array.fromAsync(issueRenewals({ database: on, accountId: company.id, ...days, now: clock.now(), author }));
};

interface Note {
  service: string;
  cycle: string | null;
  date: string;
  number: string | null;
}

/** The notes of recurrings, by recurring and cycle. */
const notesOf = ({ id }: Pick<Company, 'id'>): Promise<Note[]> =>
  database.transaction(id, {}, (db) =>
    db
      .selectFrom('delivery_notes as n')
      .innerJoin('recurrings as r', (join) =>
        join.onRef('r.account_id', '=', 'n.account_id').onRef('r.id', '=', 'n.recurring_id'),
      )
      .select(['r.description as service', 'n.recurring_cycle as cycle', 'n.date', 'n.number'])
      .where('n.account_id', '=', id)
      .orderBy('r.description')
      .orderBy('n.recurring_cycle')
      .execute(),
  );
const cyclesOf = async (company: Company, service?: string) =>
  (await notesOf(company)).filter((note) => !service || note.service === service).map(({ cycle }) => cycle);

test('[DLV-02] [DLV-03] [REN-04] a renewal becomes a numbered note of today with its lines; goods leave stock', async () => {
  const acme = await server.company([
    client,
    { coleccion: 'proyectos', ref: 'p', numero: '1', descripcion: 'Nave' },
    {
      coleccion: 'articulos',
      ref: 'filtro',
      id: 7,
      descripcion: 'Filtro',
      stock: 50,
      formatos: [{ ref: 'caja', titulo: 'Caja', factor: 4, peso_variable: true }],
    },
    { coleccion: 'articulos', ref: 'visita', id: 8, descripcion: 'Visita', modo: 'servicio' },
    recurring('Calderas', 'mensual', {
      ultima_facturacion: '2026-04-10',
      lineas: [
        { descripcion: 'Filtros', cantidad: 3, importe_unitario: 9.99, iva: 10, descuento: 5, articulo: 'filtro' },
        { descripcion: 'Caja', cantidad: 2, importe_unitario: 30, articulo: 'filtro', formato: 'caja' },
        {
          descripcion: 'Granel',
          cantidad: 1,
          importe_unitario: 8,
          articulo: 'filtro',
          formato: 'caja',
          cantidad_base_real: 3.5,
        },
        { descripcion: 'Visita', cantidad: 1, importe_unitario: 50, articulo: 'visita', proyecto: 'p' },
      ],
    }),
  ]);
  const outcomes = await issueOn(acme, '2026-05-12');
  expect(outcomes).toEqual([
    {
      recurringId: expect.any(Number),
      description: 'Calderas',
      cycle: '2026-05-10',
      amount: 146.47,
      noteId: expect.any(Number),
    },
  ]);
  expect(await notesOf(acme)).toEqual([
    { service: 'Calderas', cycle: '2026-05-10', date: '2026-05-12', number: 'A2026-0001' },
  ]);
  const found = await database.transaction(acme.id, {}, (db) =>
    Promise.all([
      db.selectFrom('delivery_note_lines').selectAll().where('account_id', '=', acme.id).orderBy('position').execute(),
      db
        .selectFrom('stock_movements')
        .select(['quantity', 'factor'])
        .where('account_id', '=', acme.id)
        .where('opening', '=', false)
        .orderBy('id')
        .execute(),
      db
        .selectFrom('product_stocks')
        .select(['product_id', 'quantity'])
        .where('account_id', '=', acme.id)
        .where('product_id', '=', 7)
        .execute(),
      db
        .selectFrom('recurrings')
        .select(['last_invoiced_on', 'anchor_day'])
        .where('account_id', '=', acme.id)
        .execute(),
      db
        .selectFrom('journal_entries')
        .select(['actor', 'door', 'operation', 'record_table', 'action'])
        .where('account_id', '=', acme.id)
        .where('operation', '=', 'renew')
        .orderBy('n')
        .execute(),
      db.selectFrom('delivery_notes').select(['concept', 'reviewed']).where('account_id', '=', acme.id).execute(),
    ]),
  );
  const [lines, movements, stocks, recurrings, journal, headers] = found;
  expect(lines).toMatchObject([
    { description: 'Filtros', quantity: 3, unit_price: 9.99, vat: 10, discount: 5, product_id: 7, amount: 28.47 },
    { description: 'Caja', quantity: 2, unit_price: 30, amount: 60 },
    { description: 'Granel', quantity: 1, base_quantity: 3.5, amount: 8 },
    { description: 'Visita', product_id: 8, vat: 21, project_id: expect.any(Number), amount: 50 },
  ]);
  expect(movements).toEqual([
    { quantity: -3, factor: null },
    { quantity: -8, factor: 4 },
    { quantity: -3.5, factor: 4 },
  ]);
  expect(stocks).toEqual([{ product_id: 7, quantity: 35.5 }]);
  expect(recurrings).toEqual([{ last_invoiced_on: '2026-05-10', anchor_day: 10 }]);
  const by = { actor: 'schedule', door: 'schedule', operation: 'renew' };
  expect(journal).toEqual([
    { ...by, record_table: 'delivery_notes', action: 'create' },
    { ...by, record_table: 'recurrings', action: 'modify' },
    { ...by, record_table: 'products', action: 'modify' },
  ]);
  expect(headers).toEqual([{ concept: 'Calderas', reviewed: true }]);

  const { body } = await acme.get('/recurring/renewals', { fecha_inicio: '2026-05-01', fecha_fin: '2026-05-31' });
  expect(body.data).toMatchObject({
    renovaciones_previstas: { num: 1, importe_total: 146.47 },
    renovaciones_generadas: { num: 1, importe_total: 146.47 },
  });
});

test('a second run issues nothing, and neither does looking at what is due', async () => {
  const acme = await server.company([client, recurring('Cuota', 'mensual', { fecha_inicio: '2026-03-10' })]);
  const renewals = { database, accountId: acme.id, today: day('2026-05-10'), until: day('2026-05-10'), since };
  const due = ['2026-03-10', '2026-04-10', '2026-05-10'];
  expect((await dueRenewals(renewals)).map(({ cycle }) => cycle)).toEqual(due);
  expect(await notesOf(acme)).toEqual([]);
  expect(await issueOn(acme, '2026-05-10', { until: '2026-04-10' })).toHaveLength(2);
  expect(await issueOn(acme, '2026-05-10')).toHaveLength(1);
  expect(await issueOn(acme, '2026-05-10')).toEqual([]);
  expect(await cyclesOf(acme)).toEqual(due);
});

test('[DLV-02] four runs at once issue each cycle once, with numbers without gaps', async () => {
  const services = Array.from({ length: 8 }, (_, index) =>
    recurring(`Servicio ${index}`, 'semanal', { fecha_inicio: '2026-04-01' }),
  );
  const acme = await server.company([client, ...services]);
  const outcomes = (await Promise.all([1, 2, 3, 4].map(() => issueOn(acme, '2026-05-10')))).flat();
  expect(outcomes.filter((outcome) => 'failure' in outcome)).toEqual([]);
  expect(outcomes).toHaveLength(8 * 6);
  const notes = await notesOf(acme);
  expect(new Set(notes.map(({ service, cycle }) => `${service} ${cycle}`)).size).toBe(8 * 6);
  expect(notes.map(({ number }) => Number(number?.slice(6))).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 8 * 6 }, (_, index) => index + 1),
  );
});

test('after a hundred days of standing still each missed cycle has its note, the oldest first', async () => {
  const acme = await server.company([
    client,
    recurring('Mes', 'mensual', { ultima_facturacion: '2026-01-30' }),
    recurring('Semana', 'semanal', { ultima_facturacion: '2026-01-30' }),
  ]);
  await issueOn(acme, '2026-05-10');
  expect(await cyclesOf(acme, 'Mes')).toEqual(['2026-02-28', '2026-03-30', '2026-04-30']);
  expect(await cyclesOf(acme, 'Semana')).toHaveLength(14);
  const byNumber = (await notesOf(acme)).sort((a, b) => ((a.number ?? '') < (b.number ?? '') ? -1 : 1));
  expect(byNumber.map(({ cycle }) => cycle)).toEqual(byNumber.map(({ cycle }) => cycle).sort());
  expect(new Set(byNumber.map(({ date }) => date))).toEqual(new Set(['2026-05-10']));
});

test('[REN-02] [REN-04] run daily, the 31st goes through February and back, and generated is what was forecast', async () => {
  const acme = await server.company([
    client,
    recurring('Fin de mes', 'mensual', { fecha_inicio: '2026-01-31' }),
    recurring('Trimestre', 'trimestral', { ultima_facturacion: '2025-11-30', dia_ancla: 31 }),
  ]);
  for (let today = day('2026-01-30'); today.month < 7; today = today.add({ days: 1 })) {
    await issueOn(acme, today.toString());
  }
  const notes = await notesOf(acme);
  expect(notes.filter(({ cycle, date }) => cycle !== date)).toEqual([]);
  expect(await cyclesOf(acme, 'Fin de mes')).toEqual([
    '2026-01-31',
    '2026-02-28',
    '2026-03-31',
    '2026-04-30',
    '2026-05-31',
    '2026-06-30',
  ]);
  expect(await cyclesOf(acme, 'Trimestre')).toEqual(['2026-02-28', '2026-05-31']);
  const { body } = await acme.get('/recurring/renewals', { fecha_inicio: '2026-01-30', fecha_fin: '2026-06-30' });
  expect(body.data.renovaciones_generadas).toEqual({ num: 8, importe_total: 160 });
  expect(body.data.renovaciones_previstas).toEqual(body.data.renovaciones_generadas);
});

test('[REN-03] inactive months are skipped, and nothing is issued outside the validity', async () => {
  const acme = await server.company([
    client,
    recurring('Piscina', 'mensual', { fecha_inicio: '2025-10-01', meses_activos: [11, 2, 3] }),
    recurring('Acaba', 'mensual', { fecha_inicio: '2026-01-15', fecha_caducidad: '2026-03-15' }),
    recurring('Acabado', 'mensual', { ultima_facturacion: '2025-12-31', fecha_caducidad: '2026-01-30' }),
    recurring('Empezará', 'mensual', { fecha_inicio: '2026-06-01' }),
  ]);
  await issueOn(acme, '2026-05-10');
  expect(await cyclesOf(acme, 'Piscina')).toEqual(['2025-11-01', '2026-02-01', '2026-03-01']);
  expect(await cyclesOf(acme, 'Acaba')).toEqual(['2026-01-15', '2026-02-15', '2026-03-15']);
  expect(await notesOf(acme)).toHaveLength(6);
});

test('[REN-01] nothing lies before the start, or the creation without one', async () => {
  const acme = await server.company([client, recurring('Nuevo', 'mensual', { fecha_creacion: '2026-04-20' })]);
  expect(await issueOn(acme, '2026-04-19')).toEqual([]);
  await issueOn(acme, '2026-05-20');
  expect(await cyclesOf(acme)).toEqual(['2026-04-20', '2026-05-20']);
});

test('[DATE-02] around midnight each company renews by its own day', async () => {
  const records = [client, recurring('Mes', 'mensual', { ultima_facturacion: '2026-03-01' })];
  const madrid = await server.company(records);
  const canary = await server.company(records, { cuenta: { zona_horaria: 'Atlantic/Canary' } });
  const companies = [madrid, canary].map(({ id, slug }, index) => ({
    id,
    slug,
    name: '',
    quota_per_minute: null,
    automatic_issuing_since: null,
    time_zone: index === 0 ? 'Europe/Madrid' : 'Atlantic/Canary',
  }));
  const { signal: stop } = new AbortController();
  const run = async () => {
    const outcomes = await Array.fromAsync(renewCompanies({ database, clock, author, stop, since }, companies));
    return outcomes.map(({ company }) => company.id);
  };
  clock.set('2026-03-31T21:59:59Z');
  expect(await run()).toEqual([]);
  clock.set('2026-03-31T22:30:00Z');
  expect(await run()).toEqual([madrid.id]);
  clock.set('2026-03-31T23:00:00Z');
  expect(await run()).toEqual([canary.id]);
  for (const company of [madrid, canary]) expect(await notesOf(company)).toMatchObject([{ date: '2026-04-01' }]);
});

test('what was issued elsewhere is not issued again, nor what an older file makes look due', async () => {
  const note = (fecha: string): FileRecord => ({
    coleccion: 'albaranes',
    ref: fecha,
    fecha,
    cliente: 'cli',
    recurrente: 'Cuota',
    lineas: [line],
  });
  const service = recurring('Cuota', 'mensual', { fecha_inicio: '2025-08-31' });
  const acme = await server.company([client, service, note('2025-12-31'), note('2026-02-02'), note('2062-01-01')]);
  await issueOn(acme, '2026-03-31');
  const issued = async () => (await cyclesOf(acme)).filter((cycle) => cycle !== null);
  expect(await issued()).toEqual(['2026-02-28', '2026-03-31']);
  await acme.load([{ ...service, ultima_facturacion: '2026-01-31' }]);
  await issueOn(acme, '2026-04-30');
  expect(await issued()).toEqual(['2026-02-28', '2026-03-31', '2026-04-30']);
});

test('the database itself lets a cycle be issued once', async () => {
  const acme = await server.company([client, recurring('Cuota', 'mensual', { ultima_facturacion: '2026-04-10' })]);
  await issueOn(acme, '2026-05-10');
  const again = database.transaction(acme.id, { write: true }, (db) =>
    db
      .insertInto('delivery_notes')
      .columns(['account_id', 'date', 'client_id', 'recurring_id', 'recurring_cycle'])
      .expression((eb) =>
        eb
          .selectFrom('delivery_notes')
          .select(['account_id', 'date', 'client_id', 'recurring_id', 'recurring_cycle'])
          .where('account_id', '=', acme.id),
      )
      .returning('id')
      .execute(),
  );
  await expect(again.catch(constraintOf)).resolves.toBe('delivery_notes_issued_cycle');
});

test('one that fails leaves nothing behind and is told, and the others are issued', async () => {
  const acme = await server.company([
    client,
    { coleccion: 'articulos', ref: 'gas', id: 3, descripcion: 'Gas', stock: 9 },
    recurring('Atascado', 'semanal', { ultima_facturacion: '2026-04-10', lineas: [{ ...line, articulo: 'gas' }] }),
    recurring('Libre', 'mensual', { ultima_facturacion: '2026-04-10' }),
  ]);
  const other = new pg.Client({ connectionString: inject('databaseUrl') });
  await other.connect();
  await other.query('begin');
  await other.query('select from product_stocks where account_id = $1 for update', [acme.id]);
  const impatient = new Database({ url: inject('databaseUrl'), statementTimeoutMs: 300, ...poolerOptions() });
  await impatient.prepareRole();
  const outcomes = await issueOn(acme, '2026-05-10', { on: impatient });
  await impatient.close();
  await other.end();
  expect(outcomes).toEqual([
    expect.objectContaining({ description: 'Atascado', cycle: '2026-04-17', failure: expect.any(Error) }),
    expect.objectContaining({ description: 'Libre', cycle: '2026-05-10', noteId: expect.any(Number) }),
  ]);
  expect(await notesOf(acme)).toMatchObject([{ service: 'Libre', number: 'A2026-0001' }]);
  expect(await issueOn(acme, '2026-05-10')).toHaveLength(4);
});

test('a recurring that somebody holds is left to them', async () => {
  const acme = await server.company([client, recurring('Cuota', 'mensual', { ultima_facturacion: '2026-04-10' })]);
  const other = new pg.Client({ connectionString: inject('databaseUrl') });
  await other.connect();
  await other.query('begin');
  await other.query('select from recurrings where account_id = $1 for update', [acme.id]);
  expect(await issueOn(acme, '2026-05-10')).toEqual([]);
  await other.query('rollback');
  await other.end();
  expect(await issueOn(acme, '2026-05-10')).toHaveLength(1);
});

test('[TEN-01] a company’s run touches no other', async () => {
  const records = [client, recurring('Cuota', 'mensual', { ultima_facturacion: '2026-04-10' })];
  const [acme, other] = [await server.company(records), await server.company(records)];
  await issueOn(acme, '2026-05-10');
  expect(await notesOf(other)).toEqual([]);
});

test('looking is one statement for however many, and each note takes as many', async () => {
  const acme = await server.company([client, recurring('A', 'mensual', { ultima_facturacion: '2026-04-10' })]);
  const recorder = recordStatements({ database });
  const countOf = async () => {
    recorder.take();
    const { length } = await issueOn(acme, '2026-05-10');
    return { length, statements: recorder.take().length };
  };
  const one = await countOf();
  await acme.load(['B', 'C', 'D'].map((ref) => recurring(ref, 'mensual', { ultima_facturacion: '2026-04-10' })));
  const three = await countOf();
  const none = await countOf();
  expect([one.length, three.length, none.length]).toEqual([1, 3, 0]);
  expect(three.statements - none.statements).toBe(3 * (one.statements - none.statements));
});

test('[REN-01] [REN-02] [REN-03] any schedules, run on any days, issue the renewal dates of the whole span, once each', async () => {
  const epoch = day('2025-01-01');
  const anyDate = (max: number) => fc.integer({ min: 0, max }).map((days) => epoch.add({ days }).toString());
  const date = (max: number) => fc.oneof(anyDate(max), fc.constantFrom('2025-01-31', '2025-03-30', '2025-08-31'));
  const perhaps = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 1 });
  const schedule = fc
    .record({
      periodicity: fc.constantFrom(...(Object.keys(CYCLES) as Periodicity[])),
      created_on: date(300),
      start_date: perhaps(date(300)),
      days: perhaps(fc.integer({ min: 0, max: 400 })),
      last_invoiced_on: perhaps(date(300)),
      active_months: perhaps(fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1 })),
      anchor_day: perhaps(fc.integer({ min: 1, max: 31 })),
    })
    .map(({ days, ...rest }): Schedule => {
      const end = day(rest.start_date ?? rest.created_on).add({ days: days ?? 0 });
      return { ...rest, end_date: days === null ? null : end.toString() };
    });
  const runDays = fc.array(date(500), { minLength: 1, maxLength: 6 }).map((days) => days.sort());
  await fc.assert(
    fc.asyncProperty(fc.array(schedule, { minLength: 1, maxLength: 8 }), runDays, async (given, days) => {
      const acme = await server.company([
        client,
        ...given.map((one, index) =>
          recurring(String(index), CYCLES[one.periodicity].name, {
            fecha_creacion: one.created_on,
            fecha_inicio: one.start_date,
            fecha_caducidad: one.end_date,
            ultima_facturacion: one.last_invoiced_on,
            meses_activos: one.active_months,
            dia_ancla: one.anchor_day,
          }),
        ),
      ]);
      for (const today of days) await issueOn(acme, today);
      const last = days.at(-1) ?? '';
      const expected = given.flatMap((one, index) => {
        const from = one.last_invoiced_on ? day(one.last_invoiced_on).add({ days: 1 }) : epoch;
        return renewalDates(one, from, day(last)).map((cycle) => ({
          service: String(index),
          cycle,
          date: days.find((today) => today >= cycle),
        }));
      });
      expect((await notesOf(acme)).map(({ service, cycle, date }) => ({ service, cycle, date }))).toEqual(expected);
    }),
    { numRuns: 6 },
  );
}, 60_000);
