// Rollups equal what the records give after any writes, one after another or concurrent.
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { ROLLUPS } from '../../figures/figures.ts';
import { differences } from '../../figures/rollups.ts';
import { insertDeliveryNote, nextNoteId } from '../../routers/shared/documents/insert-document.ts';
import { issueRenewals } from '../../routers/shared/renewals/issue-renewals.ts';
import { ownDatabase, untilWaiting } from '../helpers/own-database.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../helpers/world.ts';

const TODAY = '2026-03-10';
const server = await startServer({ clock: new TestClock(`${TODAY}T09:00:00Z`), quotaPerMinute: 1_000_000 });
const { database, clock } = server.service;
afterAll(() => server.stop());

const PROJECTS = ['p0', 'p1', 'p2'] as const;
const base: FileRecord[] = [
  { coleccion: 'tipos_contrato', ref: 't', titulo: 'Indefinido' },
  ...['ana', 'eva'].map((ref) => ({ coleccion: 'empleados', ref, nombre: ref })),
  { coleccion: 'clientes', ref: 'cli', id: 1, nombre_fiscal: 'Cliente SL' },
  { coleccion: 'proveedores', ref: 'pro', id: 1, nombre_fiscal: 'Proveedor SA' },
  { coleccion: 'articulos', ref: 'a', id: 11, descripcion: 'Filtro', stock: 100 },
  ...PROJECTS.map((ref, index) => ({ coleccion: 'proyectos', ref, id: 31 + index, numero: ref, descripcion: 'Obra' })),
  ...['tareas', 'maquinas'].map((coleccion) => ({ coleccion, ref: `${coleccion} 0`, id: 21, titulo: 'x' })),
];

// Records that an import may bring again and again under the same refs.
const few = fc.integer({ min: 0, max: 2 });
const cents = fc.integer({ min: -50_000, max: 90_000 }).map((amount) => amount / 100);
const cost = fc.integer({ min: 0, max: 4000 }).map((amount) => amount / 100);
const day = fc
  .integer({ min: 0, max: 5 })
  .map((days) => Temporal.PlainDate.from('2026-03-28').add({ days }).toString());
const project = fc.option(fc.constantFrom(...PROJECTS), { nil: undefined });
const employee = fc.constantFrom('ana', 'eva');
// None is skipped by a clock change; those near midnight are on another day in other zones.
const hour = fc.constantFrom('00:10', '05:00', '12:20', '23:50');
const named = <T extends object>(coleccion: string, fields: fc.Arbitrary<T>) =>
  fc.tuple(few, fields).map(([index, values]): FileRecord => ({ coleccion, ref: `${coleccion} ${index}`, ...values }));
const line = fc.record({
  descripcion: fc.constant('x'),
  cantidad: fc.integer({ min: 1, max: 3 }),
  importe_unitario: cents,
  descuento: fc.constantFrom(0, 33.3),
});
const document = <T extends object>(more: fc.Arbitrary<T>) =>
  fc.oneof(
    fc.record({ fecha: day, proyecto: project, lineas: fc.array(fc.tuple(line, more).map(merged), { maxLength: 3 }) }),
    fc.record({ fecha: day, lineas: fc.array(fc.tuple(line, more, fc.record({ proyecto: project })).map(merged)) }),
  );
function merged(parts: readonly object[]): object {
  return Object.assign({}, ...parts);
}
const invoiced = fc.record({ proviene_albaranes: fc.boolean() });
const clocked = (fecha: string, hora: string) => ({ fecha, hora, metodo: 'app' });
// In an order in which each may name those before it.
const records: fc.Arbitrary<FileRecord>[] = [
  named(
    'contratos',
    fc
      .record({ empleado: employee, one: day, other: fc.option(day), coste_hora: cost, coste_hora_ss: cost })
      .map(({ one, other, ...rest }) => {
        const [fecha_alta, fecha_baja = null] = other === null ? [one] : [one, other].sort();
        return { ...rest, tipo_contrato: 't', fecha_alta, fecha_baja };
      }),
  ),
  named(
    'articulos',
    fc.record({ descripcion: fc.constant('Otro'), stock: few, modo: fc.constantFrom('venta', 'alquiler') }),
  ),
  named('proyectos', fc.record({ numero: fc.constant('9'), descripcion: fc.constant('Nueva') })),
  named('tareas', fc.record({ titulo: fc.constant('k'), proyecto: project })),
  named('maquinas', fc.record({ titulo: fc.constant('m'), coste_hora: cost })),
  named(
    'fichajes',
    fc
      .record({
        empleado: employee,
        day,
        from: hour,
        hours: fc.option(fc.integer({ min: 1, max: 30 })),
        pausa_minutos: fc.constantFrom(0, 20, 90),
        proyecto: project,
        task: fc.boolean(),
        machine: fc.boolean(),
      })
      .map(({ day, from, hours, task, machine, ...rest }) => {
        const exit = Temporal.PlainDateTime.from(`${day}T${from}`).add({ hours: hours ?? 0, days: 1 });
        const [fecha = '', hora = ''] = exit.with({ hour: 4 }).toString().split('T');
        return {
          ...rest,
          entrada: clocked(day, from),
          salida: hours === null ? null : clocked(fecha, hora.slice(0, 5)),
          ...(task ? { tarea: 'tareas 0' } : {}),
          ...(machine ? { maquina: 'maquinas 0' } : {}),
        };
      }),
  ),
  named(
    'recurrentes',
    fc.record({
      descripcion: fc.constant('r'),
      cliente: fc.constant('cli'),
      periodicidad: fc.constant('semanal'),
      fecha_creacion: fc.constant('2026-02-27'),
      ultima_facturacion: fc.constantFrom('2026-02-24', '2026-03-03'),
      lineas: fc.array(fc.tuple(line, fc.record({ proyecto: project })).map(merged), { minLength: 1, maxLength: 3 }),
    }),
  ),
  named(
    'albaranes',
    document(fc.constant({})).map((note) => ({ ...note, cliente: 'cli' })),
  ),
  named(
    'facturas',
    document(invoiced).map((invoice) => ({ ...invoice, cliente: 'cli' })),
  ),
  named(
    'albaranes_compra',
    document(fc.constant({})).map((note) => ({ ...note, proveedor: 'pro' })),
  ),
  named(
    'facturas_compra',
    document(invoiced).map((invoice) => ({ ...invoice, proveedor: 'pro', numero: '7' })),
  ),
];
const brought = fc
  .tuple(...records.map((one) => fc.array(one, { maxLength: 2 })))
  .map((lists) => [...new Map(lists.flat().map((record) => [record.ref, record])).values()]);

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('import' as const), brought }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('zone' as const),
      zone: fc.constantFrom('Europe/Madrid', 'America/New_York', 'Asia/Kolkata', 'America/Sao_Paulo'),
      brought: fc.oneof(fc.constant<FileRecord[]>([]), brought),
    }),
  },
  fc.record({ kind: fc.constant('note' as const), price: cents }),
  fc.record({ kind: fc.constant('invoice' as const), price: cents }),
  fc.record({ kind: fc.constant('invoice of notes' as const) }),
  fc.record({
    kind: fc.constant('estimate' as const),
    price: cents,
    project,
    destino: fc.constantFrom('albaran', 'factura'),
  }),
  fc.record({ kind: fc.constant('annulment' as const) }),
  fc.record({ kind: fc.constant('invoice annulled' as const) }),
  fc.record({
    kind: fc.constant('rectification' as const),
    liberar_albaranes: fc.boolean(),
    devolver_stock: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('purchase note' as const), price: cents, project }),
  fc.record({ kind: fc.constant('purchase invoice' as const), price: cents, project }),
  fc.record({ kind: fc.constant('purchase invoice of notes' as const) }),
  fc.record({ kind: fc.constant('purchase annulled' as const) }),
  fc.record({ kind: fc.constant('stock' as const), counted: fc.boolean() }),
  fc.record({ kind: fc.constant('mode' as const), modo: fc.constantFrom('venta', 'alquiler') }),
  fc.record({ kind: fc.constant('project' as const) }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('task' as const), project }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('renewals' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** A company whose zone an import may change, and its delivery notes. */
interface Acme {
  company: Company;
  cuenta: { zona_horaria: string };
  notes: string[];
  invoices: string[];
  rectifying: string[];
  received: string[];
  bills: string[];
}

let bill = 0;

async function take({ company, cuenta, notes, invoices, rectifying, received, bills }: Acme, action: Step) {
  const created = async (path: string, body: object): Promise<string> => {
    const answer = await company.post(path, body);
    expect([answer.status, answer.body.errorMsg]).toEqual([200, '']);
    return answer.body.data;
  };
  const sale = (price: number) => ({
    cliente: { id: 1 },
    pedido: { obra: 'Obra' },
    detalles: [{ cantidad: 2, importe_unitario: price, articulo_fk: 11 }],
  });
  const purchase = (price: number, ref: (typeof PROJECTS)[number] | undefined) => ({
    proveedor: { id: 1 },
    detalles: [{ cantidad: 3, importe_unitario: price, articulo_fk: 11 }],
    ...(ref && { proyectoId: 31 + PROJECTS.indexOf(ref) }),
  });
  const numbered = () => ({ numero: `B-${++bill}`, fecha: TODAY });
  const answered = async (answer: Promise<{ body: { errorMsg: string } }>) =>
    expect((await answer).body.errorMsg).toBe('');
  switch (action.kind) {
    case 'purchase note':
      return void received.push(await created('/purchase-delivery-notes', purchase(action.price, action.project)));
    case 'purchase invoice': {
      const invoice = { ...purchase(action.price, action.project), ...numbered() };
      return void bills.push(await created('/purchase-invoices', invoice));
    }
    case 'purchase invoice of notes': {
      const invoice = { proveedor: { id: 1 }, albaranes: received.splice(0, 2), ...numbered() };
      return void (invoice.albaranes.length > 0 && bills.push(await created('/purchase-invoices', invoice)));
    }
    case 'purchase annulled': {
      const [note, invoice] = [received.shift(), bills.shift()];
      const motivo = 'Duplicado';
      if (note) await answered(company.post(`/purchase-delivery-notes/${note}/annul`, { motivo }));
      if (invoice) await answered(company.post(`/purchase-invoices/${invoice}/annul`, { motivo }));
      return undefined;
    }
    case 'stock': {
      const how = action.counted ? { recuento: 50 } : { cantidad: -0.5 };
      const { status, body } = await company.post('/products/11/stock', { ...how, motivo: 'Recuento' });
      // Rented meanwhile, it has none.
      return void expect([200, 400], body.errorMsg).toContain(status);
    }
    case 'mode':
      return await answered(company.put('/products/11', { datos: { modo: action.modo } }));
    case 'import':
      return await company.load(action.brought);
    case 'zone':
      cuenta.zona_horaria = action.zone;
      return await company.load(action.brought);
    case 'note':
      return void notes.push(await created('/delivery-notes', sale(action.price)));
    case 'invoice':
      return void invoices.push(await created('/invoices', sale(Math.abs(action.price))));
    case 'invoice of notes': {
      const albaranes = notes.splice(0, 2);
      return void (albaranes.length > 0 && invoices.push(await created('/invoices', { albaranes })));
    }
    case 'annulment': {
      const note = notes.pop();
      return void (note && (await created(`/delivery-notes/${note}/annul`, { motivo: 'Duplicado' })));
    }
    case 'invoice annulled': {
      const invoice = rectifying.shift() ?? invoices.shift();
      return void (invoice && (await created(`/invoices/${invoice}/annul`, { motivo: 'Duplicado' })));
    }
    case 'rectification': {
      const invoice = invoices.pop();
      const { kind, ...how } = action;
      // Set off, it could not be annulled.
      const body = { motivo: 'Devuelto', compensar: false, ...how };
      return void (invoice && rectifying.push(await created(`/invoices/${invoice}/rectify`, body)));
    }
    case 'estimate': {
      const { price, project, destino } = action;
      const body = sale(Math.abs(price));
      const pedido = { ...body.pedido, proyectoId: project && 31 + PROJECTS.indexOf(project) };
      const id = await created('/estimates', { ...body, pedido });
      return void (await created(`/estimates/${id}/convert`, { destino }));
    }
    case 'project':
      return void (await created('/projects', { datos: { descripcion: 'Nueva' } }));
    case 'task': {
      const { project = '' } = action;
      const datos = { proyectoId: project && 31 + PROJECTS.indexOf(project) };
      return void expect((await company.put('/tasks/21', { datos })).body.errorMsg).toBe('');
    }
    case 'renewals': {
      const today = Temporal.PlainDate.from(TODAY);
      const author = { actor: 'schedule', door: 'schedule', requestId: 'test' } as const;
      const since = Temporal.PlainDate.from('0001-01-01');
      const renewals = { database, accountId: company.id, today, until: today, since, now: clock.now(), author };
      for await (const outcome of issueRenewals(renewals)) expect(outcome).not.toHaveProperty('failure');
    }
  }
}

/** Compares the rollups, and answers that use them, with the records. */
async function compare({ company }: Acme) {
  const wrong = await database.transaction(company.id, {}, (db) =>
    Promise.all(ROLLUPS.map((figure) => differences(db, company.id, figure))),
  );
  expect(wrong.flat()).toEqual([]);

  // A new key: the cache of the old one has the former time zone.
  const headers = await company.newKey();
  const data = async (path: string, query: object = {}) => {
    const { status, body } = await company.get(path, { ...query }, headers);
    expect([status, body.errorMsg]).toEqual([200, '']);
    return body.data;
  };
  const ever = { fecha_inicio: '2000-01-01', fecha_fin: '2100-12-31' };
  const [products, found, projects, dated] = await Promise.all([
    data('/products'),
    data('/products', { bajo_minimo: false, busqueda: 'o' }),
    data('/projects'),
    data('/projects', ever),
  ]);
  expect(products.total_articulos).toBe(products.articulos.length);
  expect(found.total_articulos).toBe(found.articulos.length);
  expect(projects).toEqual(dated);
  for (let date = Temporal.PlainDate.from('2026-03-27'); date.toString() < '2026-04-04'; date = date.add({ days: 1 })) {
    const { total_fichajes, fichajes } = await data('/employees/times', {
      fecha_inicio: date.toString(),
      fecha_fin: date.toString(),
    });
    expect([date.toString(), total_fichajes]).toEqual([date.toString(), fichajes.length]);
  }
}

async function newCompany(): Promise<Acme> {
  const cuenta = { zona_horaria: 'Europe/Madrid' };
  const company = await server.company(base, { cuenta });
  return { company, cuenta, notes: [], invoices: [], rectifying: [], received: [], bills: [] };
}

test('[FIC-01] [PRO-01] [PRJ-01] after any imports, sales and renewals, kept figures are those of the records', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
      const acme = await newCompany();
      for (const action of steps) {
        await take(acme, action);
        await compare(acme);
      }
    }),
    { numRuns: 12, endOnFailure: true },
  );
}, 120_000);

test('[PRJ-01] [DLV-03] and so they are when it all happens at once', async () => {
  await fc.assert(
    fc.asyncProperty(brought, fc.array(step, { minLength: 4, maxLength: 10 }), async (first, steps) => {
      const acme = await newCompany();
      await take(acme, { kind: 'import', brought: first });
      await Promise.all(steps.map((action) => take(acme, action)));
      await compare(acme);
    }),
    { numRuns: 8, endOnFailure: true },
  );
}, 120_000);

test('[DATE-02] [FIC-01] [PRJ-01] a file that changes the time zone alone moves entries to other days, and to other contracts', async () => {
  const acme = await newCompany();
  const contract = { coleccion: 'contratos', ref: 'c', empleado: 'ana', tipo_contrato: 't', coste_hora: 10 };
  const [entrada, salida] = [clocked('2026-03-10', '00:10'), clocked('2026-03-10', '02:10')];
  const entry = { coleccion: 'fichajes', ref: 'f', empleado: 'ana', entrada, salida, proyecto: 'p0' };
  await take(acme, { kind: 'import', brought: [{ ...contract, fecha_alta: '2026-03-10' }, entry] });
  const staff = async () => {
    const { body } = await acme.company.get('/projects', { busqueda: 'p0' });
    return body.data.proyectos[0].economico.coste_personal;
  };
  expect(await staff()).toBe(20);
  await take(acme, { kind: 'zone', zone: 'America/New_York', brought: [] });
  expect(await staff()).toBe(0);
  await compare(acme);
});

test('[PRJ-01] an import that works totals out anew waits for the sale that is about to add to them, and has it in', async () => {
  await using own = await ownDatabase();
  await using one = await startServer({ database: { url: own.url } });
  const acme = await one.company([
    ...base,
    { coleccion: 'proyectos', ref: 'p', id: 9, numero: '9', descripcion: 'Obra' },
  ]);
  const sold = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const line = { position: 1, description: 'x', quantity: 2, unit_price: 10.05, vat: 21, discount: 0, project_id: 9 };
  const none = { product_id: null, variation_id: null, format_id: null, base_quantity: null, factor: null };
  const undated = {
    extended_description: null,
    start_date: null,
    end_date: null,
    moves_stock: false,
    surcharge: 0,
    exemption: null,
  };
  const sale = one.service.database.transaction(acme.id, { write: true }, async (db) => {
    const now = clock.now();
    const date = Temporal.PlainDate.from(TODAY);
    const lines = [{ ...line, ...none, ...undated }];
    const id = await nextNoteId(db);
    await insertDeliveryNote(db, { id, accountId: acme.id, date, now, clientId: 1, priceList: 1, concept: '', lines });
    sold.resolve();
    await mayEnd.promise;
  });
  await sold.promise;
  const imported = acme.load([
    { coleccion: 'contratos', ref: 'c', empleado: 'ana', tipo_contrato: 't', fecha_alta: '2026-01-01', coste_hora: 9 },
  ]);
  await untilWaiting(own.admin);
  mayEnd.resolve();
  await Promise.all([sale, imported]);
  const { body } = await acme.get('/projects', { busqueda: '9' });
  expect(body.data.proyectos).toMatchObject([{ economico: { ventas: 20.1 } }]);
});
