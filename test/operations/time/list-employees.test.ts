import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'departamentos', ref: 'obra', id: 5, titulo: 'Obra' },
  { coleccion: 'departamentos', ref: 'vacio', id: 6, titulo: 'Vacío' },
  { coleccion: 'empleados', ref: '1', id: 1, nombre: 'Óscar', apellidos: 'Núñez Gil', email: 'oscar@x.es' },
  { coleccion: 'empleados', ref: '2', id: 2, nombre: 'Ana', apellidos: 'Zarza', departamento: 'obra' },
  { coleccion: 'empleados', ref: '3', id: 3, nombre: 'Berta', apellidos: 'álvarez', activo: false },
  { coleccion: 'empleados', ref: '4', id: 9, nombre: 'Ana', apellidos: 'Núñez Gil', departamento: 'obra' },
  { coleccion: 'empleados', ref: '5', id: 8, nombre: 'Ana', apellidos: 'Núñez Gil', activo: false },
  { coleccion: 'empleados', ref: '6', id: 7, nombre: 'Leo' },
];
type Person = { nombre: string; apellidos: string; activo: boolean };
const names = (body: { data: { empleados: Person[] } }) =>
  body.data.empleados.map(({ nombre, apellidos }) => `${nombre} ${apellidos}`.trim());

test('[PAG-02] people by surname, name and id, those who left included; [ENV-08] what is not set is ""', async () => {
  const acme = await server.company(records);
  const { status, body } = await acme.get('/employees');
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ total_empleados: 6, pagina: 1, por_pagina: 100, num_paginas: 1 });
  expect(names(body)).toEqual([
    'Leo',
    'Berta álvarez',
    'Ana Núñez Gil',
    'Ana Núñez Gil',
    'Óscar Núñez Gil',
    'Ana Zarza',
  ]);
  // Of two with the same name, the one with the lower id first.
  expect(body.data.empleados.map(({ activo }: Person) => activo)).toEqual([true, false, false, true, true, true]);
  expect(body.data.empleados[0]).toEqual({
    empleadoId: expect.any(String),
    nombre: 'Leo',
    apellidos: '',
    email: '',
    activo: true,
    departamento: { departamentoId: '', titulo: '' },
  });
  expect(body.data.empleados[5]).toMatchObject({
    departamento: { departamentoId: expect.stringMatching(/^.{23}$/), titulo: 'Obra' },
  });
  const { empleadoId } = body.data.empleados[5];
  expect((await acme.get(`/employees/${empleadoId}`)).body.data.empleado).toMatchObject({ apellidos: 'Zarza' });
});

test('search takes a full name, in any case and without accents, or an e-mail; filters add up', async () => {
  const acme = await server.company(records);
  const list = async (query: object) => names((await acme.get('/employees', { ...query })).body);
  expect(await list({ busqueda: 'oscar nunez' })).toEqual(['Óscar Núñez Gil']);
  expect(await list({ busqueda: 'ALVAREZ' })).toEqual(['Berta álvarez']);
  expect(await list({ busqueda: 'oscar@' })).toEqual(['Óscar Núñez Gil']);
  expect(await list({ busqueda: '_' })).toEqual([]);
  expect(await list({ activo: false })).toEqual(['Berta álvarez', 'Ana Núñez Gil']);
  expect(await list({ activo: true })).toHaveLength(4);
  expect(await list({ departamentoId: 5 })).toEqual(['Ana Núñez Gil', 'Ana Zarza']);
  expect(await list({ departamentoId: 6 })).toEqual([]);
  expect(await list({ departamentoId: 5, busqueda: 'zarza', activo: true })).toEqual(['Ana Zarza']);
  expect(await list({ pagina: 2, por_pagina: 4 })).toEqual(['Óscar Núñez Gil', 'Ana Zarza']);
});

test('[CON-02] nothing of a contract leaves with a person', async () => {
  const acme = await server.company([
    ...records,
    { coleccion: 'tipos_contrato', ref: 'i', titulo: 'Indefinido' },
    {
      coleccion: 'contratos',
      empleado: '2',
      tipo_contrato: 'i',
      fecha_alta: '2020-01-01',
      coste_hora: 31.17,
      coste_hora_pension: 1.23,
    },
  ]);
  expect((await acme.get('/employees')).text).not.toMatch(/31\.17|1\.23|contrat|coste/);
});

test('[TEN-01] [ENV-07] another company’s department is a 404; a bool is a bool', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const [, , , , , { departamento }] = (await acme.get('/employees')).body.data.empleados;
  for (const departamentoId of [departamento.departamentoId, 5]) {
    expect((await other.get('/employees', { departamentoId })).status).toBe(404);
  }
  expect((await other.get('/employees')).body.data.empleados).toEqual([]);
  expect((await acme.get('/employees', { activo: 'si' })).body.data).toMatchObject([{ campo: 'activo' }]);
});
