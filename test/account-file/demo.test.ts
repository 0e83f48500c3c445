// The demo company follows the rules of the account file: order, references, numbers, sums, working time.
import { describe, expect, test } from 'vitest';
import { demoCompany } from '../../account-file/demo/index.ts';
import { TRADES, WORKS } from '../../account-file/demo/names-and-places.ts';

type Texts =
  | 'coleccion'
  | 'ref'
  | 'numero'
  | 'fecha'
  | 'fecha_inicio'
  | 'fecha_fin'
  | 'fecha_alta'
  | 'fecha_creacion'
  | 'fecha_cierre'
  | 'fecha_subida'
  | 'startDate'
  | 'endDate'
  | 'descripcion'
  | 'concepto'
  | 'nombre_fiscal'
  | 'hora'
  | 'cliente'
  | 'estado';
type Refs =
  | 'familia'
  | 'proyecto'
  | 'empleado'
  | 'articulo'
  | 'formato'
  | 'variacion'
  | 'albaran'
  | 'linea'
  | 'factura'
  | 'factura_compra'
  | 'rectifica'
  | 'presupuesto'
  | 'linea_presupuesto'
  | 'funnel'
  | 'etapa';
type Codes = 'tipo' | 'subtipo' | 'modo';
type Numbers =
  | ('cantidad' | 'importe_unitario' | 'factor' | 'importe' | 'cobrado' | 'pagado')
  | ('vencimiento' | 'linea_rectificada');
type Lists = 'lineas' | 'etapas' | 'formatos' | 'variaciones' | 'vencimientos';
/** A record or inner record with the fields that tests look at; a collection has only its own. */
interface Item extends Record<Texts | Refs | Codes, string>, Record<Numbers, number>, Record<Lists, Item[]> {
  id?: number;
  entrada: Item;
  salida: Item | null;
  fecha_baja: string | null;
  cantidad_base_real?: number;
  descuento?: number;
  iva?: number;
  autorizada: boolean;
  rechazada: boolean;
  proviene_albaranes?: boolean;
  anulado_el?: string;
}

const ORDER = `cuenta tarifas departamentos tipos_contrato turnos empleados contratos tipos_dia calendario ausencias
  clientes proveedores familias articulos funnels canales motivos_perdida contactos oportunidades estados_proyecto
  proyectos estados_tarea tareas maquinas fichajes presupuestos adjuntos recurrentes albaranes facturas
  albaranes_compra movimientos_stock subtipos_gasto facturas_compra cuentas_tesoreria movimientos_tesoreria
  liquidaciones`.split(/\s+/);

// Fields that name a record, and the record's collection.
const REFERENCES = `empleado empleados|responsable empleados|departamento departamentos|turno turnos
  tipo_contrato tipos_contrato|cliente clientes|proveedor proveedores|familia familias|articulo articulos|funnel funnels
  canal canales|motivo motivos_perdida|contacto contactos|proyecto proyectos|tarea tareas|maquina maquinas
  presupuesto presupuestos|recurrente recurrentes|albaran albaranes|albaran_compra albaranes_compra|factura facturas
  factura_compra facturas_compra|rectifica facturas|cuenta cuentas_tesoreria|movimiento movimientos_tesoreria`
  .split(/[|\n]/)
  .map((pair) => pair.trim().split(' '));

const TODAY = '2026-03-10';
const textOf = (today: string, seed?: number): string =>
  [...demoCompany({ today: Temporal.PlainDate.from(today), seed })].map((record) => JSON.stringify(record)).join('\n');
const text = textOf(TODAY);
const records = text.split('\n').map((line): Item => JSON.parse(line));
const collections = Map.groupBy(records, ({ coleccion }) => coleccion);
const all = (name: string): Item[] => collections.get(name) ?? [];
const byRef = (name: string) => new Map(all(name).map((record) => [record.ref, record]));
const has = (items: Item[] | undefined, ref: string) => items?.some((item) => item.ref === ref);
const cents = (euros: number): number => Math.round(euros * 100);

/** The total with VAT in cents. Unlike the generator: quantities are multiples of 1/2, so every amount is a whole 1/200 cent. */
function totalOf(lines: readonly Item[]): number {
  const half = (value: number): number => Math.sign(value) * Math.round(Math.abs(value));
  const bases = new Map<number, number>();
  for (const { cantidad, importe_unitario, descuento = 0, iva = 21 } of lines) {
    const amount = half((cantidad * 2 * cents(importe_unitario) * (100 - descuento)) / 200);
    bases.set(iva, (bases.get(iva) ?? 0) + amount);
  }
  return [...bases].reduce((sum, [rate, base]) => sum + base + half((base * rate) / 100), 0);
}

describe('the demo company', () => {
  test('is the same for the same day and seed, and another for another seed', () => {
    expect(textOf(TODAY) === text).toBe(true);
    expect(textOf(TODAY, 2) === text).toBe(false);
  });

  test('has every collection, in the order of the file, and the counts promised', () => {
    expect([...collections.keys()]).toEqual(ORDER);
    const people = { empleados: 25, clientes: 120, proveedores: 30, oportunidades: 300, funnels: 3 };
    const counts = { ...people, cuenta: 1, tarifas: 3, familias: 15, articulos: 400, proyectos: 60 };
    for (const [name, count] of Object.entries(counts)) expect([name, all(name).length]).toEqual([name, count]);
    const periods = 'anual bimensual mensual quincenal semanal semestral trimestral'.split(' ');
    for (const period of periods) expect(text).toContain(`"periodicidad":"${period}"`);
    expect(records.length).toBeGreaterThan(20_000);
    expect(records.length).toBeLessThan(30_000);
  });

  test.each([TODAY, '2028-02-29', '2027-01-01'])('on %s names only earlier records, and each record once', (today) => {
    const seen = new Set<string>();
    const problems: string[] = [];
    const check = (item: Record<string, unknown>, owner: string) => {
      for (const [field = '', target] of REFERENCES) {
        const named = item[field] ?? null;
        if (named !== null && target !== item.coleccion && !seen.has(`${target} ${named}`))
          problems.push(`${owner}: ${field} ${named}`);
      }
      for (const [field, value] of Object.entries(item)) {
        const untrimmed =
          typeof value === 'string' && (value === '' || (value !== value.trim() && field !== 'contenido'));
        if (untrimmed || Number.isNaN(value)) problems.push(`${owner}: ${field} "${value}"`);
        if (Array.isArray(value)) for (const inner of value) if (typeof inner === 'object') check(inner, owner);
      }
    };
    for (const record of demoCompany({ today: Temporal.PlainDate.from(today) })) {
      const { coleccion, ref, id } = record;
      check(record, `${coleccion} ${ref}`);
      for (const key of id === undefined
        ? [`${coleccion} ${ref}`]
        : [`${coleccion} ${ref}`, `${coleccion}, id ${id}`]) {
        if (seen.has(key)) problems.push(`${key} twice`);
        seen.add(key);
      }
    }
    expect(problems).toEqual([]);
  });

  test('names inner records and codes that exist', () => {
    const [articles, funnels, notes] = [byRef('articulos'), byRef('funnels'), byRef('albaranes')];
    const invoices = byRef('facturas');
    const types = new Set(all('tipos_dia').map(({ tipo }) => tipo));
    const codes = new Set(all('subtipos_gasto').map(({ subtipo }) => subtipo));
    const wrong = [
      ...[...all('calendario'), ...all('ausencias')].filter(({ tipo }) => !types.has(tipo)),
      ...all('facturas_compra').filter(({ subtipo }) => subtipo && !codes.has(subtipo)),
      ...all('oportunidades').filter(({ funnel, etapa }) => !has(funnels.get(funnel)?.etapas, etapa)),
      ...all('movimientos_stock').filter(({ albaran, linea, factura }) =>
        factura ? !invoices.get(factura)?.rectifica : !has(notes.get(albaran)?.lineas, linea),
      ),
      ...records
        .flatMap(({ lineas = [] }) => lineas)
        .filter(({ articulo, formato, variacion }) => {
          const article = articles.get(articulo);
          return (formato && !has(article?.formatos, formato)) || (variacion && !has(article?.variaciones, variacion));
        }),
    ];
    expect(wrong).toEqual([]);
  });

  test('moves the stock of every line that is sold out of it or returned, and of no other; what was annulled came back', () => {
    const articles = byRef('articulos');
    const moved = new Map<string, number>();
    for (const { albaran, linea, factura, cantidad } of all('movimientos_stock')) {
      const of = factura ? `${factura} l1` : `${albaran} ${linea}`;
      moved.set(of, (moved.get(of) ?? 0) + cantidad);
    }
    const returns = all('facturas').filter(({ rectifica }) => rectifica);
    expect(all('albaranes').some(({ anulado_el }) => anulado_el)).toBe(true);
    const expected = [...all('albaranes'), ...returns].flatMap(({ ref: note, lineas, anulado_el }) =>
      lineas.flatMap(({ ref, articulo, formato, cantidad, cantidad_base_real }): [string, number][] => {
        const article = articles.get(articulo);
        const factor = article?.formatos.find((format) => format.ref === formato)?.factor ?? 1;
        const sold = anulado_el ? 0 : -(cantidad_base_real ?? cantidad * factor);
        return article?.modo === 'venta' ? [[`${note} ${ref}`, sold]] : [];
      }),
    );
    expect(moved).toEqual(new Map(expected));
  });

  test('numbers documents by date, gapless within the year, none in the future', () => {
    const series = ['albaranes A', 'facturas F', 'facturas R', 'presupuestos P'].map((pair) => pair.split(' '));
    for (const [name = '', letter = ''] of series) {
      const issued = all(name).filter(({ numero }) => numero.startsWith(letter));
      expect(issued.length).toBeGreaterThan(0);
      const dates = issued.map(({ fecha }) => fecha);
      expect(dates).toEqual(dates.toSorted());
      expect((dates.at(-1) ?? '') <= TODAY).toBe(true);
      for (const [year, group] of Map.groupBy(issued, ({ fecha }) => fecha.slice(0, 4))) {
        const expected = group.map((_, index) => `${letter}${year}-${String(index + 1).padStart(4, '0')}`);
        expect(group.map(({ numero }) => numero)).toEqual(expected);
      }
    }
    for (const [year, group] of Map.groupBy(all('proyectos'), ({ numero }) => numero.slice(0, 2))) {
      const expected = group.map((_, index) => `${year}-${String(index + 1).padStart(3, '0')}`);
      expect(group.map(({ numero }) => numero)).toEqual(expected);
    }
  });

  test('has due dates that add up to the total with VAT, and no more paid than is due', () => {
    for (const { coleccion, ref, lineas, vencimientos, pagado } of [...all('facturas'), ...all('facturas_compra')]) {
      const due = vencimientos.reduce((sum, { importe }) => sum + cents(importe), 0);
      expect([ref, due]).toEqual([ref, totalOf(lineas)]);
      const paid = vencimientos.map((item) => item.cobrado ?? item.pagado);
      expect(vencimientos.every(({ importe }, index) => (paid[index] ?? 0) <= importe)).toBe(true);
      const sum = paid.reduce((total, part) => total + cents(part), 0);
      if (coleccion === 'facturas_compra') expect([ref, sum]).toEqual([ref, cents(pagado)]);
    }
  });

  test('says when each amount was collected or paid, or set off', () => {
    const settled = new Map<string, number>();
    for (const { factura, factura_compra, vencimiento, importe } of all('liquidaciones')) {
      const due = `${factura ?? factura_compra} ${vencimiento}`;
      settled.set(due, (settled.get(due) ?? 0) + cents(importe));
    }
    const paid = [...all('facturas'), ...all('facturas_compra')].flatMap(({ ref, vencimientos }) =>
      vencimientos.map((due, index): [string, number] => [`${ref} ${index + 1}`, cents(due.cobrado ?? due.pagado)]),
    );
    expect(settled).toEqual(new Map(paid.filter(([, amount]) => amount !== 0)));
  });

  test('has estimates of every state, some converted, and rectifying invoices, neither for more than there was', () => {
    const estimates = byRef('presupuestos');
    const states = Map.groupBy(estimates.values(), ({ estado }) => estado);
    for (const state of ['pendiente', 'aceptado', 'rechazado'])
      expect(states.get(state)?.length, state).toBeGreaterThan(5);
    const converted = all('albaranes').flatMap(({ cliente, lineas }) =>
      lineas.flatMap((line) => (line.presupuesto ? [{ ...line, cliente }] : [])),
    );
    expect(converted.length).toBeGreaterThan(10);
    expect(new Set(converted.map(({ presupuesto, linea_presupuesto }) => presupuesto + linea_presupuesto)).size).toBe(
      converted.length,
    );
    for (const { cliente, presupuesto, linea_presupuesto, cantidad, importe_unitario } of converted) {
      const estimate = estimates.get(presupuesto);
      expect(estimate).toMatchObject({ cliente, estado: 'aceptado' });
      const line = estimate?.lineas.find(({ ref }) => ref === linea_presupuesto);
      expect(line).toMatchObject({ cantidad, importe_unitario });
    }
    const invoices = byRef('facturas');
    const rectifying = all('facturas').filter(({ rectifica }) => rectifica);
    expect(rectifying.length).toBeGreaterThan(1);
    expect(new Set(rectifying.map(({ rectifica }) => rectifica)).size).toBe(rectifying.length);
    for (const { rectifica, fecha, cliente, lineas } of rectifying) {
      const original = invoices.get(rectifica);
      expect(original).toMatchObject({ cliente });
      expect(fecha >= (original?.fecha ?? '9')).toBe(true);
      for (const { linea_rectificada, cantidad, importe_unitario } of lineas) {
        const line = original?.lineas[linea_rectificada - 1];
        expect(line).toMatchObject({ importe_unitario });
        expect(-cantidad).toBeLessThanOrEqual(line?.cantidad ?? 0);
      }
    }
  });

  test('invoices a delivery note once, and to its client', () => {
    const notes = byRef('albaranes');
    const invoiceOf = new Map<string, string>();
    for (const { ref, cliente, lineas } of all('facturas')) {
      for (const { albaran } of lineas.filter(({ proviene_albaranes }) => proviene_albaranes)) {
        expect([notes.get(albaran)?.cliente, invoiceOf.get(albaran) ?? ref]).toEqual([cliente, ref]);
        invoiceOf.set(albaran, ref);
      }
    }
    expect(invoiceOf.size).toBeGreaterThan(500);
  });

  test('has nobody clock in when absent, on a holiday or out of contract, and only today entries still open', () => {
    const free = new Set<string>();
    for (const { coleccion, empleado, fecha_inicio, fecha_fin, rechazada, autorizada } of [
      ...all('calendario'),
      ...all('ausencias'),
    ]) {
      expect(Boolean(rechazada && autorizada)).toBe(false);
      const whose = coleccion === 'calendario' ? '' : ` ${empleado}`;
      for (let day = Temporal.PlainDate.from(fecha_inicio); `${day}` <= fecha_fin; day = day.add({ days: 1 })) {
        if (!rechazada) free.add(`${day}${whose}`);
      }
    }
    const contracts = Map.groupBy(all('contratos'), ({ empleado }) => empleado);
    const last = new Map<string, string>();
    const wrong = all('fichajes').filter(({ empleado, entrada, salida }) => {
      const { fecha: day, hora } = entrada;
      const [start, end, before] = [
        `${day} ${hora}`,
        salida ? `${salida.fecha} ${salida.hora}` : '9999',
        last.get(empleado),
      ];
      last.set(empleado, end);
      const hired = contracts.get(empleado)?.some((one) => one.fecha_alta <= day && (one.fecha_baja ?? '9999') >= day);
      const overlap = start >= end || (before ?? '') >= start;
      return !hired || overlap || free.has(day) || free.has(`${day} ${empleado}`) || (!salida && day !== TODAY);
    });
    expect(wrong).toEqual([]);
    expect(all('fichajes').filter(({ salida }) => salida === null).length).toBeGreaterThan(3);
    expect(all('fichajes').some(({ entrada, salida }) => salida && salida.fecha > entrada.fecha)).toBe(true);
  });

  test.each([
    ['2026-03-10', '09:30'],
    ['2026-03-10', '03:00'],
    ['2027-01-03', '12:00'],
    ['2026-08-16', '23:00'],
  ])('on %s at %s, has nothing that happened later, or on a Sunday', (today, time) => {
    const company = demoCompany({ today: Temporal.PlainDate.from(today), time: Temporal.PlainTime.from(time) });
    const DONE = ['fecha_creacion', 'fecha_cierre', 'fecha_subida', 'entrada', 'salida'];
    const DATED = /^(albaranes|facturas|presupuestos|movimientos)/;
    const late: string[] = [];
    let looked = 0;
    for (const { coleccion, ref, ...record } of company) {
      const moments = Object.entries(record).flatMap(([field, value]) => {
        if (!DONE.includes(field) && !(field === 'fecha' && DATED.test(`${coleccion}`))) return [];
        if (typeof value === 'string') return [value];
        const clocking = value as Item | null;
        return clocking ? [`${clocking.fecha} ${clocking.hora}`] : [];
      });
      for (const moment of moments) {
        looked++;
        const sunday = Temporal.PlainDate.from(moment.slice(0, 10)).dayOfWeek === 7;
        if (sunday || moment > `${today} ${time}`) late.push(`${coleccion} ${ref}: ${moment}`);
      }
    }
    expect(late).toEqual([]);
    expect(looked).toBeGreaterThan(25_000);
  });

  test('puts on a note or estimate what one trade works with, and on a work what its own does', () => {
    const FAMILIES = { ele: 'CAB MEC CUA CAN ILU', fon: 'PEX PVC VAL SAN', cli: 'CAL CLI COB', sol: 'SOL CUA' };
    const HOURS = { ele: /electri/, fon: /fontaner/, cli: /calefactor|climatización/, sol: /solar/ };
    const [articles, projects] = [byRef('articulos'), byRef('proyectos')];
    const tradeOf = (project: string) =>
      TRADES.find((trade) => WORKS[trade].some((work) => projects.get(project)?.descripcion.startsWith(work)));
    const fits = (trade: (typeof TRADES)[number], { articulo }: Item) => {
      const { familia = '', descripcion = '' } = articles.get(articulo) ?? {};
      if (descripcion.startsWith('Hora de')) return HOURS[trade].test(descripcion);
      return familia === 'fam-SER' || FAMILIES[trade].split(' ').includes(familia.replace('fam-', ''));
    };
    let works = 0;
    const wrong = ['albaranes', 'presupuestos', 'albaranes_compra'].flatMap(all).filter(({ proyecto, lineas }) => {
      const work = lineas.map((line) => line.proyecto ?? proyecto).find(Boolean);
      const trade = work && tradeOf(work);
      if (trade) works++;
      const goods = lineas.filter(({ articulo }) => articulo && articles.get(articulo)?.modo !== 'alquiler');
      return !(trade ? [trade] : TRADES).some((one) => goods.every((line) => fits(one, line)));
    });
    expect(wrong).toEqual([]);
    expect(works).toBeGreaterThan(200);
  });

  test('does no work of homes for firms, nor of firms for homes', () => {
    const clients = byRef('clientes');
    const firms = /nave|oficinas|local\b|agrícola|hotel|clínica/;
    const homes = /vivienda|comunitaria|montantes|piscina/;
    const texts = [
      ...all('proyectos').map(({ cliente, descripcion }) => [cliente, descripcion]),
      ...all('presupuestos').map(({ cliente, concepto }) => [cliente, concepto]),
      ...all('recurrentes').map(({ cliente, descripcion }) => [cliente, descripcion]),
    ].filter(([client]) => client);
    const wrong = texts.filter(([client = '', text = '']) => {
      const isFirm = clients.get(client)?.nombre_fiscal.includes(',') === true;
      return (isFirm ? homes : firms).test(text);
    });
    expect(wrong).toEqual([]);
    expect(texts.length).toBeGreaterThan(200);
  });
});
