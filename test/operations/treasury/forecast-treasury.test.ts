import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const TODAY = '2026-03-10';
const clock = new TestClock(`${TODAY}T10:00:00Z`);
const server = await startServer({ clock });
afterAll(() => server.stop());

const url = '/treasury/forecast';
const client: FileRecord = { coleccion: 'clientes', ref: 'cli', nombre_fiscal: 'Cliente SL' };
const supplier: FileRecord = { coleccion: 'proveedores', ref: 'pro', nombre_fiscal: 'Proveedor SA' };
const bank = (saldo_inicial: number): FileRecord => ({
  coleccion: 'cuentas_tesoreria',
  ref: 'banco',
  titulo: 'Banco',
  tipo: 'banco',
  saldo_inicial,
});
const movement = (fecha: string, importe: number): FileRecord => ({
  coleccion: 'movimientos_tesoreria',
  cuenta: 'banco',
  fecha,
  concepto: 'x',
  importe,
});
const lineas = [{ descripcion: 'Obra', cantidad: 1, importe_unitario: 100 }];
const sale = (...vencimientos: [fecha: string, importe: number, cobrado?: number][]): FileRecord => ({
  coleccion: 'facturas',
  fecha: '2026-01-01',
  cliente: 'cli',
  lineas,
  vencimientos: vencimientos.map(([fecha, importe, cobrado = 0]) => ({ fecha, importe, cobrado })),
});
const purchase = (...vencimientos: [fecha: string, importe: number, pagado?: number][]): FileRecord => ({
  coleccion: 'facturas_compra',
  numero: 'C',
  fecha: '2026-01-01',
  proveedor: 'pro',
  lineas,
  pagado: vencimientos.reduce((sum, [, , pagado = 0]) => sum + pagado, 0),
  vencimientos: vencimientos.map(([fecha, importe, pagado = 0]) => ({ fecha, importe, pagado })),
});
const recurring = (periodicidad: string, more: object = {}): FileRecord => ({
  coleccion: 'recurrentes',
  descripcion: 'Cuota',
  cliente: 'cli',
  periodicidad,
  fecha_creacion: '2026-01-01',
  lineas,
  ...more,
});

const ask = async (company: Company, fecha_inicio: string, fecha_fin: string, agrupar?: string) => {
  const { status, body } = await company.get(url, { fecha_inicio, fecha_fin, agrupar });
  expect([status, body.errorMsg]).toEqual([200, '']);
  return body.data as Forecast;
};
interface Forecast {
  saldo_inicial: number;
  periodos: {
    periodo: string;
    movimientos: number;
    cobros: number;
    pagos: number;
    recurrentes: number;
    saldo_final: number;
  }[];
}

test('by month: what has happened, what is pending, what renews, and the balance that follows', async () => {
  const acme = await server.company([
    client,
    supplier,
    bank(1000),
    movement('2026-02-28', 10.1),
    movement('2026-03-01', -200),
    movement('2026-03-09', 50.2),
    sale(['2026-03-31', 100, 39.9], ['2026-04-01', 7]),
    purchase(['2026-05-31', 60.05], ['2026-06-01', 1]),
    recurring('mensual', { fecha_inicio: '2026-01-31', ultima_facturacion: '2026-02-28', dia_ancla: 31 }),
  ]);
  expect(await ask(acme, '2026-03-01', '2026-05-31')).toEqual({
    saldo_inicial: 1010.1,
    periodos: [
      { periodo: '2026-03', movimientos: -149.8, cobros: 60.1, pagos: 0, recurrentes: 121, saldo_final: 1041.4 },
      { periodo: '2026-04', movimientos: 0, cobros: 7, pagos: 0, recurrentes: 121, saldo_final: 1169.4 },
      { periodo: '2026-05', movimientos: 0, cobros: 0, pagos: 60.05, recurrentes: 121, saldo_final: 1230.35 },
    ],
  });
});

test('by week: from Monday to Sunday under its ISO number, cut to the range, also across a year', async () => {
  const acme = await server.company([
    client,
    bank(0),
    // The day before the range, a Sunday, the first Monday, and the day after the range.
    sale(['2026-12-30', 1], ['2027-01-03', 2], ['2027-01-04', 4], ['2027-01-13', 8]),
  ]);
  const { periodos } = await ask(acme, '2026-12-31', '2027-01-12', 'semana');
  expect(periodos.map(({ periodo, cobros }) => [periodo, cobros])).toEqual([
    ['2026-W53', 3],
    ['2027-W01', 4],
    ['2027-W02', 0],
  ]);
});

test('every period of the range is there, at zero too', async () => {
  const empty = await server.company();
  const year = await ask(empty, '2026-01-31', '2026-12-01');
  expect(year.periodos.map(({ periodo }) => Number(periodo.slice(5)))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  for (const { periodo, ...figures } of year.periodos) {
    expect(figures, periodo).toEqual({ movimientos: 0, cobros: 0, pagos: 0, recurrentes: 0, saldo_final: 0 });
  }
  expect((await ask(empty, '2026-01-01', '2026-12-31', 'semana')).periodos.length).toBe(53);
});

test('what is overdue counts as of today, what comes before the range in its first period, nothing in the past', async () => {
  const acme = await server.company([
    client,
    supplier,
    bank(0),
    movement('2026-01-20', 5),
    sale(['2020-01-01', 100], ['2026-02-15', 20], ['2026-03-20', 3]),
    purchase(['2026-03-09', 50]),
    recurring('mensual', { fecha_inicio: '2026-01-15', ultima_facturacion: '2026-01-15' }),
  ]);
  const rows = ({ periodos }: Forecast) =>
    periodos.map(({ cobros, pagos, recurrentes, saldo_final }) => [cobros, pagos, recurrentes, saldo_final]);
  expect(rows(await ask(acme, '2026-01-01', '2026-04-30'))).toEqual([
    [0, 0, 0, 5],
    [0, 0, 0, 5],
    [123, 50, 242, 320],
    [0, 0, 121, 441],
  ]);
  // The balance of a day is the same in every range.
  expect(rows(await ask(acme, '2026-04-20', '2026-04-30'))).toEqual([[123, 50, 363, 441]]);
  expect(
    rows(await ask(acme, '2026-04-01', '2026-04-30', 'semana'))
      .at(-1)
      ?.at(-1),
  ).toBe(441);
  expect(rows(await ask(acme, '2026-01-01', '2026-03-09')).at(-1)).toEqual([0, 0, 0, 5]);
});

test('[REN-01] [REN-03] renewals that are still to be issued, with VAT by rate, within validity and active months', async () => {
  const acme = await server.company([
    client,
    // VAT is 6.33 + 0.01 + 0.01, rounded rate by rate; of the sum it would be 6.34.
    recurring('mensual', {
      ultima_facturacion: '2026-04-10',
      fecha_inicio: '2026-01-10',
      fecha_caducidad: '2026-09-10',
      meses_activos: [3, 4, 5, 6, 9, 10],
      lineas: [
        { descripcion: 'a', cantidad: 3, importe_unitario: 10.05 },
        { descripcion: 'b', cantidad: 1, importe_unitario: 0.13, iva: 4 },
        { descripcion: 'c', cantidad: 1, importe_unitario: 0.05, iva: 10 },
      ],
    }),
  ]);
  const { periodos } = await ask(acme, '2026-03-01', '2026-12-31');
  expect(periodos.map(({ recurrentes }) => recurrentes)).toEqual([0, 0, 36.68, 36.68, 0, 0, 36.68, 0, 0, 0]);
  // Cycles with a note are issued, whatever the last invoicing; a note without a cycle covers all up to its date.
  const note = (fecha: string, ciclo_recurrente?: string): FileRecord => ({
    coleccion: 'albaranes',
    fecha,
    ciclo_recurrente,
    cliente: 'cli',
    recurrente: 'cuota',
    lineas,
  });
  const monthly = recurring('mensual', { ref: 'cuota', fecha_inicio: '2026-01-05' });
  const other = await server.company([client, monthly, note('2026-01-30'), note('2026-03-01', '2026-05-05')]);
  expect((await ask(other, TODAY, '2026-06-30')).periodos.map(({ recurrentes }) => recurrentes)).toEqual([
    242, 121, 0, 121,
  ]);
});

test('[REN-05] five years at most, of range and from today; every problem names its parameter', async () => {
  const acme = await server.company();
  const refused = async (query: object) => {
    const { status, body } = await acme.get(url, { ...query });
    return [status, body.errorMsg, ...body.data.map(({ campo }: { campo: string }) => campo)];
  };
  await ask(acme, '2021-03-10', '2026-03-10');
  await ask(acme, '2026-03-10', '2031-03-10', 'semana');
  const long = [400, 'El rango máximo es de 5 años', 'fecha_fin'];
  expect(await refused({ fecha_inicio: '2021-03-10', fecha_fin: '2026-03-11' })).toEqual(long);
  expect(await refused({ fecha_inicio: '2030-01-01', fecha_fin: '2031-03-11' })).toEqual([
    400,
    expect.stringContaining('5 años desde hoy'),
    'fecha_fin',
  ]);
  expect((await refused({})).slice(2)).toEqual(['fecha_inicio', 'fecha_fin']);
  expect((await refused({ fecha_inicio: '2026-02-30', fecha_fin: '2026-03-01' })).at(-1)).toBe('fecha_inicio');
  expect((await refused({ fecha_inicio: '2026-02-03', fecha_fin: '2026-02-02' })).at(-1)).toBe('fecha_fin');
  expect((await refused({ fecha_inicio: '2026-02-01', fecha_fin: '2026-02-02', agrupar: 'dia' })).at(-1)).toBe(
    'agrupar',
  );
});

test('[TEN-01] another company has a treasury of its own', async () => {
  await server.company([
    client,
    supplier,
    bank(5),
    sale(['2026-04-01', 1]),
    purchase(['2026-04-01', 2]),
    recurring('anual'),
  ]);
  const other = await server.company();
  expect(await ask(other, '2026-04-01', '2026-04-30')).toMatchObject({
    saldo_inicial: 0,
    periodos: [{ cobros: 0, pagos: 0, recurrentes: 0, saldo_final: 0 }],
  });
});

// The naive way, in whole cents, day by day.

const epoch = Temporal.PlainDate.from('2025-10-01');
const dateAt = (days: number) => epoch.add({ days }).toString();
/** Days, often those that are difficult in calendars. */
const someDay = (max: number) =>
  fc.oneof(
    fc.integer({ min: 0, max }).map(dateAt),
    fc.constantFrom('2025-12-28', '2025-12-29', '2025-12-31', '2026-01-01', '2026-01-31', '2026-02-28', '2026-03-01'),
    fc.constantFrom('2026-03-09', TODAY, '2026-03-11', '2026-03-31', '2026-12-31', '2027-01-03', '2027-01-04'),
  );
const money = fc.integer({ min: -300_000, max: 300_000 });

interface Due {
  sale: boolean;
  date: string;
  cents: number;
  paid: number;
}
interface Service {
  cycle: 'semanal' | 'quincenal' | 'mensual' | 'bimensual' | 'trimestral' | 'semestral' | 'anual';
  created: string;
  start: string | null;
  end: string | null;
  invoiced: string | null;
  months: number[] | null;
  /** Its notes: the day of one without a cycle, and the indexes of cycles with one. */
  noted: string | null;
  issued: number[];
  /** Amounts of the lines, each with quantity 1. */
  lines: { cents: number; vat: number }[];
}
interface Books {
  opening: number;
  movements: { date: string; cents: number }[];
  dues: Due[];
  services: Service[];
}

const due: fc.Arbitrary<Due> = fc
  .record({ sale: fc.boolean(), date: someDay(700), cents: money, share: fc.constantFrom(0, 0, 33, 50, 100, 110) })
  .map(({ share, ...given }) => ({ ...given, paid: Math.trunc((given.cents * share) / 100) }));
const service: fc.Arbitrary<Service> = fc
  .record({
    cycle: fc.constantFrom('semanal', 'quincenal', 'mensual', 'bimensual', 'trimestral', 'semestral', 'anual'),
    created: someDay(300),
    start: fc.option(someDay(300)),
    end: fc.option(someDay(900)),
    invoiced: fc.option(someDay(300)),
    months: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1 })),
    noted: fc.option(someDay(300)),
    issued: fc.uniqueArray(fc.nat({ max: 12 }), { maxLength: 3 }),
    lines: fc.array(fc.record({ cents: fc.integer({ min: -999, max: 99_999 }), vat: fc.constantFrom(0, 4, 10, 21) }), {
      minLength: 1,
      maxLength: 4,
    }),
  })
  .map((given) => (given.start && given.end && given.end < given.start ? { ...given, end: given.start } : given));
const books: fc.Arbitrary<Books> = fc.record({
  opening: money,
  movements: fc.array(fc.record({ date: someDay(300), cents: money }), { maxLength: 12 }),
  dues: fc.array(due, { maxLength: 20 }),
  services: fc.array(service, { maxLength: 6 }),
});

/** Rounds half away from zero. */
const rounded = (hundredths: number) => Math.sign(hundredths) * Math.round(Math.abs(hundredths) / 100);

/** The days in a long stretch around the range on which a service renews, in order. */
function renewalsOf({ cycle, created, start, end, invoiced, months }: Service): string[] {
  const anchor = Temporal.PlainDate.from(invoiced ?? start ?? created);
  const floor = start ?? [created, invoiced ?? created].toSorted()[0] ?? created;
  const step = { semanal: 7, quincenal: 14, mensual: 1, bimensual: 2, trimestral: 3, semestral: 6, anual: 12 }[cycle];
  const found: string[] = [];
  for (let k = -60; k <= 200; k++) {
    const byDays = cycle === 'semanal' || cycle === 'quincenal';
    const day = anchor.add(byDays ? { days: k * step } : { months: k * step });
    const text = day.toString();
    const active = cycle === 'anual' || months === null || months.includes(day.month);
    if (text >= floor && (end === null || text <= end) && active) found.push(text);
  }
  return found;
}

/** The renewals with a note. */
const issuedOf = (service: Service) => renewalsOf(service).filter((_, index) => service.issued.includes(index));

/** The renewals still to be issued. */
function expectedOf(service: Service): Set<string> {
  const { invoiced, noted } = service;
  const issued = issuedOf(service);
  const covered = [invoiced ?? '', noted !== null && noted <= TODAY ? noted : ''].toSorted()[1] ?? '';
  return new Set(renewalsOf(service).filter((day) => day > covered && !issued.includes(day)));
}

function cycleCents({ lines }: Service): number {
  const bases = new Map<number, number>();
  for (const { cents, vat } of lines) bases.set(vat, (bases.get(vat) ?? 0) + cents);
  return [...bases].reduce((sum, [vat, base]) => sum + base + rounded(base * vat), 0);
}

/** Books with each service's renewals still to be issued. */
const known = (given: Books) => ({
  ...given,
  renewing: given.services.map((each) => ({ days: expectedOf(each), cents: cycleCents(each) })),
});
type Known = ReturnType<typeof known>;

/** Every relevant day: a period's figures are the sums of its days. */
function slowly({ opening, movements, dues, renewing }: Known, from: string, to: string, weekly: boolean): Forecast {
  const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
  const happened = (when: (date: string) => boolean) =>
    sum(movements.filter(({ date }) => when(date)).map(({ cents }) => cents));
  let balance = opening + happened((date) => date < from);
  const forecast: Forecast = { saldo_inicial: balance / 100, periodos: [] };
  // Future amounts that are not in a period yet.
  const waiting = { cobros: 0, pagos: 0, recurrentes: 0 };
  const first =
    [from, ...dues.map(({ date }) => date), ...renewing.flatMap(({ days }) => [...days])].toSorted()[0] ?? from;
  for (let day = Temporal.PlainDate.from(first); day.toString() <= to; day = day.add({ days: 1 })) {
    const text = day.toString();
    for (const { sale, date, cents, paid } of dues) {
      if (date === text) waiting[sale ? 'cobros' : 'pagos'] += cents - paid;
    }
    for (const { days, cents } of renewing) if (days.has(text)) waiting.recurrentes += cents;
    if (text < from) continue;
    const thursday = day.add({ days: 4 - day.dayOfWeek });
    const week = String(Math.ceil(thursday.dayOfYear / 7)).padStart(2, '0');
    const periodo = weekly ? `${thursday.year}-W${week}` : text.slice(0, 7);
    if (forecast.periodos.at(-1)?.periodo !== periodo) {
      const none = { movimientos: 0, cobros: 0, pagos: 0, recurrentes: 0, saldo_final: 0 };
      forecast.periodos.push({ periodo, ...none });
    }
    const period = forecast.periodos.at(-1);
    if (!period) throw new Error('There is one by now');
    const moved = happened((date) => date === text);
    period.movimientos += moved;
    balance += moved;
    if (text >= TODAY) {
      period.cobros += waiting.cobros;
      period.pagos += waiting.pagos;
      period.recurrentes += waiting.recurrentes;
      balance += waiting.cobros - waiting.pagos + waiting.recurrentes;
      Object.assign(waiting, { cobros: 0, pagos: 0, recurrentes: 0 });
    }
    period.saldo_final = balance;
  }
  const euros = ({ periodo, ...figures }: Forecast['periodos'][number]) => ({
    periodo,
    movimientos: figures.movimientos / 100,
    cobros: figures.cobros / 100,
    pagos: figures.pagos / 100,
    recurrentes: figures.recurrentes / 100,
    saldo_final: figures.saldo_final / 100,
  });
  return { ...forecast, periodos: forecast.periodos.map(euros) };
}

const recordsOf = ({ opening, movements, dues, services }: Books): FileRecord[] => [
  client,
  supplier,
  bank(opening / 100),
  ...movements.map(({ date, cents }) => movement(date, cents / 100)),
  ...dues.map(({ sale: isSale, date, cents, paid }) => (isSale ? sale : purchase)([date, cents / 100, paid / 100])),
  ...services.map((each, index) =>
    recurring(each.cycle, {
      ref: `s${index}`,
      fecha_creacion: each.created,
      fecha_inicio: each.start,
      fecha_caducidad: each.end,
      ultima_facturacion: each.invoiced,
      meses_activos: each.months,
      lineas: each.lines.map(({ cents, vat }) => ({
        descripcion: 'x',
        cantidad: 1,
        importe_unitario: cents / 100,
        iva: vat,
      })),
    }),
  ),
  ...services.flatMap((each, index) =>
    [...issuedOf(each).map((cycle) => ({ cycle, date: cycle })), { cycle: null, date: each.noted }].flatMap(
      ({ cycle, date }): FileRecord[] =>
        date === null
          ? []
          : [
              {
                coleccion: 'albaranes',
                fecha: date,
                cliente: 'cli',
                recurrente: `s${index}`,
                ciclo_recurrente: cycle,
                lineas,
              },
            ],
    ),
  ),
];

test('[REN-01] [REN-02] [REN-03] the same as the slow way, to the cent, for any books and any range', {
  timeout: 120_000,
}, async () => {
  const range = fc.tuple(someDay(450), fc.oneof(fc.integer({ min: 0, max: 45 }), fc.integer({ min: 0, max: 500 })));
  await fc.assert(
    fc.asyncProperty(books, fc.array(range, { minLength: 2, maxLength: 4 }), async (given, ranges) => {
      const company = await server.company(recordsOf(given));
      const all = known(given);
      for (const [from, days] of ranges) {
        const to = Temporal.PlainDate.from(from).add({ days }).toString();
        for (const agrupar of ['semana', 'mes']) {
          const about = `${agrupar} ${from} ${to}`;
          expect(await ask(company, from, to, agrupar), about).toEqual(slowly(all, from, to, agrupar === 'semana'));
        }
        // The forecast counts as pending up to a day what the due dates list as pending up to that day.
        if (to < TODAY) continue;
        const { vencimientos } = (await company.get('/treasury/due-dates', { fecha_fin: to, pendiente: true })).body
          .data;
        const listed = (tipo: string) =>
          vencimientos
            .filter((due: { tipo: string }) => due.tipo === tipo)
            .reduce((sum: number, { pendiente }: { pendiente: number }) => sum + Math.round(pendiente * 100), 0);
        const { periodos } = await ask(company, from, to);
        const forecast = (figure: 'cobros' | 'pagos') =>
          periodos.reduce((sum, period) => sum + Math.round(period[figure] * 100), 0);
        expect([forecast('cobros'), forecast('pagos')]).toEqual([listed('cobro'), listed('pago')]);
      }
    }),
    { numRuns: 20 },
  );
});

test('a due date of a fraction of a cent is not lost in the balance', async () => {
  const acme = await server.company([client, bank(0.1), sale(['2026-04-01', 0.123456], ['2026-05-01', 0.2])]);
  const { periodos } = await ask(acme, '2026-04-01', '2026-05-31');
  expect(periodos.map(({ saldo_final }) => saldo_final)).toEqual([0.223456, 0.423456]);
});
