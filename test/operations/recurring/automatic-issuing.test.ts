// Nothing is issued by surprise: what is issued automatically, what only by hand, and what stays due.
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { exportAccountFile } from '../../../account-file/export.ts';
import { importAccountFile } from '../../../account-file/import.ts';
import { createAccount } from '../../../account-file/new-account.ts';
import { switchAutomaticIssuing } from '../../../platform/automatic-issuing.ts';
import { queries } from '../../../platform/database.ts';
import {
  dueRenewals,
  issueRenewals,
  mayIssue,
  type Since,
  skipRenewals,
} from '../../../routers/shared/renewals/issue-renewals.ts';
import {
  CYCLES,
  type Periodicity,
  renewalDates,
  type Schedule,
} from '../../../routers/shared/renewals/renewal-dates.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-05-10T10:00:00Z');
const server = await startServer({ clock });
const { database } = server.service;
afterAll(() => server.stop());

const client: FileRecord = { coleccion: 'clientes', ref: 'cli', nombre_fiscal: 'Cliente SL' };
const line = { descripcion: 'Cuota', cantidad: 1, importe_unitario: 20 };
const recurring = (ref: string, periodicidad: string, more: object = {}): FileRecord => ({
  coleccion: 'recurrentes',
  ref,
  descripcion: ref,
  cliente: 'cli',
  periodicidad,
  fecha_creacion: '2026-01-15',
  lineas: [line],
  ...more,
});

const author = { actor: 'schedule', door: 'schedule', requestId: 'test' } as const;
const day = (text: string) => Temporal.PlainDate.from(text);
const on = (today: string) => clock.set(`${today}T10:00:00Z`);

type Account = Pick<Company, 'id'>;

/** A company whose records were imported on a day. */
const companyOn = (today: string, records: FileRecord[], automatic = false) => {
  on(today);
  return server.company([client, ...records], { cuenta: automatic ? { emision_automatica: true } : {} });
};

const daysOf = (today: string, until = today) => ({ today: day(today), until: day(until) });

/** What the schedule asks of each company first. */
const mayIssueNow = async (id: number) => {
  const found = await database.inEach([id], () =>
    queries.selectFrom('accounts').select('id').where('id', '=', id).where(mayIssue(id, clock.now())).compile(),
  );
  return found.length > 0;
};

/** The cycles that a run on this day issues, automatically unless `byHand`. */
async function run({ id }: Account, today: string, since: Since = 'automatic', until = today): Promise<string[]> {
  on(today);
  const renewals = { database, accountId: id, ...daysOf(today, until), since, now: clock.now(), author };
  const asked = since !== 'automatic' || until !== today || (await mayIssueNow(id));
  const outcomes = await Array.fromAsync(issueRenewals(renewals));
  if (!asked) expect(outcomes).toEqual([]);
  for (const outcome of outcomes) expect(outcome).not.toHaveProperty('failure');
  return outcomes.map(({ description, cycle }) => `${description} ${cycle}`);
}

const dueOf = ({ id }: Account, today: string, since: Since = 'entered') =>
  dueRenewals({ database, accountId: id, ...daysOf(today), since });
const dueCyclesOf = async (account: Account, today: string) => (await dueOf(account, today)).map(({ cycle }) => cycle);

const skip = ({ id }: Account, today: string, before: string) =>
  skipRenewals(
    { database, accountId: id, ...daysOf(today), now: Temporal.Instant.from(`${today}T10:00:00Z`), author },
    day(before),
  );

const switchOn = ({ id }: Account, today: string, value = true) =>
  database.transaction(id, { write: true }, (db) =>
    switchAutomaticIssuing(db, id, value, Temporal.Instant.from(`${today}T10:00:00Z`)),
  );

const notesOf = ({ id }: Account) =>
  database.transaction(id, {}, (db) =>
    db
      .selectFrom('delivery_notes as n')
      .innerJoin('recurrings as r', (join) =>
        join.onRef('r.account_id', '=', 'n.account_id').onRef('r.id', '=', 'n.recurring_id'),
      )
      .select(['r.description as service', 'n.recurring_cycle as cycle', 'n.date'])
      .where('n.account_id', '=', id)
      .orderBy('r.description')
      .orderBy('n.recurring_cycle')
      .execute(),
  );

const exported = ({ id }: Account) => Array.fromAsync(exportAccountFile(database, id));

/** The only recurring of an export. */
const stateOf = async (account: Account) => {
  const records = (await exported(account)).map((text) => JSON.parse(text));
  const { ultima_facturacion, pendiente_desde, ciclos_saltados } = records.find(
    ({ coleccion }) => coleccion === 'recurrentes',
  );
  return { ultima_facturacion, pendiente_desde, ciclos_saltados };
};

test('[ISS-01] [ISS-02] a company that comes from elsewhere has none of its old renewals issued, nor stock moved', async () => {
  // Weekly on Mondays, monthly on the 5th: none is on the Tuesday of the import.
  const old = Array.from({ length: 21 }, (_, index) =>
    recurring(`Servicio ${index}`, index % 2 === 0 ? 'mensual' : 'semanal', {
      fecha_creacion: index % 2 === 0 ? `20${10 + (index % 14)}-03-05` : '2021-03-01',
      fecha_caducidad: index === 4 ? '2019-12-31' : null,
      lineas: [{ ...line, articulo: 'filtro' }],
    }),
  );
  const records = [{ coleccion: 'articulos', ref: 'filtro', id: 7, descripcion: 'Filtro', stock: 50 }, ...old];
  const off = await companyOn('2026-05-12', records);
  const automatic = await companyOn('2026-05-12', records, true);
  for (const company of [off, automatic]) {
    for (let tick = 0; tick < 6; tick++) expect(await run(company, '2026-05-12')).toEqual([]);
    expect(await notesOf(company)).toEqual([]);
    const { body } = await company.get('/products/7');
    expect(body.data.articulo.stock).toBe(50);
    expect((await dueOf(company, '2026-05-12')).length).toBeGreaterThan(2000);
  }
  expect(await run(off, '2026-06-30')).toEqual([]);
  // Future cycles are issued if automatic issuing is on: ten Mondays.
  expect(await run(automatic, '2026-05-18')).toHaveLength(10);
});

test('[ISS-01] by themselves only cycles since it was switched on, or since the service came in, whichever is later', async () => {
  const early = recurring('Semana', 'semanal', { ultima_facturacion: '2026-03-02' });
  const acme = await companyOn('2026-03-09', [early]);
  expect(await run(acme, '2026-03-16')).toEqual([]);
  await switchOn(acme, '2026-03-23');
  expect(await run(acme, '2026-03-30')).toEqual(['Semana 2026-03-23', 'Semana 2026-03-30']);
  // Switching on again changes nothing; off and on starts anew.
  await switchOn(acme, '2026-04-01');
  expect(await run(acme, '2026-04-06')).toEqual(['Semana 2026-04-06']);
  await switchOn(acme, '2026-04-07', false);
  expect(await run(acme, '2026-04-14')).toEqual([]);
  await switchOn(acme, '2026-04-15');
  expect(await run(acme, '2026-04-20')).toEqual(['Semana 2026-04-20']);

  on('2026-04-22');
  await acme.load([recurring('Otra', 'semanal', { fecha_creacion: '2026-04-01' })]);
  expect(await run(acme, '2026-04-29')).toEqual(['Otra 2026-04-22', 'Semana 2026-04-27', 'Otra 2026-04-29']);
  const due = await dueOf(acme, '2026-04-29');
  expect(due.map(({ description, cycle, stays }) => [description, cycle, stays])).toEqual([
    ['Semana', '2026-03-09', null],
    ['Semana', '2026-03-16', null],
    ['Otra', '2026-04-01', 'earlier'],
    ['Otra', '2026-04-08', 'earlier'],
    ['Semana', '2026-04-13', null],
    ['Otra', '2026-04-15', 'earlier'],
  ]);
});

test('[ISS-01] a service created by the API has its first cycle the same day, where it is switched on', async () => {
  const create = async (company: Company) => {
    const made = await company.post('/recurring-invoices', {
      cliente: { cif: 'B1', nombre_fiscal: 'Cliente SL' },
      pedido: { obra: 'Cuota' },
      detalles: [{ ...line, descripcion: 'Cuota' }],
    });
    expect(made.status).toBe(200);
  };
  const automatic = await companyOn('2026-05-12', [], true);
  const off = await companyOn('2026-05-12', []);
  for (const company of [automatic, off]) await create(company);
  expect(await run(automatic, '2026-05-12')).toEqual(['Cuota 2026-05-12']);
  expect(await run(automatic, '2027-05-12')).toEqual(['Cuota 2027-05-12']);
  expect(await run(off, '2027-05-12')).toEqual([]);
});

test('[ISS-01] the day is the company’s, and a run sees that it was switched off meanwhile', async () => {
  clock.set('2026-05-31T23:30:00Z'); // Already June in Madrid.
  const acme = await server.company([client, recurring('Mes', 'mensual', { fecha_inicio: '2026-05-31' })], {
    cuenta: { emision_automatica: true },
  });
  expect(await run(acme, '2026-06-30')).toEqual(['Mes 2026-06-30']);
  const renewals = {
    database,
    accountId: acme.id,
    ...daysOf('2026-08-31'),
    since: 'automatic',
    now: clock.now(),
    author,
  } as const;
  const issued: string[] = [];
  for await (const { cycle } of issueRenewals(renewals)) {
    issued.push(cycle);
    await switchOn(acme, '2026-08-31', false);
  }
  expect(issued).toEqual(['2026-07-31']);
});

test('[ISS-01] by hand: since it came in, earlier ones on purpose, and later ones leave them due', async () => {
  const acme = await companyOn('2026-04-10', [recurring('Mes', 'mensual', { ultima_facturacion: '2026-01-31' })]);
  expect(await run(acme, '2026-05-31', 'entered')).toEqual(['Mes 2026-04-30', 'Mes 2026-05-31']);
  expect(await run(acme, '2026-05-31', 'entered')).toEqual([]);
  expect(await dueCyclesOf(acme, '2026-05-31')).toEqual(['2026-02-28', '2026-03-31']);
  expect(await stateOf(acme)).toEqual({
    ultima_facturacion: '2026-05-31',
    pendiente_desde: '2026-02-28',
    ciclos_saltados: [],
  });
  // The report and the forecast use the dates only.
  const { body } = await acme.get('/recurring/renewals', { fecha_inicio: '2026-02-01', fecha_fin: '2026-06-30' });
  expect(body.data.renovaciones_previstas.num).toBe(5);
  const treasury = await acme.get('/treasury/forecast', { fecha_inicio: '2026-05-31', fecha_fin: '2026-06-30' });
  expect(treasury.body.data.periodos.map(({ recurrentes }: { recurrentes: number }) => recurrentes)).toEqual([
    48.4, 24.2,
  ]);

  expect(await run(acme, '2026-05-31', day('2026-02-01'), '2026-03-30')).toEqual(['Mes 2026-02-28']);
  expect(await dueCyclesOf(acme, '2026-05-31')).toEqual(['2026-03-31']);
  expect(await run(acme, '2026-05-31', day('2026-03-01'))).toEqual(['Mes 2026-03-31']);
  expect(await dueCyclesOf(acme, '2026-05-31')).toEqual([]);
  expect(await stateOf(acme)).toMatchObject({ ultima_facturacion: '2026-05-31', pendiente_desde: null });
  expect(await run(acme, '2026-06-30', 'entered')).toEqual(['Mes 2026-06-30']);
});

test('[ISS-01] skipped cycles are never issued, nor due again, and are as many as are due before the day', async () => {
  const service = recurring('Mes', 'mensual', { ultima_facturacion: '2025-12-31' });
  const acme = await companyOn('2026-04-10', [service], true);
  const other = await companyOn('2026-04-10', [service]);
  expect(await run(acme, '2026-04-30')).toEqual(['Mes 2026-04-30']);
  const skipped = await skip(acme, '2026-04-30', '2026-03-31');
  expect(skipped.map(({ cycle }) => cycle)).toEqual(['2026-01-31', '2026-02-28']);
  expect(await stateOf(acme)).toEqual({
    ultima_facturacion: '2026-04-30',
    pendiente_desde: '2026-03-31',
    ciclos_saltados: ['2026-01-31', '2026-02-28'],
  });
  expect(await skip(acme, '2026-04-30', '2026-03-31')).toEqual([]);
  expect(await run(acme, '2026-04-30', day('2025-01-01'))).toEqual(['Mes 2026-03-31']);
  expect(await dueCyclesOf(acme, '2026-04-30')).toEqual([]);
  // Importing the same file again does not make them due again.
  await acme.load([service]);
  expect(await dueCyclesOf(acme, '2026-04-30')).toEqual([]);
  expect((await notesOf(acme)).length).toBe(2);
  expect(await dueCyclesOf(other, '2026-04-30')).toHaveLength(4);

  const audits = await database.transaction(acme.id, {}, (db) =>
    db
      .selectFrom('journal_entries')
      .select(['operation', 'record_table'])
      .where('account_id', '=', acme.id)
      .where('operation', '=', 'skip renewals')
      .execute(),
  );
  expect(audits).toEqual([{ operation: 'skip renewals', record_table: 'recurrings' }]);
});

test('[ISS-01] what is left behind and skipped goes with the file, byte for byte, and means the same', async () => {
  const acme = await companyOn('2026-04-10', [recurring('Mes', 'mensual', { ultima_facturacion: '2025-12-31' })], true);
  await run(acme, '2026-04-30');
  await skip(acme, '2026-04-30', '2026-02-01');
  const lines = await exported(acme);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ emision_automatica: true });
  const copy = await createAccount(database, { slug: `copy-${acme.slug}`, name: 'Copia' });
  await importAccountFile(database, copy.id, lines, { now: Temporal.Instant.from('2026-05-05T10:00:00Z') });
  expect(await exported(copy)).toEqual(lines);
  expect(await dueCyclesOf(copy, '2026-05-31')).toEqual(await dueCyclesOf(acme, '2026-05-31'));
  expect(await run(copy, '2026-05-31')).toEqual(['Mes 2026-05-31']);
  expect(await dueCyclesOf(copy, '2026-05-31')).toEqual(['2026-02-28', '2026-03-31']);
});

test('[ISS-01] importing leaves the switch alone unless the file says how it is to be', async () => {
  const acme = await companyOn('2026-05-01', [recurring('Semana', 'semanal', { fecha_inicio: '2026-05-01' })]);
  const load = async (today: string, emision_automatica?: boolean) => {
    const cuenta = { coleccion: 'cuenta', ref: 'cuenta', nombre: 'Prueba', emision_automatica };
    const now = Temporal.Instant.from(`${today}T10:00:00Z`);
    return await importAccountFile(database, acme.id, [JSON.stringify(cuenta)], { now });
  };
  const since = () =>
    database.transaction(acme.id, {}, async (db) => {
      const [row] = await db
        .selectFrom('accounts')
        .select('automatic_issuing_since')
        .where('id', '=', acme.id)
        .execute();
      return row?.automatic_issuing_since;
    });
  expect(await since()).toBe(null);
  expect(await load('2026-05-08', true)).toMatchObject({ changed: 1 });
  expect(await load('2026-05-15', true)).toMatchObject({ changed: 0 });
  expect(await load('2026-05-15')).toMatchObject({ changed: 0 });
  expect(await since()).toBe('2026-05-08');
  await load('2026-05-15', false);
  expect(await since()).toBe(null);
});

test('[ISS-03] a renewal of 0 or less stays due, by itself and by hand, and is issued once it is worth something', async () => {
  const free = recurring('Gratis', 'mensual', {
    fecha_inicio: '2026-05-10',
    lineas: [{ ...line, importe_unitario: 0 }],
  });
  const negative = recurring('Abono', 'mensual', {
    fecha_inicio: '2026-05-10',
    lineas: [line, { ...line, importe_unitario: -22.35 }],
  });
  const cent = recurring('Céntimo', 'mensual', {
    fecha_inicio: '2026-05-10',
    lineas: [{ ...line, importe_unitario: 0.01 }],
  });
  const acme = await companyOn('2026-05-10', [free, negative, cent], true);
  expect(await run(acme, '2026-05-10')).toEqual(['Céntimo 2026-05-10']);
  for (const since of ['entered', day('2026-01-01')] as const) expect(await run(acme, '2026-05-10', since)).toEqual([]);
  expect((await dueOf(acme, '2026-05-10')).map(({ amount, stays }) => [amount, stays])).toEqual([
    [0, 'amount'],
    [-2.35, 'amount'],
  ]);
  await acme.load([{ ...free, lineas: [line] }]);
  expect(await run(acme, '2026-06-10')).toEqual(['Gratis 2026-05-10', 'Gratis 2026-06-10', 'Céntimo 2026-06-10']);
});

test('[ISS-01] whatever happens, nothing before the switch or the entry issues itself, no cycle twice, and none is lost', async () => {
  const epoch = day('2026-01-01');
  const dayOf = (offset: number) => epoch.add({ days: offset }).toString();
  const date = (min: number, max: number) => fc.integer({ min, max }).map(dayOf);
  const schedule: fc.Arbitrary<Schedule> = fc.record({
    periodicity: fc.constantFrom(...(Object.keys(CYCLES) as Periodicity[])),
    created_on: date(-200, 60),
    start_date: fc.option(date(-200, 60)),
    end_date: fc.constant(null),
    last_invoiced_on: fc.option(date(-200, 30)),
    active_months: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1 })),
    anchor_day: fc.option(fc.integer({ min: 1, max: 31 })),
  });
  const action = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('schedule' as const) }) },
    fc.record({ kind: fc.constant('by hand' as const) }),
    fc.record({
      kind: fc.constant('since' as const),
      from: fc.integer({ min: -250, max: 0 }),
      to: fc.integer({ min: 0, max: 150 }),
    }),
    fc.record({ kind: fc.constant('skip' as const), before: fc.integer({ min: -250, max: 1 }) }),
    fc.record({ kind: fc.constant('switch' as const), value: fc.boolean() }),
    fc.record({ kind: fc.constant('enter' as const), schedule }),
    fc.record({ kind: fc.constant('move' as const) }),
  );
  const history = fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), action), { minLength: 3, maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(schedule, history, async (first, steps) => {
      on(dayOf(0));
      let company: Account & Partial<Company> = await server.company([client]);
      const load = async (records: FileRecord[], now: string) => {
        const lines = [{ coleccion: 'cuenta', ref: 'cuenta', nombre: 'Prueba' }, client, ...records];
        const at = Temporal.Instant.from(`${now}T10:00:00Z`);
        await importAccountFile(
          database,
          company.id,
          lines.map((record) => JSON.stringify(record)),
          { now: at },
        );
      };
      const services = new Map<string, { schedule: Schedule; entered: string }>();
      const enter = async (one: Schedule, today: string) => {
        const ref = `s${services.size}`;
        services.set(ref, { schedule: one, entered: today });
        await load([recordOf(ref, one)], today);
      };
      let at = 0;
      await enter(first, dayOf(at));
      let switchedOn: string | null = null;
      const issued = new Set<string>();
      const skipped = new Set<string>();
      const note = (texts: string[], allowed: (ref: string, cycle: string) => boolean) => {
        for (const text of texts) {
          const [ref = '', cycle = ''] = text.split(' ');
          expect(issued, 'issued once').not.toContain(text);
          expect(skipped, 'not what is skipped').not.toContain(text);
          expect(allowed(ref, cycle), text).toBe(true);
          issued.add(text);
        }
      };
      const enteredOn = (ref: string) => services.get(ref)?.entered ?? '';
      for (const [days, step] of steps) {
        at += days;
        const today = dayOf(at);
        if (step.kind === 'schedule') {
          const since = switchedOn;
          note(await run(company, today), (ref, cycle) => since !== null && cycle >= since && cycle >= enteredOn(ref));
        } else if (step.kind === 'by hand') {
          note(await run(company, today, 'entered'), (ref, cycle) => cycle >= enteredOn(ref));
        } else if (step.kind === 'since') {
          const [from, to] = [day(today).add({ days: step.from }), day(today).add({ days: step.from + step.to })];
          const until = Temporal.PlainDate.compare(to, day(today)) < 0 ? to.toString() : today;
          note(await run(company, today, from, until), (_, cycle) => cycle >= from.toString() && cycle <= until);
        } else if (step.kind === 'skip') {
          const before = day(today).add({ days: step.before }).toString();
          for (const { description, cycle } of await skip(company, today, before)) {
            expect(cycle < before && cycle <= today).toBe(true);
            skipped.add(`${description} ${cycle}`);
          }
        } else if (step.kind === 'switch') {
          await switchOn(company, today, step.value);
          switchedOn = step.value ? (switchedOn ?? today) : null;
        } else if (step.kind === 'enter') await enter(step.schedule, today);
        else {
          // Moved to another service, which imports everything on this day.
          const lines = await exported(company);
          company = await createAccount(database, { slug: `moved-${crypto.randomUUID()}`, name: 'Mudada' });
          await importAccountFile(database, company.id, lines, { now: Temporal.Instant.from(`${today}T10:00:00Z`) });
          for (const service of services.values()) service.entered = today;
          if (switchedOn) switchedOn = today;
        }
      }
      const last = dayOf(at);
      const due = (await dueOf(company, last)).map(({ description, cycle }) => `${description} ${cycle}`);
      const all = [...services].flatMap(([ref, { schedule: one }]) => {
        const from = one.last_invoiced_on ? day(one.last_invoiced_on).add({ days: 1 }) : day('2000-01-01');
        return renewalDates(one, from, day(last)).map((cycle) => `${ref} ${cycle}`);
      });
      expect([...issued, ...skipped, ...due].toSorted()).toEqual(all.toSorted());
      expect((await notesOf(company)).map(({ service, cycle }) => `${service} ${cycle}`).toSorted()).toEqual(
        [...issued].toSorted(),
      );
    }),
    { numRuns: 12 },
  );
}, 120_000);

const recordOf = (ref: string, one: Schedule) =>
  recurring(ref, CYCLES[one.periodicity].name, {
    fecha_creacion: one.created_on,
    fecha_inicio: one.start_date,
    ultima_facturacion: one.last_invoiced_on,
    meses_activos: one.active_months,
    dia_ancla: one.anchor_day,
  });

test('[ISS-01] of many companies the schedule visits those that may have something to issue, by their own day', async () => {
  const weekly = [recurring('Semana', 'semanal', { ultima_facturacion: '2026-05-03' })];
  const monthEnd = [recurring('Mes', 'mensual', { fecha_inicio: '2025-12-31', ultima_facturacion: '2026-01-31' })];
  const ended = [recurring('Fin', 'semanal', { ultima_facturacion: '2026-05-03', fecha_caducidad: '2026-05-09' })];
  const visited = async (company: Account, now: string) => {
    clock.set(now);
    return await mayIssueNow(company.id);
  };
  const company = await companyOn('2026-02-01', weekly, true);
  expect(await visited(company, '2026-05-09T21:59:59Z')).toBe(false);
  expect(await visited(company, '2026-05-09T22:00:00Z')).toBe(true);
  expect(await run(company, '2026-05-10')).toEqual(['Semana 2026-05-10']);
  expect(await visited(company, '2026-05-10T12:00:00Z')).toBe(false);

  const off = await companyOn('2026-02-01', weekly);
  expect(await visited(off, '2026-05-20T12:00:00Z')).toBe(false);
  const over = await companyOn('2026-02-01', ended, true);
  expect(await visited(over, '2026-05-20T12:00:00Z')).toBe(false);
  const monthly = await companyOn('2026-01-31', monthEnd, true);
  expect(await visited(monthly, '2026-01-31T12:00:00Z')).toBe(false);
  expect(await run(monthly, '2026-02-27')).toEqual([]);
  expect(await run(monthly, '2026-02-28')).toEqual(['Mes 2026-02-28']);
  expect(await run(monthly, '2026-03-30')).toEqual([]);
  expect(await run(monthly, '2026-03-31')).toEqual(['Mes 2026-03-31']);
});
