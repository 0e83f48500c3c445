import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const opportunity = (ref: string, funnel: string, estado: string, more: object = {}): FileRecord => ({
  coleccion: 'oportunidades',
  ref,
  titulo: ref,
  funnel,
  etapa: 'e',
  estado,
  fecha_creacion: '2026-01-01 10:00:00',
  ...(estado === 'abierta' ? {} : { fecha_cierre: '2026-02-01 10:00:00' }),
  ...more,
});
const records: FileRecord[] = [
  { coleccion: 'funnels', ref: 'v', id: 1, titulo: 'Ventas', etapas: [{ ref: 'e', titulo: 'E' }] },
  { coleccion: 'funnels', ref: 'm', id: 2, titulo: 'Mantenimiento', etapas: [{ ref: 'e', titulo: 'E' }] },
  { coleccion: 'motivos_perdida', ref: 'precio', motivo: 'Precio' },
  { coleccion: 'motivos_perdida', ref: 'otro', motivo: 'Otro proveedor' },
  opportunity('a', 'v', 'perdido', { motivo: 'precio', valor: 100.1 }),
  opportunity('b', 'v', 'perdido', { motivo: 'precio', valor: 0.2 }),
  opportunity('c', 'v', 'perdido', { valor: 7 }),
  opportunity('d', 'v', 'perdido'),
  opportunity('e', 'v', 'ganado', { valor: 999 }),
  opportunity('f', 'm', 'perdido', { motivo: 'otro', valor: 5 }),
];

test('[LOSS-01] the catalogue alone, or with what one funnel lost', async () => {
  const acme = await server.company(records);
  const catalogue = await acme.get('/crm/loss-reasons');
  expect(catalogue.body.data).toEqual({
    motivos: [
      { motivoId: expect.any(String), motivo: 'Otro proveedor' },
      { motivoId: expect.any(String), motivo: 'Precio' },
    ],
  });
  const { status, body } = await acme.get('/crm/loss-reasons', { funnel_fk: 1 });
  expect(status).toBe(200);
  expect(body.data).toEqual({
    motivos: [
      { motivoId: expect.any(String), motivo: 'Otro proveedor', uso_funnel: { perdidas: 0, valor: 0 } },
      { motivoId: expect.any(String), motivo: 'Precio', uso_funnel: { perdidas: 2, valor: 100.3 } },
    ],
    funnel: { funnelId: expect.any(String), funnel: 'Ventas' },
    sin_motivo: { perdidas: 2, valor: 7 },
  });
  expect((await acme.get('/crm/loss-reasons', { funnel_fk: body.data.funnel.funnelId })).body).toEqual(body);
});

test('[LOSS-01] [TEN-01] a funnel that is not in the account is a 404', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const { funnelId } = (await acme.get('/crm/loss-reasons', { funnel_fk: 2 })).body.data.funnel;
  for (const funnel_fk of [funnelId, 2, 99])
    expect((await other.get('/crm/loss-reasons', { funnel_fk })).status).toBe(404);
  expect((await other.get('/crm/loss-reasons')).body.data).toEqual({ motivos: [] });
});
