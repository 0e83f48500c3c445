import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-05-10T10:00:00Z') });
afterAll(() => server.stop());

const movement = (id: number, cuenta: string, fecha: string, importe: number): FileRecord => ({
  coleccion: 'movimientos_tesoreria',
  ref: `m${id}`,
  id,
  cuenta,
  fecha,
  concepto: `Movimiento ${id}`,
  importe,
});
const records: FileRecord[] = [
  { coleccion: 'cuentas_tesoreria', ref: 'banco', id: 1, titulo: 'Banco', tipo: 'banco' },
  { coleccion: 'cuentas_tesoreria', ref: 'caja', id: 2, titulo: 'Caja', tipo: 'caja' },
  movement(11, 'banco', '2026-03-31', 100.25),
  movement(13, 'caja', '2026-04-01', -3),
  movement(12, 'banco', '2026-04-01', -20.5),
  movement(14, 'banco', '2026-04-30', 7),
  movement(15, 'caja', '2026-06-01', 1),
];
const conceptos = (body: { data: { movimientos: { concepto: string }[] } }) =>
  body.data.movimientos.map(({ concepto }) => Number(concepto.split(' ')[1]));

test('[PAG-02] newest first, then the latest number, over pages', async () => {
  const acme = await server.company(records);
  const { status, body } = await acme.get('/treasury/movements', { por_pagina: 2 });
  expect(status).toBe(200);
  const [movimientoId, cuentaId] = [expect.any(String), expect.any(String)];
  expect(body.data).toEqual({
    total_movimientos: 5,
    pagina: 1,
    por_pagina: 2,
    num_paginas: 3,
    cursor: expect.any(String),
    movimientos: [
      { movimientoId, cuentaId, fecha: '2026-06-01', concepto: 'Movimiento 15', importe: 1 },
      { movimientoId, cuentaId, fecha: '2026-04-30', concepto: 'Movimiento 14', importe: 7 },
    ],
  });
  const page = async (pagina: number) =>
    conceptos((await acme.get('/treasury/movements', { pagina, por_pagina: 2 })).body);
  expect([await page(2), await page(3), await page(4)]).toEqual([[13, 12], [11], []]);
});

test('[DATE-01] [ID-05] the range counts both ends; an account by the id that the accounts give', async () => {
  const acme = await server.company(records);
  const april = { fecha_inicio: '2026-04-01', fecha_fin: '2026-04-30' };
  expect(conceptos((await acme.get('/treasury/movements', april)).body)).toEqual([14, 13, 12]);
  const [{ cuentaId }] = (await acme.get('/treasury/accounts')).body.data.cuentas;
  expect(conceptos((await acme.get('/treasury/movements', { ...april, cuentaId })).body)).toEqual([14, 12]);
  expect(conceptos((await acme.get('/treasury/movements', { cuentaId: 2 })).body)).toEqual([15, 13]);
  expect((await acme.get('/treasury/movements', { fecha_fin: '2026-02-30' })).body.data).toMatchObject([
    { campo: 'fecha_fin' },
  ]);
  const other = await server.company();
  expect((await other.get('/treasury/movements', { cuentaId })).status).toBe(404);
  expect((await other.get('/treasury/movements')).body.data.total_movimientos).toBe(0);
});
