// Importing an account file: matching, defaults, derived data and refusals.
import { Readable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { linesOf as readLines } from '../../account-file/lines.ts';
import { createAccount } from '../../account-file/new-account.ts';
import type { FileRecord } from '../helpers/world.ts';
import { CUENTA, linesOf, openCompanies, problemsOf } from './companies.ts';
import { SAMPLE } from './sample.ts';

const companies = await openCompanies();
afterAll(() => companies[Symbol.asyncDispose]());

const ana: FileRecord = { coleccion: 'empleados', ref: 'ana', nombre: 'Ana' };
const bar: FileRecord = { coleccion: 'clientes', ref: 'bar', nombre_fiscal: 'Bar' };
const line = { descripcion: 'Trabajo', cantidad: 1, importe_unitario: 10 };
const note = (ref: string, more: object = {}): FileRecord => ({
  coleccion: 'albaranes',
  ref,
  fecha: '2026-01-15',
  cliente: 'bar',
  lineas: [line],
  ...more,
});
const service = (more: object): FileRecord => ({
  coleccion: 'recurrentes',
  ref: 's',
  descripcion: 'Cuota',
  cliente: 'bar',
  periodicidad: 'mensual',
  fecha_creacion: '2026-01-01',
  lineas: [line],
  ...more,
});
const clocking = (local: string) => ({ fecha: local.slice(0, 10), hora: local.slice(11), metodo: 'app' });
const entry = (ref: string, entrada: string, salida: string | null): FileRecord => ({
  coleccion: 'fichajes',
  ref,
  empleado: 'ana',
  entrada: clocking(entrada),
  salida: salida && clocking(salida),
});

describe('matching', () => {
  test('importing the same file twice changes nothing, versions and moments of change included', async () => {
    const acme = await companies.company();
    const first = await acme.import(SAMPLE);
    expect(first).toMatchObject({ records: SAMPLE.length });
    const before = await acme.dump();
    expect(await acme.import(SAMPLE)).toEqual({ records: SAMPLE.length, created: 0, changed: 0, notices: [] });
    expect(await acme.dump()).toEqual(before);
  });

  test('a record with the same ref is changed, and only it; another company is left alone', async () => {
    const [acme, other] = [await companies.company(), await companies.company()];
    const leo = { ...ana, ref: 'leo', nombre: 'Leo' };
    await acme.import([ana, leo]);
    await other.import([ana, leo]);
    expect(await acme.import([{ ...ana, nombre: 'Anabel' }, leo])).toEqual({
      records: 3,
      created: 0,
      changed: 1,
      notices: [],
    });
    expect(await acme.rows('employees')).toMatchObject([
      { ref: 'ana', first_name: 'Anabel', search: 'anabel', version: 2 },
      { ref: 'leo', first_name: 'Leo', version: 1 },
    ]);
    expect(await other.rows('employees')).toMatchObject([{ first_name: 'Ana' }, { first_name: 'Leo' }]);
  });

  test('a field that is left out, or null, goes back to its default', async () => {
    const acme = await companies.company();
    await acme.import([{ ...ana, apellidos: 'Ruiz', email: 'a@b.example', activo: false }]);
    await acme.import([{ ...ana, apellidos: null }]);
    expect(await acme.rows('employees')).toMatchObject([{ last_name: '', email: null, active: true }]);
  });

  test('[ID-06] a number in the file is kept, and others are assigned above 1,000,000,000', async () => {
    const acme = await companies.company();
    await acme.import([
      { ...ana, id: 7 },
      { ...ana, ref: 'leo' },
    ]);
    const [first, second] = await acme.rows('employees');
    expect(first).toMatchObject({ ref: 'ana', id: 7 });
    expect(second?.id).toBeGreaterThan(1_000_000_000);
    await acme.import([ana]);
    expect(await acme.rows('employees')).toMatchObject([{ id: 7 }, { id: second?.id }]);
  });

  test('[ID-06] numbers are assigned past those that a file has kept', async () => {
    const acme = await companies.company();
    const kept = (await drawn('machines')) + 500;
    const machine = (ref: string, more: object = {}) => ({ coleccion: 'maquinas', ref, titulo: ref, ...more });
    await acme.import([machine('z', { id: kept }), machine('a')]);
    const ids = (await acme.rows('machines')).map(({ id }) => Number(id));
    expect(ids[0]).toBe(kept);
    expect(ids[1]).toBeGreaterThan(kept);
    expect(await drawn('machines')).toBeGreaterThan(kept);
  });

  const drawn = async (table: string) => {
    const { rows } = await companies.database.pool.query<{ id: number }>(`select nextval('${table}_id_seq') as id`);
    return rows[0]?.id ?? 0;
  };

  test('a record of the service has the ref @<id>, and is matched by it', async () => {
    const acme = await companies.company();
    await acme.import([bar]);
    const { rows } = await companies.database.transaction(acme.id, { write: true }, async (db) => ({
      rows: await db
        .insertInto('contacts')
        .values({ account_id: acme.id, name: 'Rita', search: 'rita' })
        .returning('id')
        .execute(),
    }));
    const id = Number(rows[0]?.id);
    const rita = { coleccion: 'contactos', ref: `@${id}`, nombre: 'Rita' };
    expect(await acme.import([rita])).toMatchObject({ created: 0, changed: 0 });
    await acme.import([{ ...rita, id, cliente: 'bar' }]);
    expect(await acme.rows('contacts')).toMatchObject([{ id, ref: null, version: 2 }]);
    expect(await acme.problems([{ ...rita, id: id + 1 }])).toMatchObject([{ campo: 'ref' }]);
    expect(await acme.problems([{ ...rita, ref: '@rita' }])).toMatchObject([{ campo: 'ref' }]);
  });

  test('lines without ref are matched by their place, stages by their ref; what is left out goes', async () => {
    const acme = await companies.company();
    const funnel = (...refs: string[]) => ({
      coleccion: 'funnels',
      ref: 'f',
      titulo: 'Ventas',
      etapas: refs.map((ref) => ({ ref, titulo: ref })),
    });
    await acme.import([funnel('a', 'b', 'c'), bar, note('n', { lineas: [line, { ...line, cantidad: 2 }] })]);
    const [stages, lines] = [await acme.rows('funnel_stages'), await acme.rows('delivery_note_lines')];
    const again = await acme.import([funnel('c', 'a'), bar, note('n', { lineas: [{ ...line, cantidad: 5 }] })]);
    expect(again).toEqual({ records: 4, created: 0, changed: 2, notices: [] });
    expect(await acme.rows('funnel_stages')).toMatchObject([
      { id: stages[0]?.id, ref: 'a', position: 2 },
      { id: stages[2]?.id, ref: 'c', position: 1 },
    ]);
    expect(await acme.rows('delivery_note_lines')).toMatchObject([{ id: lines[0]?.id, quantity: 5, version: 2 }]);
  });

  test('a stage that an opportunity is in cannot go', async () => {
    const acme = await companies.company();
    const funnel = (...refs: string[]) => ({
      coleccion: 'funnels',
      ref: 'f',
      titulo: 'Ventas',
      etapas: refs.map((ref) => ({ ref, titulo: ref })),
    });
    const opportunity = { coleccion: 'oportunidades', ref: 'o', titulo: 'O', funnel: 'f', etapa: 'b' };
    await acme.import([funnel('a', 'b'), opportunity]);
    expect(await acme.problems([ana, funnel('a')])).toEqual([
      {
        line: 3,
        coleccion: 'funnels',
        ref: 'f',
        campo: 'etapas',
        mensaje: 'falta uno que otros registros nombran: no se puede quitar',
      },
    ]);
  });
});

test('two imports at once follow each other, and the second finds what the first made', async () => {
  const acme = await companies.company();
  await acme.import(SAMPLE.slice(0, 1));
  const results = await Promise.all([acme.import(SAMPLE), acme.import(SAMPLE), acme.import(SAMPLE)]);
  expect(results.filter(({ created, changed }) => created + changed > 0)).toHaveLength(1);
  const exported = await acme.exported('fichajes');
  expect(exported).toHaveLength(2);
});

test('a stage that is wrong is told as such, not as one that is missing', async () => {
  const acme = await companies.company();
  const funnel = (titulo: string) => ({
    coleccion: 'funnels',
    ref: 'f',
    titulo: 'F',
    etapas: [{ ref: 'e', id: 1, titulo }],
  });
  await acme.import([funnel('E'), { coleccion: 'oportunidades', ref: 'o', titulo: 'O', funnel: 'f', etapa: 'e' }]);
  const renumbered = { ...funnel('E'), etapas: [{ ref: 'e', id: 2, titulo: 'E' }] };
  expect(await acme.problems([renumbered])).toMatchObject([
    { campo: 'etapas[0].id', mensaje: 'el registro ya tiene el id 1' },
  ]);
});

describe('a new company', () => {
  test('starts with price list 1 and the five types of day', async () => {
    const acme = await companies.company();
    expect(await acme.rows('price_lists')).toMatchObject([{ number: 1, with_vat: true }]);
    const types = (await acme.rows('day_types')).map(({ code, title }) => [code, title]);
    expect(Object.fromEntries(types)).toEqual({
      festivo: 'Festivo',
      vacaciones: 'Vacaciones',
      cierre: 'Cierre de empresa',
      baja: 'Baja médica',
      permiso: 'Permiso',
    });
  });

  test('gives its standard records the ref and the number of the imported ones', async () => {
    const acme = await companies.company();
    const types = await acme.rows('day_types');
    // The types differ here: the ids swap.
    const [first, second] = types;
    await acme.import([
      { coleccion: 'tarifas', ref: 'general', id: 4, tarifa: 1, con_iva: false },
      { coleccion: 'tipos_dia', ref: 'uno', id: Number(second?.id), tipo: String(first?.code), titulo: 'Uno' },
      { coleccion: 'tipos_dia', ref: 'cuatro', id: 4, tipo: 'baja', titulo: 'Baja' },
    ]);
    expect(await acme.rows('price_lists')).toMatchObject([{ id: 4, ref: 'general', number: 1, with_vat: false }]);
    const after = await acme.rows('day_types');
    expect(after).toHaveLength(5);
    expect(after.find(({ code }) => code === first?.code)).toMatchObject({ id: second?.id, ref: 'uno', title: 'Uno' });
    expect(after.find(({ code }) => code === 'baja')).toMatchObject({ id: 4, ref: 'cuatro' });
  });

  test('has a slug of its own', async () => {
    const slug = companies.newSlug();
    await createAccount(companies.database, { slug, name: 'Una', timeZone: 'Atlantic/Canary' });
    await expect(createAccount(companies.database, { slug, name: 'Otra' })).rejects.toThrow(
      `Ya hay una empresa con el identificador ${slug}`,
    );
    await expect(
      createAccount(companies.database, { slug: companies.newSlug(), name: 'Mal', timeZone: '+01:00' }),
    ).rejects.toThrow('+01:00 no es el nombre de una zona horaria');
  });

  test('gets its name, tax id, time zone and formats from `cuenta`', async () => {
    const acme = await companies.company();
    await acme.import(SAMPLE);
    const { accounts } = await acme.dump();
    expect(accounts).toContain(`${acme.id},acme,${acme.slug},"Acme, S.L.",B12345674,Europe/Madrid,t,,2,`);
  });

  test('[JRN-01] each record that an import changes is a row of the journal, one that stays is none', async () => {
    const acme = await companies.company();
    const imported = async () =>
      (await acme.rows('journal_entries')).flatMap(
        ({ operation, record_table, record_id, action, actor, request_id }) =>
          operation === 'import' ? [{ record_table, record_id, action, actor, request_id }] : [],
      );
    const by = { actor: 'eva', request_id: 'r-1' };
    await acme.import([ana], { actor: 'eva', requestId: 'r-1' });
    const [employee] = await acme.rows('employees');
    const created = { record_table: 'employees', record_id: employee?.id, action: 'create', ...by };
    expect(await imported()).toEqual([created]);
    await acme.import([ana]);
    expect(await imported()).toHaveLength(1);
    await acme.import([{ ...ana, nombre: 'Ana María' }], { actor: 'eva', requestId: 'r-2' });
    expect((await imported()).at(-1)).toEqual({ ...created, action: 'modify', request_id: 'r-2' });
  });
});

describe('times', () => {
  const hours = async (zone: string, ...entries: FileRecord[]) => {
    const acme = await companies.company();
    await acme.import([{ ...CUENTA, zona_horaria: zone }, ana, ...entries]);
    return (await acme.rows('time_entries')).map(({ entry_at, exit_at, hours: worked }) => [
      ...[entry_at, exit_at].map((at) => at && Temporal.Instant.from(String(at)).toString()),
      worked,
    ]);
  };

  test('are in the time zone of the company', async () => {
    const day = entry('f', '2026-01-15 08:00', '2026-01-15 15:30');
    expect(await hours('Europe/Madrid', day)).toEqual([['2026-01-15T07:00:00Z', '2026-01-15T14:30:00Z', 7.5]]);
    expect(await hours('America/Lima', day)).toEqual([['2026-01-15T13:00:00Z', '2026-01-15T20:30:00Z', 7.5]]);
  });

  test('[FIC-03] that occur twice are the earlier, but an exit is never before its entry', async () => {
    const worked = await hours(
      'Europe/Madrid',
      entry('night', '2026-10-24 22:00', '2026-10-25 06:00'),
      entry('early', '2026-10-25 02:10', '2026-10-25 02:40'),
      entry('late', '2026-10-25 02:40', '2026-10-25 02:10'),
    );
    expect(worked).toEqual([
      ['2026-10-24T20:00:00Z', '2026-10-25T05:00:00Z', 9],
      ['2026-10-25T00:10:00Z', '2026-10-25T00:40:00Z', 0.5],
      ['2026-10-25T00:40:00Z', '2026-10-25T01:10:00Z', 0.5],
    ]);
  });

  test('that the clocks skip are refused, and so is an exit before its entry', async () => {
    const acme = await companies.company();
    const skipped = { fecha: '2026-03-29', hora: '02:30', metodo: 'app' };
    const problems = await acme.problems([
      ana,
      entry('skipped', '2026-03-29 02:30', null),
      { ...entry('out', '2026-03-29 01:00', null), salida: skipped },
      entry('reversed', '2026-01-15 08:00', '2026-01-15 07:59'),
    ]);
    expect(problems).toMatchObject([
      { ref: 'skipped', campo: 'entrada.hora', mensaje: 'esa hora local no existe (cambio de hora)' },
      { ref: 'out', campo: 'salida.hora', mensaje: 'esa hora local no existe (cambio de hora)' },
      { ref: 'reversed', campo: 'salida', mensaje: 'la salida es anterior a la entrada' },
    ]);
  });

  test('an opportunity without creation moment was created now, once', async () => {
    const acme = await companies.company();
    const records = [
      { coleccion: 'funnels', ref: 'f', titulo: 'F', etapas: [{ ref: 'e', titulo: 'E' }] },
      { coleccion: 'oportunidades', ref: 'o', titulo: 'O', funnel: 'f', etapa: 'e' },
    ];
    await acme.import(records);
    const [before] = await acme.rows('opportunities');
    const age = Temporal.Now.instant().since(Temporal.Instant.from(String(before?.opened_at)));
    expect(Math.abs(age.total('seconds'))).toBeLessThan(60);
    expect(await acme.import(records)).toMatchObject({ changed: 0 });
  });

  test('a moment that the service knows to the microsecond stays when the file says it to the second', async () => {
    const acme = await companies.company();
    const records = [
      { coleccion: 'funnels', ref: 'f', titulo: 'F', etapas: [{ ref: 'e', titulo: 'E' }] },
      { coleccion: 'oportunidades', ref: 'o', titulo: 'O', funnel: 'f', etapa: 'e' },
    ];
    await acme.import(records);
    // In the second of two hours with the same local time.
    await companies.database.transaction(acme.id, { write: true }, (db) =>
      db
        .updateTable('opportunities')
        .set({ opened_at: '2025-10-26T01:30:15.123456Z' })
        .where('account_id', '=', acme.id)
        .execute(),
    );
    const before = await acme.dump();
    const lines = await acme.export();
    expect(lines.join()).toContain('"fecha_creacion":"2025-10-26 02:30:15"');
    expect(await acme.importLines(lines)).toMatchObject({ created: 0, changed: 0 });
    expect((await acme.dump()).opportunities).toBe(before.opportunities);
  });
});

describe('articles', () => {
  const hilo = (more: object): FileRecord => ({ coleccion: 'articulos', ref: 'hilo', descripcion: 'Hilo', ...more });
  const lists = [
    { coleccion: 'tarifas', ref: 't1', tarifa: 1 },
    { coleccion: 'tarifas', ref: 't2', tarifa: 2, con_iva: false },
  ];

  test('a price with VAT that is left out is computed exactly, where the list has one', async () => {
    const acme = await companies.company();
    const precios = [
      { tarifa: 1, precio: 1.005 },
      { tarifa: 2, precio: 3 },
    ];
    await acme.import([...lists, hilo({ precios, iva: 0 })]);
    // 1.005 is 1.00499999999999989 in binary floating point.
    expect(await acme.rows('products')).toMatchObject([{ prices: { 1: [1.005, 1.01], 2: [3, null] } }]);
    await acme.import([...lists, hilo({ precios: [{ tarifa: 1, precio: -0.5, precio_con_iva: 7 }] })]);
    expect(await acme.rows('products')).toMatchObject([{ prices: { 1: [-0.5, 7] } }]);
    await acme.import([...lists, hilo({ precios: [{ tarifa: 1, precio: -0.5 }], iva: 21 })]);
    expect(await acme.rows('products')).toMatchObject([{ prices: { 1: [-0.5, -0.61] } }]);
  });

  test('a list that loses or gains its column with VAT takes the prices along', async () => {
    const acme = await companies.company();
    const precios = [
      { tarifa: 1, precio: 10 },
      { tarifa: 2, precio: 10 },
    ];
    await acme.import([...lists, hilo({ precios })]);
    await acme.import([
      { coleccion: 'tarifas', ref: 't1', tarifa: 1, con_iva: false },
      { coleccion: 'tarifas', ref: 't2', tarifa: 2, con_iva: true },
    ]);
    expect(await acme.rows('products')).toMatchObject([{ prices: { 1: [10, null], 2: [10, 12.1] } }]);
  });

  test('a price of an unknown list, twice of one, or with VAT where the list has none, is refused', async () => {
    const acme = await companies.company();
    const problems = await acme.problems([
      ...lists,
      hilo({
        precios: [
          { tarifa: 1, precio: 1 },
          { tarifa: 1, precio: 2 },
          { tarifa: 2, precio: 1, precio_con_iva: 1.21 },
          { tarifa: 3, precio: 1 },
        ],
      }),
    ]);
    expect(problems.map(({ campo }) => campo)).toEqual([
      'precios[1].tarifa',
      'precios[2].precio_con_iva',
      'precios[3].tarifa',
    ]);
  });

  const movements = async (acme: Awaited<ReturnType<typeof companies.company>>) =>
    (await acme.rows('stock_movements')).map(({ quantity, opening }) => [quantity, opening]);
  const move = (ref: string, cantidad: number): FileRecord => ({
    coleccion: 'movimientos_stock',
    ref,
    articulo: 'hilo',
    fecha: '2026-01-15 10:00:00',
    cantidad,
  });

  test('the stock of an article for sale is the sum of its movements, an opening one included', async () => {
    const acme = await companies.company();
    await acme.import([hilo({ stock: 40 })]);
    expect(await movements(acme)).toEqual([[40, true]]);
    await acme.import([hilo({ stock: 40 }), move('m1', -2), move('m2', -0.5)]);
    expect(new Set(await movements(acme))).toEqual(
      new Set([
        [42.5, true],
        [-2, false],
        [-0.5, false],
      ]),
    );
    await acme.import([move('m1', -2), move('m3', 42.5)]);
    expect(await movements(acme)).toEqual([
      [-2, false],
      [-0.5, false],
      [42.5, false],
    ]);
    expect(await acme.rows('product_stocks')).toMatchObject([{ quantity: 40, version: 1 }]);
    await acme.import([hilo({ stock: 30 })]);
    expect((await movements(acme)).find(([, opening]) => opening)).toEqual([-10, true]);
  });

  test('an article that is rented or a service has stock without movements', async () => {
    const acme = await companies.company();
    await acme.import([hilo({ modo: 'alquiler', stock: 3 })]);
    expect(await movements(acme)).toEqual([]);
    expect(await acme.rows('product_stocks')).toMatchObject([{ quantity: 3 }]);
  });

  test('texts are kept also as they are searched and compared', async () => {
    const acme = await companies.company();
    await acme.import(SAMPLE);
    const searched = async (table: string) => (await acme.rows(table)).map(({ search }) => search)[0];
    expect(await searched('products')).toBe('hilo de cobre\nh-1\ns1\n8400000000017');
    expect(await searched('suppliers')).toBe('cables, s.a.\ncables\na1\nhola@cables.example');
    expect(await searched('employees')).toBe('ana nunez\nana@acme.example');
    expect(await searched('projects')).toBe('nave\n26-001');
    expect(await acme.rows('clients')).toMatchObject([
      { tax_key: 'B12345678', search: 'bar nilo, s.l.\nnilo\nes-b 1234.5678\nbar@nilo.example' },
      { tax_key: null },
    ]);
    expect(await acme.rows('contacts')).toMatchObject([
      {
        email_key: 'rita@nilo.example',
        phone_key: '600112233',
        search: 'rita\nnilo\nrita@nilo.example\n+34 600 11 22 33',
      },
    ]);
  });
});

describe('documents', () => {
  test('[W-07] a line holds its own project, or else that of its document, and the export has what is its own', async () => {
    const acme = await companies.company();
    const project = (ref: string) => ({ coleccion: 'proyectos', ref, numero: ref, descripcion: ref });
    const own = { ...line, proyecto: 'q' };
    await acme.import([bar, project('p'), project('q'), note('a', { proyecto: 'p' }), note('b', { lineas: [own] })]);
    const [p, q] = (await acme.rows('projects')).map(({ id }) => id);
    expect((await acme.rows('delivery_note_lines')).map(({ project_id }) => project_id)).toEqual([p, q]);
    await acme.import([note('a', { proyecto: 'q' }), note('b')]);
    expect((await acme.rows('delivery_note_lines')).map(({ project_id }) => project_id)).toEqual([q, null]);
    await acme.import([note('a', { proyecto: 'p', lineas: [own, line, { ...line, proyecto: 'p' }] }), note('b')]);
    expect((await acme.rows('delivery_note_lines')).map(({ project_id }) => project_id)).toEqual([q, null, p, p]);
    const [exported] = await acme.exported('albaranes');
    expect(exported?.lineas).toMatchObject([{ proyecto: 'q' }, { proyecto: null }, { proyecto: null }]);
  });

  test('numbers given later go on after the imported ones', async () => {
    const acme = await companies.company();
    const numbered = (coleccion: string, ref: string, numero: string, fecha: string) => ({
      coleccion,
      ref,
      numero,
      fecha,
      cliente: 'bar',
      lineas: [],
    });
    await acme.import([
      bar,
      numbered('presupuestos', 'p', 'P2026-0003', '2026-01-01'),
      numbered('presupuestos', 'q', 'P2026-0400', '2025-01-01'),
      numbered('albaranes', 'a1', 'A2026-0009', '2026-01-01'),
      numbered('albaranes', 'a2', 'A2026-0010', '2026-01-02'),
      numbered('albaranes', 'a4', 'SERIE-9000', '2026-01-02'),
      numbered('albaranes', 'a5', 'A2025-10001', '2025-01-02'),
      numbered('facturas', 'f', 'F2026-0001', '2026-01-01'),
    ]);
    const counters = (await acme.rows('document_counters')).map(({ document, year, last_number }) => [
      document,
      year,
      last_number,
    ]);
    expect(counters.sort()).toEqual([
      ['delivery_note', 2025, 10001],
      ['delivery_note', 2026, 10],
      ['estimate', 2026, 3],
      ['invoice', 2026, 1],
    ]);
    const project = (ref: string) => ({ coleccion: 'proyectos', ref, numero: ref, descripcion: ref });
    await acme.import(['26-009', '26-0010', '25-1234', '26-11', '26-', '2026-050', '99'].map(project));
    const projects = (await acme.rows('document_counters')).filter(({ document }) => document === 'project');
    expect(projects.map(({ year, last_number }) => [year, last_number]).sort()).toEqual([
      [2025, 1234],
      [2026, 10],
    ]);
    await acme.import([project('26-003')]);
    await acme.import([numbered('albaranes', 'a2', 'A2026-0002', '2026-01-02')]);
    expect(
      (await acme.rows('document_counters')).find(
        ({ year, document }) => year === 2026 && document === 'delivery_note',
      ),
    ).toMatchObject({ last_number: 10 });
    expect((await acme.rows('document_counters')).filter(({ document }) => document === 'project')).toMatchObject(
      projects,
    );
  });

  test('numbers given later go on after those of the company’s series, whichever comes first', async () => {
    const acme = await companies.company();
    const series = (said: object) => ({ coleccion: 'cuenta', ref: 'c', nombre: 'Prueba', series: said });
    const invoice = (numero: string) => note(numero, { coleccion: 'facturas', numero, fecha: '2026-01-01' });
    const last = async () =>
      Object.fromEntries((await acme.rows('document_counters')).map(({ document, last_number: n }) => [document, n]));
    await acme.import([series({ factura: '1/FAC-' }), bar, invoice('F2026-0009'), invoice('1/FAC-2026-0004')]);
    expect(await last()).toEqual({ invoice: 4 });
    await acme.import([series({ factura: null })]);
    expect(await last()).toEqual({ invoice: 9 });
    await acme.import([series({ rectificativa: '1/FAC-' })]);
    expect(await last()).toEqual({ invoice: 9, rectification: 4 });
    await acme.import([series({ factura: '1/FAC-', rectificativa: 'F' })]);
    expect(await last()).toEqual({ invoice: 9, rectification: 9 });
    await acme.import([invoice('1/FAC-2026-0011')]);
    expect(await last()).toEqual({ invoice: 11, rectification: 9 });
  });

  test.each([
    [{ factura: 'F1' }, 'factura', 'sin cifra al final'],
    [{ factura: 'f' }, 'factura', 'mayúsculas'],
    [{ presupuesto: 'ABCDEFGHIJK' }, 'presupuesto', 'de 1 a 10'],
    [{ albaran: 'A_' }, 'albaran', 'mayúsculas'],
    [{ factura: 'R' }, 'factura', 'es también la de rectificativa'],
    [{ factura: 'X-', presupuesto: 'X-' }, 'factura', 'es también la de presupuesto'],
    [{ otra: 'X' }, 'otra', 'no es un campo'],
  ])('a company’s series that is none, or another’s: %j', async (series, campo, mensaje) => {
    const acme = await companies.company();
    const problems = await acme.problems([{ coleccion: 'cuenta', ref: 'c', nombre: 'Prueba', series }]);
    expect(problems[0]).toMatchObject({ campo: `series.${campo}`, mensaje: expect.stringContaining(mensaje) });
  });

  test('two documents of a year cannot have one number, and may have none', async () => {
    const acme = await companies.company();
    const problems = await acme.problems([
      bar,
      note('a', { numero: 'X1' }),
      note('b', { numero: 'X1', fecha: '2025-12-31' }),
      note('c', { numero: 'X1' }),
    ]);
    expect(problems).toMatchObject([
      { line: 5, coleccion: 'albaranes', ref: 'c', mensaje: 'ya hay otro documento del mismo año con este numero' },
    ]);
    await acme.import([bar, note('a'), note('b')]);
    expect(await acme.rows('delivery_notes')).toMatchObject([{ number: null }, { number: null }]);
  });

  test('an invoice without due dates has one, on its date, for the total with VAT', async () => {
    const acme = await companies.company();
    const lineas = [
      { ...line, importe_unitario: 0.05, iva: 10 },
      { ...line, importe_unitario: 0.05, iva: 10 },
      { ...line, importe_unitario: 10, descuento: 50 },
    ];
    const invoice = { coleccion: 'facturas', ref: 'f', fecha: '2026-01-31', cliente: 'bar', lineas };
    const supplier = { coleccion: 'proveedores', ref: 'pro', nombre_fiscal: 'Pro' };
    const purchase = {
      coleccion: 'facturas_compra',
      ref: 'g',
      numero: '1',
      fecha: '2026-02-01',
      proveedor: 'pro',
      lineas,
      pagado: 2,
    };
    await acme.import([bar, supplier, invoice, purchase]);
    // 0.10 + 0.01 at 10%, 5.00 + 1.05 at 21%.
    expect(await acme.rows('invoice_due_dates')).toMatchObject([{ date: '2026-01-31', amount: 6.16, paid: 0 }]);
    expect(await acme.rows('purchase_invoice_due_dates')).toMatchObject([
      { date: '2026-02-01', amount: 6.16, paid: 2 },
    ]);
    const dates = [{ fecha: '2026-03-01', importe: 6, cobrado: 1 }];
    await acme.import([{ ...invoice, vencimientos: dates }]);
    expect(await acme.rows('invoice_due_dates')).toMatchObject([{ date: '2026-03-01', amount: 6, paid: 1 }]);
  });

  test('what is paid of the due dates of a purchase has to add up to what is paid of it', async () => {
    const acme = await companies.company();
    const vencimientos = [
      { fecha: '2026-03-01', importe: 5, pagado: 0.1 },
      { fecha: '2026-04-01', importe: 5, pagado: 0.2 },
    ];
    const supplier = { coleccion: 'proveedores', ref: 'pro', nombre_fiscal: 'Pro' };
    const purchase = (pagado: number) => ({
      coleccion: 'facturas_compra',
      ref: 'g',
      numero: '1',
      fecha: '2026-02-01',
      proveedor: 'pro',
      lineas: [],
      pagado,
      vencimientos,
    });
    expect(await acme.problems([supplier, purchase(0.4)])).toMatchObject([{ campo: 'vencimientos' }]);
    expect(await acme.import([supplier, purchase(0.3)])).toMatchObject({ created: 2 });
  });
});

test('[W-02] an annulled document stays so when a file that does not know of it is imported again', async () => {
  const acme = await companies.company();
  const annulled = { anulado_el: '2026-01-20 10:00:00', anulado_por: 'key:1', motivo_anulacion: 'Duplicado' };
  await acme.import([bar, note('a', annulled)]);
  expect(await acme.import([bar, note('a')])).toMatchObject({ created: 0, changed: 0 });
  expect(await acme.exported('albaranes')).toMatchObject([annulled]);
});

describe('what is refused', () => {
  const contract: FileRecord = {
    coleccion: 'contratos',
    ref: 'c',
    empleado: 'ana',
    tipo_contrato: 't',
    fecha_alta: '2026-01-01',
  };
  const type = { coleccion: 'tipos_contrato', ref: 't', titulo: 'T' };
  const funnel = { coleccion: 'funnels', ref: 'f', titulo: 'F', etapas: [{ ref: 'e', titulo: 'E' }] };
  const away = {
    coleccion: 'ausencias',
    ref: 'a',
    empleado: 'ana',
    titulo: 'A',
    tipo: 'baja',
    fecha_inicio: '2026-01-01',
  };
  const product = { coleccion: 'articulos', ref: 'x', descripcion: 'X' };

  test.each<[string, FileRecord[], { campo: string; mensaje: unknown }]>([
    [
      'an annulment without its reason',
      [bar, note('a', { anulado_el: '2026-01-20 10:00:00' })],
      { campo: 'motivo_anulacion', mensaje: expect.stringContaining('falta') },
    ],
    [
      'an unknown collection',
      [{ coleccion: 'coches', ref: 'a' }],
      { campo: 'coleccion', mensaje: expect.stringContaining('empleados') },
    ],
    [
      'no collection',
      [{ ...ana, coleccion: '' }],
      { campo: 'coleccion', mensaje: expect.stringContaining('no es una colección') },
    ],
    ['an unknown field', [{ ...ana, sueldo: 1 }], { campo: 'sueldo', mensaje: 'no es un campo de esta colección' }],
    [
      'renewals left due from a day that is not before the last invoicing',
      [bar, service({ ultima_facturacion: '2026-03-01', pendiente_desde: '2026-03-01' })],
      { campo: 'pendiente_desde', mensaje: 'se esperaba una fecha anterior a ultima_facturacion' },
    ],
    [
      'renewals left due without any invoicing',
      [bar, service({ pendiente_desde: '2026-03-01' })],
      { campo: 'pendiente_desde', mensaje: expect.stringContaining('ultima_facturacion') },
    ],
    [
      'a cycle skipped twice',
      [bar, service({ ciclos_saltados: ['2026-03-01', '2026-02-01', '2026-03-01'] })],
      { campo: 'ciclos_saltados', mensaje: 'hay fechas repetidas' },
    ],
    [
      'a skipped cycle on no day',
      [bar, service({ ciclos_saltados: ['2026-02-30'] })],
      { campo: 'ciclos_saltados[0]', mensaje: expect.anything() },
    ],
    [
      'an unknown field of a line',
      [bar, note('n', { lineas: [{ ...line, importe: 1 }] })],
      { campo: 'lineas[0].importe', mensaje: 'no es un campo de esta colección' },
    ],
    ['another type', [{ ...ana, activo: 'sí' }], { campo: 'activo', mensaje: 'se esperaba true o false' }],
    [
      'a number as text',
      [bar, note('n', { lineas: [{ ...line, cantidad: '1' }] })],
      { campo: 'lineas[0].cantidad', mensaje: 'se esperaba un número' },
    ],
    ['no ref', [{ ...ana, ref: undefined }], { campo: 'ref', mensaje: 'es obligatorio' }],
    ['an empty ref', [{ ...ana, ref: '  ' }], { campo: 'ref', mensaje: 'no puede estar vacío' }],
    ['a missing field', [{ ...ana, nombre: null }], { campo: 'nombre', mensaje: 'se esperaba un texto' }],
    ['an empty text', [{ ...ana, nombre: ' ' }], { campo: 'nombre', mensaje: 'no puede estar vacío' }],
    [
      'a character that cannot be stored',
      [{ ...ana, nombre: 'A\0' }],
      { campo: 'nombre', mensaje: 'contiene un carácter no admitido' },
    ],
    [
      'half a character',
      [{ ...ana, nombre: 'A\ud800' }],
      { campo: 'nombre', mensaje: 'contiene un carácter no admitido' },
    ],
    [
      'a ref that names nothing',
      [{ ...ana, departamento: 'd' }],
      { campo: 'departamento', mensaje: expect.stringContaining('no existe d en departamentos') },
    ],
    [
      'a ref that names a later record',
      [
        { ...ana, departamento: 'd' },
        { coleccion: 'departamentos', ref: 'd', titulo: 'D' },
      ],
      { campo: 'departamento', mensaje: expect.stringContaining('un registro anterior') },
    ],
    [
      'a stage of another funnel',
      [
        funnel,
        { ...funnel, ref: 'g', etapas: [] },
        { coleccion: 'oportunidades', ref: 'o', titulo: 'O', funnel: 'g', etapa: 'e' },
      ],
      { campo: 'etapa', mensaje: expect.stringContaining('en etapas de funnel g') },
    ],
    [
      'a format without its article',
      [bar, note('n', { lineas: [{ ...line, formato: 'b' }] })],
      { campo: 'lineas[0].formato', mensaje: expect.stringContaining('falta articulo') },
    ],
    [
      'an unknown type of day',
      [ana, { ...away, tipo: 'fiesta', fecha_fin: '2026-01-01' }],
      { campo: 'tipo', mensaje: 'no existe el tipo de día fiesta' },
    ],
    ['an unknown price list', [{ ...bar, tarifa: 5 }], { campo: 'tarifa', mensaje: 'no existe la tarifa 5' }],
    [
      'an absence both authorised and rejected',
      [ana, { ...away, fecha_fin: '2026-01-01', autorizada: true, rechazada: true }],
      { campo: 'rechazada', mensaje: 'una ausencia no puede estar autorizada y rechazada' },
    ],
    [
      'an absence that ends before it starts',
      [ana, { ...away, fecha_fin: '2025-12-31' }],
      { campo: 'fecha_fin', mensaje: 'es anterior a fecha_inicio' },
    ],
    [
      'a contract that ends before it starts',
      [ana, type, { ...contract, fecha_baja: '2025-12-31' }],
      { campo: 'fecha_baja', mensaje: 'es anterior a fecha_alta' },
    ],
    [
      'a day that does not exist',
      [ana, type, { ...contract, fecha_alta: '2026-02-29' }],
      { campo: 'fecha_alta', mensaje: 'se esperaba una fecha real AAAA-MM-DD' },
    ],
    [
      'more than 6 decimals',
      [{ ...product, coste: 0.1234567 }],
      { campo: 'coste', mensaje: 'se esperaban como mucho 6 decimales' },
    ],
    [
      'an amount beyond what JSON carries',
      [{ ...product, coste: 1e13 }],
      { campo: 'coste', mensaje: 'se esperaba un valor hasta 1000000000000' },
    ],
    [
      'a factor of 0',
      [{ ...product, formatos: [{ ref: 'f', titulo: 'F', factor: 0 }] }],
      { campo: 'formatos[0].factor', mensaje: 'se esperaba un valor mayor que 0' },
    ],
    [
      'two formats with one ref',
      [
        {
          ...product,
          variaciones: [
            { ref: 'v', descripcion: '1' },
            { ref: 'v', descripcion: '2' },
          ],
        },
      ],
      { campo: 'variaciones[1].ref', mensaje: 'v ya es la de otro elemento de variaciones' },
    ],
    [
      'one date of a reservation',
      [bar, note('n', { lineas: [{ ...line, startDate: '2026-01-01' }] })],
      { campo: 'lineas[0].endDate', mensaje: 'falta: van las dos fechas o ninguna' },
    ],
    [
      'a reservation that ends before it starts',
      [bar, note('n', { lineas: [{ ...line, startDate: '2026-01-02', endDate: '2026-01-01' }] })],
      { campo: 'lineas[0].endDate', mensaje: 'es anterior a startDate' },
    ],
    [
      'another word than those expected',
      [{ ...product, modo: 'sale' }],
      { campo: 'modo', mensaje: 'se esperaba uno de: venta, alquiler, servicio' },
    ],
    [
      'a number of another record',
      [
        { ...ana, id: 3 },
        { ...ana, ref: 'leo', id: 3 },
      ],
      { campo: 'id', mensaje: 'el id 3 ya es del registro ana' },
    ],
    [
      'a number as high as 10^12',
      [{ ...ana, id: 1e12 }],
      { campo: 'id', mensaje: 'se esperaba un valor hasta 999999999999' },
    ],
    [
      'a line with the number of another',
      [bar, note('a', { lineas: [{ ...line, id: 3 }] }), note('b', { lineas: [{ ...line, id: 3 }] })],
      { campo: 'lineas[0].id', mensaje: 'el id 3 ya es de otro registro' },
    ],
    [
      'the price list of another record',
      [
        { coleccion: 'tarifas', ref: 'a', tarifa: 1 },
        { coleccion: 'tarifas', ref: 'b', tarifa: 1 },
      ],
      { campo: 'tarifa', mensaje: 'repite el registro de la línea 2' },
    ],
    [
      'content that is not base64',
      [
        bar,
        { coleccion: 'presupuestos', ref: 'p', fecha: '2026-01-01', cliente: 'bar', lineas: [] },
        {
          coleccion: 'adjuntos',
          ref: 'a',
          presupuesto: 'p',
          nombre: 'a',
          tipo_mime: 'a/b',
          fecha_subida: '2026-01-01 00:00:00',
          contenido: 'ñ',
        },
      ],
      { campo: 'contenido', mensaje: 'se esperaba base64 con su relleno' },
    ],
    [
      '[FAIR-03] an attachment of more than 20 MB',
      [
        bar,
        { coleccion: 'presupuestos', ref: 'p', fecha: '2026-01-01', cliente: 'bar', lineas: [] },
        {
          coleccion: 'adjuntos',
          ref: 'a',
          presupuesto: 'p',
          nombre: 'a',
          tipo_mime: 'a/b',
          fecha_subida: '2026-01-01 00:00:00',
          contenido: Buffer.alloc(20 * 1024 ** 2 + 1).toString('base64'),
        },
      ],
      { campo: 'contenido', mensaje: 'no puede pasar de 20 MB' },
    ],
    ['a second `cuenta`', [CUENTA, ana, CUENTA], { campo: 'coleccion', mensaje: 'ya hay un registro de cuenta' }],
    ['a `cuenta` that is not first', [CUENTA], { campo: 'coleccion', mensaje: 'ya hay un registro de cuenta' }],
    [
      'another version of the format',
      [{ ...CUENTA, formato: 3 }],
      { campo: 'formato', mensaje: 'se esperaba uno de: 1, 2' },
    ],
    [
      'a time zone that is none',
      [{ ...CUENTA, zona_horaria: 'Europe/Murcia' }],
      { campo: 'zona_horaria', mensaje: expect.stringContaining('IANA') },
    ],
  ])('%s', async (title, records, expected) => {
    const acme = await companies.company();
    const lines = title.includes('not first') ? [JSON.stringify(ana), ...linesOf(records)] : linesOf(records);
    const problems = await problemsOf(acme.importLines(lines));
    if (title.includes('not first')) {
      expect(problems).toMatchObject([
        { line: 1, campo: 'coleccion', mensaje: 'el primer registro tiene que ser el de cuenta' },
      ]);
    } else {
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatchObject(expected);
    }
  });

  test('a line that is not JSON, or not an object; blank lines and the mark of the byte order are no matter', async () => {
    const acme = await companies.company();
    const [cuenta = ''] = linesOf([]);
    expect(await problemsOf(acme.importLines([`\uFEFF${cuenta}`, '', '{"coleccion":', '[1]', '  ', 'null']))).toEqual([
      { line: 3, coleccion: '', ref: '', campo: '', mensaje: expect.stringContaining('no es JSON') },
      { line: 4, coleccion: '', ref: '', campo: '', mensaje: 'se esperaba un objeto JSON' },
      { line: 6, coleccion: '', ref: '', campo: '', mensaje: 'se esperaba un objeto JSON' },
    ]);
    expect(await problemsOf(acme.importLines([]))).toMatchObject([{ coleccion: 'cuenta', campo: 'coleccion' }]);
  });

  test('a ref that comes twice, however far apart, naming the first', async () => {
    const acme = await companies.company();
    const many = Array.from({ length: 2500 }, (_, index) => ({ ...ana, ref: `e${index}` }));
    const problems = await acme.problems([...many, { ...ana, ref: 'e3' }, { ...ana, ref: 'e2499' }]);
    expect(problems).toMatchObject([
      { line: 2502, ref: 'e3', campo: 'ref', mensaje: 'repite el registro de la línea 5' },
      { line: 2503, ref: 'e2499', campo: 'ref', mensaje: 'repite el registro de la línea 2501' },
    ]);
  });

  test('all that is wrong is counted and the first hundred told, by line; a faulty record is not missed where it is named', async () => {
    const acme = await companies.company();
    const faulty = Array.from({ length: 150 }, (_, index) => ({ ...ana, ref: `e${index}`, activo: 1 }));
    const leave = { ...type, coleccion: 'turnos', ref: 'x', titulo: 4 };
    const named = { ...contract, empleado: 'e149' };
    const imported = acme.import([...faulty, type, named, leave]);
    await expect(imported).rejects.toMatchObject({
      name: 'AccountFileError',
      total: 151,
      problems: { length: 100 },
      message: expect.stringContaining('Línea 2: empleados e0: activo: se esperaba true o false'),
    });
    await expect(imported).rejects.toThrow('El fichero tiene 151 errores y no se ha importado nada.');
  });

  test('a file with an error, and nothing of it is written', async () => {
    const acme = await companies.company();
    await acme.import(SAMPLE);
    const before = await acme.dump();
    const changed = SAMPLE.map((record) => ('titulo' in record ? { ...record, titulo: 'Otro' } : record));
    const more = Array.from({ length: 1500 }, (_, index) => ({ ...ana, ref: `e${index}` }));
    expect(await acme.problems([...changed, ...more, { ...ana, nombre: 1 }])).toHaveLength(1);
    expect(await acme.dump()).toEqual(before);
  });

  test('what a record already has another number, or another record has its number', async () => {
    const acme = await companies.company();
    await acme.import([{ ...ana, id: 3 }, { ...ana, ref: 'leo', id: 4 }, funnel]);
    expect(await acme.problems([{ ...ana, id: 5 }])).toMatchObject([
      { campo: 'id', mensaje: 'el registro ya tiene el id 3' },
    ]);
    expect(await acme.problems([{ ...ana, ref: 'eva', id: 4 }])).toMatchObject([
      { campo: 'id', mensaje: 'el id 4 ya es del registro leo' },
    ]);
    expect(await acme.problems([{ ...ana, ref: '@3' }])).toMatchObject([
      { campo: 'ref', mensaje: 'el id 3 ya es del registro ana' },
    ]);
    expect(await acme.problems([{ ...funnel, etapas: [{ ref: 'e', id: 8, titulo: 'E' }] }])).toMatchObject([
      { campo: 'etapas[0].id' },
    ]);
  });
});

test('a file is read as a stream, with progress', async () => {
  const acme = await companies.company();
  async function* lines() {
    yield* linesOf(Array.from({ length: 2500 }, (_, index) => ({ ...ana, ref: `e${index}` })));
  }
  const seen: number[] = [];
  const result = await acme.importLines(lines(), { onProgress: (records) => seen.push(records) });
  expect(result).toEqual({ records: 2501, created: 2500, changed: 0, notices: [] });
  expect(seen).toEqual([...seen].sort((one, other) => one - other));
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.at(-1)).toBe(2501);
});

test('no file sets the quota of its company: it stays, and who imports is told', async () => {
  const acme = await companies.company({ quotaPerMinute: 600 });
  const file = (cuota_por_minuto?: number | null) => [
    { coleccion: 'cuenta', ref: 'acme', nombre: 'Acme', cuota_por_minuto },
  ];
  const quota = async () => (await acme.exported('cuenta'))[0]?.cuota_por_minuto;
  expect(await acme.import(file(1_000_000))).toEqual({
    records: 1,
    created: 0,
    changed: 1,
    notices: [
      'cuota_por_minuto (1000000) is left aside: no file sets a quota, `albaran account set --quota 1000000` does',
    ],
  });
  expect(await quota()).toBe(600);
  // Neither its own export nor a file without the field changes it.
  for (const given of [600, null, undefined]) {
    expect(await acme.import(file(given))).toEqual({ records: 1, created: 0, changed: 0, notices: [] });
    expect(await quota()).toBe(600);
  }
  expect(await acme.problems(file(0))).toHaveLength(1);
});

describe('[FAIR-03] a line is at most 32 MB', () => {
  const MB = 1024 ** 2;
  const piece = Buffer.from('x'.repeat(64 * 1024));
  /** A file of these texts; a number stands for as many megabytes without a line end. */
  const file = (...parts: (string | number)[]) =>
    Readable.from(
      parts.flatMap((part) => (typeof part === 'string' ? [Buffer.from(part)] : Array(part * 16).fill(piece))),
    );

  test('an attachment of 20 MB fits, and comes out again as it went in', async () => {
    const acme = await companies.company();
    const content = Buffer.alloc(20 * MB, 'albarán');
    await acme.importLines(
      readLines(
        Readable.from([
          `${linesOf([
            bar,
            { coleccion: 'presupuestos', ref: 'p', fecha: '2026-01-01', cliente: 'bar', lineas: [] },
            {
              coleccion: 'adjuntos',
              ref: 'a',
              presupuesto: 'p',
              nombre: 'a',
              tipo_mime: 'a/b',
              fecha_subida: '2026-01-01 00:00:00',
              contenido: content.toString('base64'),
            },
          ]).join('\n')}\n`,
        ]).map((text: string) => Buffer.from(text)),
      ),
    );
    const [exported] = await acme.exported('adjuntos');
    expect(exported?.contenido === content.toString('base64')).toBe(true);
  });

  test('a longer one is an error by its number, beside the others of the file', async () => {
    const acme = await companies.company();
    const text = file(`${JSON.stringify(CUENTA)}\n`, 40, '\n', `${JSON.stringify({ ...ana, nombre: 7 })}\n`, 33);
    expect(await problemsOf(acme.importLines(readLines(text)))).toEqual([
      { line: 2, coleccion: '', ref: '', campo: '', mensaje: 'la línea pasa de 32 MB' },
      expect.objectContaining({ line: 3, campo: 'nombre' }),
      { line: 4, coleccion: '', ref: '', campo: '', mensaje: 'la línea pasa de 32 MB' },
    ]);
  });

  test('and of it no more is held than shows that it is', async () => {
    const lengths = [];
    for await (const text of readLines(file('ñ\n', 200, '\nend'))) lengths.push(text.length);
    expect(lengths).toEqual([1, expect.any(Number), 3]);
    expect(lengths[1]).toBeGreaterThan(32 * MB);
    expect(lengths[1]).toBeLessThanOrEqual(33 * MB);
  });
});
