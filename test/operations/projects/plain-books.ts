// Sales, purchases and hours of a company summed naively and exactly over its account file, as a reference for the reports that
// SQL computes. And random companies with enough documents and shifts.
import fc from 'fast-check';
import type { FileRecord } from '../../helpers/world.ts';

/** Decimals are integers: millionths. */
export const millionths = (value: unknown): bigint =>
  BigInt(
    Number(value ?? 0)
      .toFixed(6)
      .replace('.', ''),
  );
const MILLION = 1_000_000n;
const abs = (value: bigint) => (value < 0n ? -value : value);
/** Rounded half away from zero. */
const divide = (value: bigint, by: bigint) => {
  const size = (2n * abs(value) + abs(by)) / (2n * abs(by));
  return value < 0n !== by < 0n ? -size : size;
};
/** The JSON number of an amount in hundredths. */
export const shown = (hundredths: bigint): number => {
  const digits = String(abs(hundredths)).padStart(3, '0');
  return Number(`${hundredths < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`);
};
export const plus = (values: readonly bigint[]) => values.reduce((sum, value) => sum + value, 0n);

export interface Line {
  day: string;
  document: string;
  client: string;
  article: string | null;
  project: string | null;
  cents: bigint;
}
export interface Shift {
  day: string;
  project: string | null;
  /** Millionths of a second. */
  worked: bigint;
  /** Cost: millionths of a second times millionths of an amount per hour. */
  staff: bigint;
  machine: bigint;
}
export interface Books {
  sales: Line[];
  purchases: Line[];
  shifts: Shift[];
  /** Records by collection and reference. */
  of(coleccion: string, ref: unknown): FileRecord | undefined;
}

/** A line's amount in cents, without VAT. */
const centsOf = (line: FileRecord): bigint => {
  const price = millionths(line.cantidad) * millionths(line.importe_unitario);
  return divide(price * (100n * MILLION - millionths(line.descuento)), MILLION ** 3n);
};

/** A document's base and its total with VAT, which is rounded rate by rate. In cents. */
export function amountsOf(document: FileRecord): { base: bigint; total: bigint } {
  const rates = Map.groupBy(listOf(document.lineas), ({ iva }) => millionths(iva));
  const bases = [...rates].map(([rate, lines]) => ({ rate, base: plus(lines.map(centsOf)) }));
  const total = plus(bases.map(({ rate, base }) => base + divide(base * rate, 100n * MILLION)));
  return { base: plus(bases.map(({ base }) => base)), total };
}

const textOr = <T>(value: unknown, otherwise: T) => (typeof value === 'string' ? value : otherwise);
export const listOf = (value: unknown): FileRecord[] => (Array.isArray(value) ? value : []);

/** PRJ-01 and PRJ-02 computed from the records. */
export function booksOf(records: readonly FileRecord[]): Books {
  const byCollection = Map.groupBy(records, ({ coleccion }) => coleccion);
  const all = (coleccion: string) => byCollection.get(coleccion) ?? [];
  const found = new Map(records.map((record) => [`${record.coleccion} ${record.ref}`, record]));
  const of = (coleccion: string, ref: unknown) => found.get(`${coleccion} ${ref}`);
  const zone = textOr(all('cuenta')[0]?.zona_horaria, 'Europe/Madrid');

  const linesOf = (coleccion: string, counts: (line: FileRecord) => boolean) =>
    all(coleccion).flatMap((document) =>
      (document.anulado_el ? [] : listOf(document.lineas)).filter(counts).map((line): Line => {
        return {
          day: textOr(document.fecha, ''),
          document: `${coleccion} ${document.ref}`,
          client: textOr(document.cliente, ''),
          article: textOr(line.articulo, null),
          project: textOr(line.proyecto, textOr(document.proyecto, null)),
          cents: centsOf(line),
        };
      }),
    );
  const notCounted = (line: FileRecord) => line.proviene_albaranes !== true;

  const contracts = all('contratos').map((contract, index) => ({ ...contract, age: contract.id ?? 1e9 + index }));
  const hourly = (employee: unknown, day: string): bigint => {
    const [latest] = contracts
      .filter(({ empleado }: FileRecord) => empleado === employee)
      .filter(({ fecha_alta, fecha_baja }: FileRecord) => String(fecha_alta) <= day && textOr(fecha_baja, day) >= day)
      .sort((a: FileRecord, b: FileRecord) =>
        a.fecha_alta === b.fecha_alta
          ? Number(b.age) - Number(a.age)
          : String(b.fecha_alta).localeCompare(String(a.fecha_alta)),
      ) as FileRecord[];
    return plus([latest?.coste_hora, latest?.coste_hora_pension, latest?.coste_hora_ss].map(millionths));
  };
  const instant = (clocking: FileRecord, disambiguation: 'earlier' | 'later') =>
    Temporal.PlainDateTime.from(`${clocking.fecha}T${clocking.hora}`).toZonedDateTime(zone, { disambiguation })
      .epochMilliseconds / 1000;
  const shifts = all('fichajes').flatMap(({ empleado, entrada, salida, proyecto, tarea, ...entry }): Shift[] => {
    if (!salida) return [];
    const [start, end] = [entrada as FileRecord, salida as FileRecord];
    const from = instant(start, 'earlier');
    const until = instant(end, 'earlier') < from ? instant(end, 'later') : instant(end, 'earlier');
    const left = BigInt(until - from) * MILLION - millionths(entry.pausa_minutos) * 60n;
    const worked = left < 0n ? 0n : left;
    const day = String(start.fecha);
    const machine = of('maquinas', entry.maquina);
    return [
      {
        day,
        project: textOr(proyecto, textOr(of('tareas', tarea)?.proyecto, null)),
        worked,
        staff: worked * hourly(empleado, day),
        machine: worked * millionths(machine?.coste_hora),
      },
    ];
  });
  return {
    sales: [...linesOf('albaranes', () => true), ...linesOf('facturas', notCounted)],
    purchases: [...linesOf('albaranes_compra', () => true), ...linesOf('facturas_compra', notCounted)],
    shifts,
    of,
  };
}

/** Entries of the books that `passes` accepts, within the days (inclusive). */
export function part(
  books: Books,
  from: string,
  to: string,
  passes: (each: Line | Shift) => boolean = () => true,
): Books {
  const keep = <T extends Line | Shift>(list: T[]) =>
    list.filter((each) => each.day >= from && each.day <= to && passes(each));
  return { ...books, sales: keep(books.sales), purchases: keep(books.purchases), shifts: keep(books.shifts) };
}

/** `total` and `num_documentos` of these lines. */
export const totalsOf = (lines: readonly Line[]) => ({
  total: shown(plus(lines.map(({ cents }) => cents))),
  num_documentos: new Set(lines.map(({ document }) => document)).size,
});

/** The `economico` block of these entries. */
export function economicsOf({ sales, purchases, shifts }: Books) {
  const ventas = plus(sales.map(({ cents }) => cents));
  const compras = plus(purchases.map(({ cents }) => cents));
  const personal = divide(plus(shifts.map(({ staff }) => staff)) * 100n, 3600n * MILLION ** 2n);
  const maquinaria = divide(plus(shifts.map(({ machine }) => machine)) * 100n, 3600n * MILLION ** 2n);
  const costes = compras + personal + maquinaria;
  return {
    ventas: shown(ventas),
    compras: shown(compras),
    coste_personal: shown(personal),
    coste_maquinaria: shown(maquinaria),
    costes: shown(costes),
    resultado: shown(ventas - costes),
    margen: ventas !== 0n ? shown(divide((ventas - costes) * 10_000n, ventas)) : costes > 0n ? -100 : 0,
    horas: shown(divide(plus(shifts.map(({ worked }) => worked)) * 100n, 3600n * MILLION)),
  };
}

/** The months of a range, `YYYY-MM`. */
export function monthsOf(from: string, to: string): string[] {
  const months = [];
  for (let month = from.slice(0, 7); month <= to.slice(0, 7); ) {
    months.push(month);
    month = Temporal.PlainYearMonth.from(month).add({ months: 1 }).toString();
  }
  return months;
}

const EPOCH = Temporal.PlainDate.from('2025-09-20');
/** Days from September 2025 to February 2026, with a clock change; more often near the turns of months. */
export const busyDay = fc
  .oneof(fc.integer({ min: 0, max: 150 }), fc.constantFrom(10, 11, 35, 36, 37, 41, 42, 71, 102, 103))
  .map((days) => EPOCH.add({ days }).toString());

/**
 * A small company: projects and tasks (one without a project), successive and overlapping contracts, night shifts and open
 * ones, notes, invoices with and without notes, purchases; and months without activity.
 */
export const busyCompany = fc.gen().map((gen): FileRecord[] => {
  const pick = <T>(...values: T[]): T => values[gen(fc.nat, { max: values.length - 1 })] as T;
  const some = <T>(max: number, make: (index: number) => T, min = 0): T[] =>
    Array.from({ length: gen(fc.integer, { min, max }) }, (_, index) => make(index));
  const day = () => gen(() => busyDay);
  const money = () => gen(fc.integer, { min: -3000, max: 30_000 }) / 100;
  const owner = () => pick<string | null>('p', 'q', null);
  const line = (ownProject: boolean, more: object = {}) => ({
    descripcion: 'x',
    cantidad: gen(fc.integer, { min: 1, max: 9000 }) / 1000,
    importe_unitario: money(),
    descuento: pick(0, 0, 10, 33.33),
    articulo: pick('silla', 'mesa', 'flete', null),
    ...(ownProject ? { proyecto: owner() } : {}),
    ...more,
  });
  const document = (coleccion: string, party: object, more: () => object = () => ({})) =>
    some(6, (index): FileRecord => {
      const proyecto = owner();
      const lineas = some(4, () => line(proyecto === null, more()));
      const annulled = pick({}, {}, {}, { anulado_el: '2026-05-01 10:00:00', motivo_anulacion: 'Duplicado' });
      const numero = `${coleccion} ${index}`;
      return { coleccion, ref: `${index}`, numero, fecha: day(), ...party, proyecto, lineas, ...annulled };
    });
  const client = () => ({ cliente: pick('bar', 'hotel') });
  const hour = (minutes: number) =>
    `${minutes / 60 < 10 ? 0 : ''}${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
  return [
    { coleccion: 'cuenta', ref: 'cuenta', nombre: 'Prueba', zona_horaria: pick('Europe/Madrid', 'America/Sao_Paulo') },
    { coleccion: 'tipos_contrato', ref: 't', titulo: 'Indefinido' },
    ...['ana', 'leo'].map((ref): FileRecord => ({ coleccion: 'empleados', ref, nombre: ref })),
    ...some(
      5,
      (index): FileRecord => {
        const [fecha_alta, end] = [day(), day()].sort();
        const costs = {
          coste_hora: gen(fc.nat, { max: 300_000 }) / 10_000,
          coste_hora_pension: 0.77,
          coste_hora_ss: 3,
        };
        const term = { fecha_alta, fecha_baja: pick(null, end) };
        return {
          coleccion: 'contratos',
          ref: `${index}`,
          empleado: pick('ana', 'leo'),
          tipo_contrato: 't',
          ...term,
          ...costs,
        };
      },
      3,
    ),
    { coleccion: 'clientes', ref: 'bar', nombre_fiscal: 'Bar' },
    { coleccion: 'clientes', ref: 'hotel', nombre_fiscal: 'Hotel' },
    { coleccion: 'proveedores', ref: 'pro', nombre_fiscal: 'Maderas' },
    { coleccion: 'familias', ref: 'muebles', titulo: 'Muebles' },
    { coleccion: 'articulos', ref: 'silla', descripcion: 'Silla', familia: 'muebles' },
    { coleccion: 'articulos', ref: 'mesa', descripcion: 'Mesa', familia: 'muebles' },
    { coleccion: 'articulos', ref: 'flete', descripcion: 'Flete' },
    { coleccion: 'proyectos', ref: 'p', numero: '1', descripcion: 'Reforma' },
    { coleccion: 'proyectos', ref: 'q', numero: '2', descripcion: 'Nave' },
    { coleccion: 'tareas', ref: 'lijar', titulo: 'Lijar', proyecto: 'q' },
    { coleccion: 'tareas', ref: 'barrer', titulo: 'Barrer' },
    { coleccion: 'maquinas', ref: 'grua', titulo: 'Grúa', coste_hora: 31.07 },
    ...some(
      14,
      (index): FileRecord => {
        const fecha = day();
        // From the afternoon on, an exit within twelve hours may be on the next day.
        const entry = gen(fc.integer, { min: 240, max: 1439 });
        const exit = entry + gen(fc.nat, { max: 720 });
        const until = Temporal.PlainDate.from(fecha).add({ days: exit < 1440 ? 0 : 1 });
        // Not in an hour that a clock change skips.
        const salida = {
          fecha: until.toString(),
          hora: hour(exit < 1440 ? exit : Math.max(exit - 1440, 180)),
          metodo: 'app',
        };
        return {
          coleccion: 'fichajes',
          ref: `${index}`,
          empleado: pick('ana', 'leo'),
          entrada: { fecha, hora: hour(entry), metodo: 'app' },
          salida: pick(null, salida, salida, salida),
          proyecto: owner(),
          tarea: pick(null, 'lijar', 'barrer'),
          maquina: pick(null, 'grua'),
          pausa_minutos: pick(0, 0, 20, 15.5, 900),
        };
      },
      6,
    ),
    ...document('albaranes', client()),
    ...document('facturas', client(), () => ({ proviene_albaranes: pick(true, false) })),
    ...document('albaranes_compra', { proveedor: 'pro' }),
    ...document('facturas_compra', { proveedor: 'pro' }, () => ({ proviene_albaranes: pick(true, false) })),
  ];
});
