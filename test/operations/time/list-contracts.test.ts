import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-05-10T22:30:00Z'); // the 11th in Madrid, the 10th in Santo Domingo
const server = await startServer({ clock });
afterAll(() => server.stop());

const contract = (
  ref: string,
  empleado: string,
  fecha_alta: string,
  fecha_baja: string | null,
  more: object = {},
): FileRecord => ({
  coleccion: 'contratos',
  ref,
  empleado,
  tipo_contrato: 'indefinido',
  fecha_alta,
  fecha_baja,
  ...more,
});
const records: FileRecord[] = [
  { coleccion: 'departamentos', ref: 'obra', titulo: 'Obra' },
  { coleccion: 'tipos_contrato', ref: 'indefinido', titulo: 'Indefinido' },
  { coleccion: 'turnos', ref: 'tarde', titulo: 'Tarde' },
  { coleccion: 'empleados', ref: 'ana', id: 1, nombre: 'Ana', apellidos: 'Ruiz' },
  { coleccion: 'empleados', ref: 'leo', id: 2, nombre: 'Leo' },
  contract('viejo', 'ana', '2020-01-01', '2023-12-31'),
  contract('hasta ayer', 'leo', '2024-01-01', '2026-05-10'),
  contract('actual', 'ana', '2024-01-01', null, {
    departamento: 'obra',
    turno: 'tarde',
    fecha_fin_periodo_pruebas: '2024-03-31',
    minimo_horas_dia_laborable: 8,
    firmado: true,
    coste_hora: 27.31,
  }),
  contract('futuro', 'leo', '2026-09-01', null),
];
const starts = (body: { data: { contratos: { fecha_alta: string }[] } }) =>
  body.data.contratos.map(({ fecha_alta }) => fecha_alta);

test('[CON-01] the current ones, newest first; a future one is vigente by the letter', async () => {
  const acme = await server.company(records);
  const { status, body } = await acme.get('/employees/contracts');
  expect(status).toBe(200);
  expect(body.data.total_contratos).toBe(2);
  expect(body.data.contratos).toEqual([
    expect.objectContaining({
      fecha_alta: '2026-09-01',
      vigente: true,
      turnoId: '',
      departamento: { departamentoId: '', titulo: '' },
    }),
    {
      contratoId: expect.any(String),
      empleado: { empleadoId: expect.any(String), nombre: 'Ana', apellidos: 'Ruiz' },
      tipo_contrato: { tipoContratoId: expect.any(String), titulo: 'Indefinido' },
      departamento: { departamentoId: expect.any(String), titulo: 'Obra' },
      fecha_alta: '2024-01-01',
      fecha_baja: null,
      fecha_fin_periodo_pruebas: '2024-03-31',
      vigente: true,
      minimo_horas_dia_laborable: 8,
      modo_turno: 'turno',
      turnoId: expect.any(String),
      firmado: true,
    },
  ]);
});

test('[CON-01] [DATE-02] one that ends today is still in force; today is the company’s', async () => {
  const madrid = await server.company(records);
  const caribbean = await server.company(records, { cuenta: { zona_horaria: 'America/Santo_Domingo' } });
  expect(starts((await madrid.get('/employees/2/contract')).body)).toEqual(['2026-09-01']);
  expect(starts((await caribbean.get('/employees/2/contract')).body)).toEqual(['2026-09-01', '2024-01-01']);
});

test('[CON-01] vigentes=false gives the whole history, each with its own vigente', async () => {
  const acme = await server.company(records);
  const { body } = await acme.get('/employees/contracts', { vigentes: false });
  expect(starts(body)).toEqual(['2026-09-01', '2024-01-01', '2024-01-01', '2020-01-01']);
  expect(body.data.contratos.filter(({ vigente }: { vigente: boolean }) => vigente)).toHaveLength(2);
});

test('[CON-02] no amounts; the person’s path is the same list; another company’s person is a 404', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const own = await acme.get('/employees/contracts', { empleadoId: 1 });
  expect((await acme.get('/employees/1/contract')).body).toEqual(own.body);
  expect(own.text).not.toMatch(/coste|27\.31/);
  const { empleadoId } = own.body.data.contratos[0].empleado;
  expect((await other.get(`/employees/${empleadoId}/contract`)).status).toBe(404);
  expect((await other.get('/employees/contracts', { empleadoId: 1 })).status).toBe(404);
  expect((await other.get('/employees/contracts')).body.data).toEqual({
    total_contratos: 0,
    pagina: 1,
    por_pagina: 10_000,
    num_paginas: 0,
    cursor: null,
    contratos: [],
  });
});

test('[PAG-01] [PAG-02] pages of contracts repeat and skip none', async () => {
  const acme = await server.company(records);
  const { contratos } = (await acme.get('/employees/contracts', { vigentes: false })).body.data;
  const pages = [];
  for (const pagina of [1, 2, 3]) {
    const { body } = await acme.get('/employees/contracts', { vigentes: false, por_pagina: 3, pagina });
    expect(body.data).toMatchObject({ total_contratos: 4, pagina, por_pagina: 3, num_paginas: 2 });
    pages.push(body.data.contratos);
  }
  expect(pages).toEqual([contratos.slice(0, 3), contratos.slice(3), []]);
});
