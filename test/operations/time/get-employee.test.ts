import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-05-10T10:00:00Z');
const server = await startServer({ clock });
afterAll(() => server.stop());

const base: FileRecord[] = [
  { coleccion: 'departamentos', ref: 'obra', titulo: 'Obra' },
  { coleccion: 'tipos_contrato', ref: 'indefinido', titulo: 'Indefinido' },
  { coleccion: 'turnos', ref: 'tarde', titulo: 'Tarde' },
  {
    coleccion: 'empleados',
    ref: 'ana',
    id: 7,
    nombre: 'Ana',
    apellidos: 'Ruiz',
    email: 'ana@x.es',
    departamento: 'obra',
  },
];
const contract = (ref: string, fecha_alta: string, fecha_baja: string | null, more: object = {}): FileRecord => ({
  coleccion: 'contratos',
  ref,
  empleado: 'ana',
  tipo_contrato: 'indefinido',
  fecha_alta,
  fecha_baja,
  ...more,
});
const current = async (...contracts: FileRecord[]) => {
  const acme = await server.company([...base, ...contracts]);
  return (await acme.get('/employees/7')).body.data.empleado.contrato_vigente;
};

test('[EMP-01] [EMP-02] a person with the current contract, by number or sealed id', async () => {
  const acme = await server.company([
    ...base,
    contract('c1', '2026-02-01', null, {
      turno: 'tarde',
      minimo_horas_dia_laborable: 7.5,
      firmado: true,
      coste_hora: 21.5,
    }),
  ]);
  const { status, body } = await acme.get('/employees/7');
  expect(status).toBe(200);
  expect(body.data.empleado).toEqual({
    empleadoId: expect.any(String),
    nombre: 'Ana',
    apellidos: 'Ruiz',
    email: 'ana@x.es',
    activo: true,
    departamento: { departamentoId: expect.any(String), titulo: 'Obra' },
    contrato_vigente: {
      contratoId: expect.any(String),
      tipo_contrato: { tipoContratoId: expect.any(String), titulo: 'Indefinido' },
      fecha_alta: '2026-02-01',
      fecha_baja: null,
      minimo_horas_dia_laborable: 7.5,
      modo_turno: 'turno',
      turnoId: expect.any(String),
      firmado: true,
    },
  });
  const sealed = await acme.get(`/employees/${body.data.empleado.empleadoId}`);
  expect(sealed.body).toEqual(body);
});

test('[EMP-01] of several the most recent; one that ended today or starts tomorrow is not current', async () => {
  expect(await current()).toBeNull();
  expect(await current(contract('a', '2020-01-01', '2026-05-10'))).toBeNull();
  expect(await current(contract('a', '2026-05-11', null))).toBeNull();
  const several = [
    contract('a', '2024-01-01', '2026-05-11'),
    contract('b', '2025-01-01', null),
    contract('c', '2026-06-01', null),
  ];
  expect(await current(...several)).toMatchObject({ fecha_alta: '2025-01-01' });
});

test('[CON-02] no amounts leave with a contract', async () => {
  const contrato = await current(
    contract('a', '2025-01-01', null, { coste_hora: 31.17, coste_hora_pension: 1.23, coste_hora_ss: 9.87 }),
  );
  expect(JSON.stringify(contrato)).not.toMatch(/31\.17|1\.23|9\.87|coste/);
});

test('[ENV-08] what is not set is ""', async () => {
  const acme = await server.company([
    { coleccion: 'tipos_contrato', ref: 't', titulo: 'Temporal' },
    { coleccion: 'empleados', ref: 'leo', id: 8, nombre: 'Leo' },
    { coleccion: 'contratos', ref: 'c', empleado: 'leo', tipo_contrato: 't', fecha_alta: '2025-01-01' },
  ]);
  expect((await acme.get('/employees/8')).body.data.empleado).toMatchObject({
    apellidos: '',
    email: '',
    departamento: { departamentoId: '', titulo: '' },
    contrato_vigente: { turnoId: '', fecha_baja: null },
  });
});

test('[EMP-02] [TEN-01] a person outside the account is a 404', async () => {
  const acme = await server.company(base);
  const other = await server.company();
  const { empleadoId } = (await acme.get('/employees/7')).body.data.empleado;
  for (const foreign of [empleadoId, '7', '999', 'nadie', `${empleadoId.slice(0, -1)}A`]) {
    const { status, body } = await other.get(`/employees/${foreign}`);
    expect(status).toBe(404);
    expect(body).toMatchObject({ errorCode: 404, data: null });
  }
});
