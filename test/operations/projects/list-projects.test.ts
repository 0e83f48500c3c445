import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const base: FileRecord[] = [
  { coleccion: 'tipos_contrato', ref: 't', titulo: 'Indefinido' },
  { coleccion: 'empleados', ref: 'ana', nombre: 'Ana' },
  {
    coleccion: 'clientes',
    ref: 'cli',
    id: 1,
    nombre_fiscal: 'Cliente SL',
    movil: '600',
    rgpd: { comunicaciones_email: true, comunicaciones_sms: false },
  },
  { coleccion: 'proveedores', ref: 'pro', nombre_fiscal: 'Proveedor SA' },
  { coleccion: 'estados_proyecto', ref: 'obra', id: 2, titulo: 'En obra' },
  {
    coleccion: 'proyectos',
    ref: 'p',
    id: 10,
    numero: '26-001',
    descripcion: 'Reforma Ático',
    cliente: 'cli',
    estado: 'obra',
    presupuesto_coste: 100,
    presupuesto_venta: 200.5,
  },
];
const contract = (ref: string, fecha_alta: string, fecha_baja: string | null, coste: number): FileRecord => ({
  coleccion: 'contratos',
  ref,
  empleado: 'ana',
  tipo_contrato: 't',
  fecha_alta,
  fecha_baja,
  coste_hora: coste,
  coste_hora_pension: 1,
  coste_hora_ss: 2,
});
const line = (importe_unitario: number, more: object = {}) => ({
  descripcion: 'x',
  cantidad: 1,
  importe_unitario,
  ...more,
});
const note = (ref: string, fecha: string, lineas: object[], more: object = {}): FileRecord => ({
  coleccion: 'albaranes',
  ref,
  fecha,
  cliente: 'cli',
  lineas,
  ...more,
});
const invoice = (ref: string, fecha: string, lineas: object[], more: object = {}): FileRecord => ({
  coleccion: 'facturas',
  ref,
  fecha,
  cliente: 'cli',
  lineas,
  ...more,
});
const clock = (fecha: string, hora: string) => ({ fecha, hora, metodo: 'app' });
const entry = (fecha: string, from: string, to: string | null, more: object = {}): FileRecord => ({
  coleccion: 'fichajes',
  ref: `${fecha} ${from}`,
  empleado: 'ana',
  entrada: clock(fecha, from),
  salida: to && clock(fecha, to),
  proyecto: 'p',
  ...more,
});
const economics = async (company: Company, query: object = {}) => {
  const { status, body } = await company.get('/projects', { ...query });
  expect(status).toBe(200);
  return body.data.proyectos[0].economico;
};

test('[PRJ-01] [PRJ-03] sales, purchases, staff and machines, each counted once', async () => {
  const acme = await server.company([
    ...base,
    { coleccion: 'maquinas', ref: 'grua', titulo: 'Grúa', coste_hora: 30 },
    { coleccion: 'tareas', ref: 'zanja', titulo: 'Zanja', proyecto: 'p' },
    contract('c', '2025-01-01', null, 17),
    entry('2026-01-10', '08:00', '16:20', { pausa_minutos: 20 }),
    entry('2026-01-11', '08:00', '10:00', { maquina: 'grua' }),
    entry('2026-01-12', '08:00', '09:00', { proyecto: undefined, tarea: 'zanja' }),
    entry('2026-01-13', '08:00', null),
    note('a1', '2026-01-05', [line(100), line(50, { descuento: 10 })], { proyecto: 'p' }),
    note('a2', '2026-01-06', [line(30, { proyecto: 'p' }), line(999)]),
    invoice('f1', '2026-01-31', [line(100, { proviene_albaranes: true, albaran: 'a1' }), line(7.5)], { proyecto: 'p' }),
    {
      coleccion: 'albaranes_compra',
      ref: 'ac',
      fecha: '2026-01-04',
      proveedor: 'pro',
      proyecto: 'p',
      lineas: [line(40)],
    },
    {
      coleccion: 'facturas_compra',
      ref: 'fc',
      numero: '77',
      fecha: '2026-01-30',
      proveedor: 'pro',
      proyecto: 'p',
      lineas: [line(40, { proviene_albaranes: true }), line(5.25)],
    },
  ]);
  const { body } = await acme.get('/projects');
  expect(body.data).toEqual({
    total_proyectos: 1,
    pagina: 1,
    por_pagina: 100,
    num_paginas: 1,
    cursor: null,
    proyectos: [
      {
        proyectoId: expect.any(String),
        numero: '26-001',
        descripcion: 'Reforma Ático',
        cliente: {
          clienteId: expect.any(String),
          nombre_fiscal: 'Cliente SL',
          nombre_comercial: '',
          cif: '',
          email: '',
          telefono: '',
          movil: '600',
          rgpd: {
            comunicaciones_email: true,
            comunicaciones_whatsapp: null,
            comunicaciones_sms: false,
            tratamiento_imagenes: null,
          },
        },
        estado: { estadoId: expect.any(String), titulo: 'En obra' },
        presupuesto_coste: 100,
        presupuesto_venta: 200.5,
        economico: {
          ventas: 182.5,
          compras: 45.25,
          coste_personal: 220,
          coste_maquinaria: 60,
          costes: 325.25,
          resultado: -142.75,
          margen: -78.22,
          horas: 11,
        },
      },
    ],
  });
});

test('[PRJ-01] the margin without sales is -100 with costs, 0 without', async () => {
  const acme = await server.company(base);
  expect(await economics(acme)).toMatchObject({ ventas: 0, costes: 0, resultado: 0, margen: 0, horas: 0 });
  await acme.load([contract('c', '2025-01-01', null, 17), entry('2026-01-10', '08:00', '09:00')]);
  expect(await economics(acme)).toMatchObject({ ventas: 0, costes: 20, resultado: -20, margen: -100 });
});

test('[PRJ-02] the dates bound the economics, by header and entry date, and never the list', async () => {
  const acme = await server.company([
    ...base,
    contract('c', '2025-01-01', null, 17),
    note('enero', '2026-01-31', [line(1)], { proyecto: 'p' }),
    note('febrero', '2026-02-01', [line(10)], { proyecto: 'p' }),
    { ...entry('2026-01-31', '22:00', null), salida: clock('2026-02-01', '06:00') },
    entry('2026-02-28', '08:00', '09:00'),
  ]);
  expect(await economics(acme, { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' })).toMatchObject({
    ventas: 1,
    horas: 8,
  });
  expect(await economics(acme, { fecha_inicio: '2026-02-01', fecha_fin: '2026-02-28' })).toMatchObject({
    ventas: 10,
    horas: 1,
  });
  expect(await economics(acme, { fecha_inicio: '2026-02-01' })).toMatchObject({ ventas: 10, horas: 1 });
  expect(await economics(acme, { fecha_fin: '2026-02-01' })).toMatchObject({ ventas: 11, horas: 8 });
  expect(await economics(acme, { fecha_inicio: '2030-01-01' })).toMatchObject({ ventas: 0, horas: 0 });
});

test('[PRJ-02] the contract in force on the day, the most recent of several, and 0 without one', async () => {
  const acme = await server.company([
    ...base,
    contract('viejo', '2026-01-01', '2026-01-31', 7),
    contract('encima', '2026-01-20', '2026-01-25', 17),
    entry('2025-12-31', '08:00', '09:00'),
    entry('2026-01-10', '08:00', '09:00'),
    entry('2026-01-25', '08:00', '09:00'),
    entry('2026-01-31', '08:00', '09:00'),
    entry('2026-02-01', '08:00', '09:00'),
  ]);
  expect(await economics(acme)).toMatchObject({ coste_personal: 10 + 20 + 10, horas: 5 });
});

test('[PRJ-03] search, client and state filter; order is the number, newest first', async () => {
  const acme = await server.company([
    ...base,
    { coleccion: 'proyectos', ref: 'q', numero: '26-002', descripcion: 'Nave' },
    { coleccion: 'proyectos', ref: 'r', numero: '25-009', descripcion: 'Ático viejo', cliente: 'cli' },
  ]);
  const numbers = async (query: object) =>
    (await acme.get('/projects', { ...query })).body.data.proyectos.map(({ numero }: { numero: string }) => numero);
  expect(await numbers({})).toEqual(['26-002', '26-001', '25-009']);
  expect(await numbers({ busqueda: 'ATICO' })).toEqual(['26-001', '25-009']);
  expect(await numbers({ busqueda: '6-00' })).toEqual(['26-002', '26-001']);
  expect(await numbers({ clienteId: 1 })).toEqual(['26-001', '25-009']);
  expect(await numbers({ clienteId: 1, estadoId: 2 })).toEqual(['26-001']);
  expect(await numbers({ por_pagina: 1, pagina: 3 })).toEqual(['25-009']);
  const [plain] = (await acme.get('/projects', { busqueda: 'nave' })).body.data.proyectos;
  expect(plain).toMatchObject({
    cliente: { clienteId: '', nombre_fiscal: '', movil: '' },
    estado: { estadoId: '', titulo: '' },
  });
});

test('[TEN-01] another company’s clients and states are not found', async () => {
  const acme = await server.company(base);
  const other = await server.company();
  const [found] = (await acme.get('/projects')).body.data.proyectos;
  expect((await other.get('/projects', { clienteId: found.cliente.clienteId })).status).toBe(404);
  expect((await other.get('/projects', { estadoId: found.estado.estadoId })).status).toBe(404);
  expect((await other.get('/projects')).body.data).toMatchObject({ total_proyectos: 0, proyectos: [] });
});

test('[PRJ-01] [PRJ-02] [FIC-02] the same figures as a slow sum over the records, whatever they are', async () => {
  const epoch = Temporal.PlainDate.from('2026-03-20');
  const day = fc.integer({ min: 0, max: 20 }).map((days) => epoch.add({ days }).toString());
  const price = fc.integer({ min: -5000, max: 20_000 }).map((cents) => cents / 100);
  const where = fc.constantFrom<object>({ proyecto: 'p' }, { tarea: 'k' }, { proyecto: 'p', tarea: 'k' }, {});
  const worked = fc.record({
    day,
    from: fc.integer({ min: 181, max: 1300 }),
    minutes: fc.option(fc.integer({ min: 1, max: 130 })),
    pause: fc.integer({ min: 0, max: 40 }),
    machine: fc.boolean(),
    where,
  });
  const contracts = fc.array(fc.record({ from: day, to: fc.option(day), cost: fc.integer({ min: 0, max: 4000 }) }), {
    maxLength: 4,
  });
  const sold = fc.record({
    day,
    price,
    quantity: fc.integer({ min: 1, max: 4 }),
    discount: fc.constantFrom(0, 5, 33.33),
    kind: fc.constantFrom('note', 'invoice', 'invoiced note'),
    own: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(worked, { maxLength: 12 }),
      contracts,
      fc.array(sold, { maxLength: 8 }),
      day,
      day,
      async (entries, agreed, sales, one, other) => {
        const hhmm = (minutes: number) =>
          `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
        const inForce = agreed.filter(({ from, to }) => to === null || to >= from);
        const acme = await server.company([
          ...base,
          { coleccion: 'tareas', ref: 'k', titulo: 'Tarea', proyecto: 'p' },
          { coleccion: 'maquinas', ref: 'm', titulo: 'Máquina', coste_hora: 12.34 },
          ...inForce.map(
            ({ from, to, cost }, i): FileRecord => ({
              coleccion: 'contratos',
              ref: `c${i}`,
              empleado: 'ana',
              tipo_contrato: 't',
              fecha_alta: from,
              fecha_baja: to,
              coste_hora: cost / 100,
              coste_hora_ss: 0.01,
            }),
          ),
          ...entries.map(
            (e, i): FileRecord => ({
              coleccion: 'fichajes',
              ref: `e${i}`,
              empleado: 'ana',
              entrada: clock(e.day, hhmm(e.from)),
              salida: e.minutes === null ? null : clock(e.day, hhmm(e.from + e.minutes)),
              pausa_minutos: e.pause,
              maquina: e.machine ? 'm' : undefined,
              ...e.where,
            }),
          ),
          ...sales.map((s, i): FileRecord => {
            const lineas = [
              line(s.price, {
                cantidad: s.quantity,
                descuento: s.discount,
                ...(s.own ? { proyecto: 'p' } : {}),
                ...(s.kind === 'invoiced note' ? { proviene_albaranes: true } : {}),
              }),
            ];
            const more = s.own ? {} : { proyecto: 'p' };
            return s.kind === 'note' ? note(`n${i}`, s.day, lineas, more) : invoice(`n${i}`, s.day, lineas, more);
          }),
        ]);
        const [from, to] = [one, other].sort();
        const within = (date: string) => date >= (from ?? '') && date <= (to ?? '');
        const round = (value: number) => Math.sign(value) * Math.round(Math.abs(value) + 1e-9);
        let seconds = 0;
        let staff = 0;
        let machines = 0;
        for (const e of entries) {
          if (e.minutes === null || !within(e.day) || Object.keys(e.where).length === 0) continue;
          const start = Temporal.PlainDate.from(e.day).toZonedDateTime({
            timeZone: 'Europe/Madrid',
            plainTime: hhmm(e.from),
          });
          const end = Temporal.PlainDate.from(e.day).toZonedDateTime({
            timeZone: 'Europe/Madrid',
            plainTime: hhmm(e.from + e.minutes),
          });
          const elapsed = Math.max(0, (end.epochMilliseconds - start.epochMilliseconds) / 1000 - e.pause * 60);
          const best = inForce
            .map((c, i) => ({ ...c, i }))
            .filter((c) => c.from <= e.day && (c.to === null || c.to >= e.day))
            .sort((a, b) => (a.from === b.from ? b.i - a.i : a.from < b.from ? 1 : -1))[0];
          seconds += elapsed;
          staff += elapsed * (best ? best.cost + 1 : 0);
          machines += e.machine ? elapsed * 1234 : 0;
        }
        const ventas = sales
          .filter((s) => s.kind !== 'invoiced note' && within(s.day))
          .reduce(
            (sum, s) =>
              sum + round((Math.round(s.price * 100) * s.quantity * (10_000 - Math.round(s.discount * 100))) / 10_000),
            0,
          );
        const costes = round(staff / 3600) + round(machines / 3600);
        const margin = ventas !== 0 ? round(((ventas - costes) * 10_000) / ventas) : costes > 0 ? -10_000 : 0;
        expect(await economics(acme, { fecha_inicio: from, fecha_fin: to })).toEqual({
          ventas: ventas / 100,
          compras: 0,
          coste_personal: round(staff / 3600) / 100,
          coste_maquinaria: round(machines / 3600) / 100,
          costes: costes / 100,
          resultado: (ventas - costes) / 100,
          margen: margin / 100,
          horas: round(seconds / 36) / 100,
        });
      },
    ),
    { numRuns: 15 },
  );
});
