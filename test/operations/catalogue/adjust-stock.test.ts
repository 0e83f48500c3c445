import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T09:00:00Z'), quotaPerMinute: 1_000_000 });
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'bar', id: 1, nombre_fiscal: 'Bar' },
  {
    ...{ coleccion: 'articulos', ref: 'hilo', id: 2, descripcion: 'Hilo', stock: 12.5 },
    variaciones: [{ ref: 'rojo', id: 21, descripcion: 'Rojo' }],
  },
  {
    ...{ coleccion: 'articulos', ref: 'grua', id: 3, descripcion: 'Grúa', modo: 'alquiler', stock: 2 },
    variaciones: [{ ref: 'alta', id: 31, descripcion: 'Alta' }],
  },
];
const adjust = (company: Company, input: object, id: string | number = 2) =>
  company.post(`/products/${id}/stock`, input);
const movements = async (company: Company) => (await company.get('/products/2/stock-movements')).body.data.movimientos;
const stockOf = async (company: Company) => (await company.get('/products/2')).body.data.articulo.stock;

test('[DLV-03] what was counted, or what came and went, is the stock, by a movement that says why', async () => {
  const acme = await server.company(records);
  const { articuloId } = (await acme.get('/products/2')).body.data.articulo;
  const counted = await adjust(acme, { recuento: 10, motivo: ' Recuento anual ' });
  expect(counted.body.data).toEqual({ articuloId, stock_anterior: 12.5, stock: 10 });
  const broken = await adjust(acme, { cantidad: -0.25, motivo: 'Rotura', variacionId: 21 });
  expect(broken.body.data).toEqual({ articuloId, stock_anterior: 10, stock: 9.75 });
  // A count that agrees moves nothing. What was imported came in by the real clock.
  expect((await adjust(acme, { recuento: 9.75, motivo: 'Otro recuento' })).body.data.stock).toBe(9.75);
  expect(await movements(acme)).toMatchObject([
    { cantidad: 12.5, motivo: 'Existencias iniciales' },
    { fecha: '2026-03-10 10:00:00', cantidad: -0.25, motivo: 'Rotura', documento: null },
    { fecha: '2026-03-10 10:00:00', cantidad: -2.5, motivo: 'Recuento anual', documento: null },
  ]);
  expect(await stockOf(acme)).toBe(9.75);
});

test('[DLV-03] a count among sales: nothing that is sold meanwhile is lost', async () => {
  const acme = await server.company(records);
  const sale = { cliente: { id: 1 }, pedido: { obra: 'Obra' }, detalles: [{ cantidad: 1, articulo_fk: 2 }] };
  const sales = Array.from({ length: 12 }, () => acme.post('/delivery-notes', sale));
  const counts = Array.from({ length: 4 }, () => adjust(acme, { recuento: 100, motivo: 'Recuento' }));
  const comings = Array.from({ length: 4 }, () => adjust(acme, { cantidad: 3, motivo: 'Entrada' }));
  const answers = await Promise.all([...sales, ...counts, ...comings]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const moved = await movements(acme);
  const quantities: number[] = moved.map(({ cantidad }: { cantidad: number }) => cantidad);
  expect(quantities.filter((one) => one === -1).length).toBeGreaterThanOrEqual(12);
  expect(quantities.reduce((sum, one) => sum + one, 0)).toBe(await stockOf(acme));
  for (const { body } of answers.slice(12)) {
    const { stock, stock_anterior } = body.data;
    const motivo = stock === 100 ? 'Recuento' : 'Entrada';
    if (stock !== stock_anterior)
      expect(moved).toContainEqual(expect.objectContaining({ cantidad: stock - stock_anterior, motivo }));
  }
});

test('[ENV-04] one of the two, a reason, and an article that is sold; a count is of the whole article', async () => {
  const acme = await server.company(records);
  const motivo = 'Recuento';
  const problem = async (input: object, id = 2) => {
    const { status, body } = await adjust(acme, input, id);
    return [status, body.data?.[0]?.campo];
  };
  expect(await problem({ motivo })).toEqual([400, 'recuento']);
  expect(await problem({ recuento: 1, cantidad: 1, motivo })).toEqual([400, 'recuento']);
  expect(await problem({ recuento: -1, motivo })).toEqual([400, 'recuento']);
  expect(await problem({ cantidad: 0, motivo })).toEqual([400, 'cantidad']);
  expect(await problem({ cantidad: 1 })).toEqual([400, 'motivo']);
  expect(await problem({ cantidad: 1, motivo: ' x ' })).toEqual([400, 'motivo']);
  expect(await problem({ recuento: 1, motivo, variacionId: 21 })).toEqual([400, 'variacionId']);
  expect(await problem({ cantidad: 1, motivo, variacionId: 31 })).toEqual([400, 'variacionId']);
  expect(await problem({ cantidad: 1, motivo }, 3)).toEqual([400, 'articuloId']);
  expect([await stockOf(acme), (await movements(acme)).length]).toEqual([12.5, 1]);
});

test('[AUTH-04] [TEN-01] only with a key that may write; another company’s article is as none', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const init = { method: 'POST', body: '{"cantidad":1,"motivo":"Entrada"}' };
  const json = { 'content-type': 'application/json' };
  const path = '/api/v1/products/2/stock';
  expect((await server.request(path, { ...init, headers: json })).status).toBe(401);
  expect((await server.request(path, { ...init, headers: { ...json, ...(await acme.newKey(true)) } })).status).toBe(
    403,
  );
  const { articuloId, variaciones } = (await acme.get('/products/2')).body.data.articulo;
  for (const id of [articuloId, 2, 99]) {
    expect((await adjust(other, { cantidad: 1, motivo: 'Entrada' }, id)).status).toBe(404);
  }
  const { data: mine } = (await other.post('/products', { datos: { descripcion: 'Mío' } })).body;
  const variacionId = variaciones[0].variacionId;
  expect((await adjust(other, { cantidad: 1, motivo: 'Entrada', variacionId }, mine)).status).toBe(404);
});
