// How often a call waits for the database.
import { expect, inject, test } from 'vitest';
import { databaseProxy } from '../helpers/tcp-proxy.ts';
import { type Answer, startServer } from '../helpers/world.ts';

const records = [
  { coleccion: 'articulos', ref: 'silla', id: 601, descripcion: 'Silla', stock: 10 },
  { coleccion: 'clientes', ref: 'acme', id: 651, nombre_fiscal: 'Acme SL' },
  { coleccion: 'funnels', ref: 'f', id: 701, titulo: 'Ventas', etapas: [{ ref: 'n', id: 711, titulo: 'Nueva' }] },
];

/** The trips of each call, in the quickest of some rounds: the quota's and the like come in between now and then. */
async function fewestTrips(of: { trips(): number }, call: () => Promise<Answer>, atOnce = 1): Promise<number> {
  const trips: number[] = [];
  for (let rounds = 0; rounds < 8; rounds++) {
    const before = of.trips();
    const answers = await Promise.all(Array.from({ length: atOnce }, call));
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(({ text }) => [200, text]));
    trips.push((of.trips() - before) / atOnce);
  }
  return Math.min(...trips);
}

test('a call waits for the database no more often than what it does needs', async () => {
  await using proxy = await databaseProxy(inject('databaseUrl'));
  await using server = await startServer({ database: { url: proxy.url }, quotaPerMinute: 1_000_000 });
  const acme = await server.company(records);
  let number = 0;
  const written = (path: string, body: object) => () =>
    acme.post(path, body, { 'x-idempotency-key': `${acme.id} ${number++}` });
  const lead = { nombre: 'Ana', email: 'ana@example.com', descripcion: 'Obra', funnel_fk: 701, etapa_fk: 711 };
  const opportunity = written('/crm/opportunities', { datos: lead });
  const note = {
    cliente: { id: 651 },
    pedido: { obra: 'Obra' },
    detalles: [{ articulo_fk: 601, descripcion: 'Silla', cantidad: 1, precio: 10 }],
  };
  const searched = () => acme.get('/products', { busqueda: `sill${number++}` });
  expect({
    read: await fewestTrips(proxy, searched),
    unchanged: await fewestTrips(proxy, () => acme.get('/products')),
    // A number is drawn first; meanwhile a note's prices and client are looked up.
    opportunity: await fewestTrips(proxy, opportunity),
    deliveryNote: await fewestTrips(proxy, written('/delivery-notes', note)),
  }).toEqual({ read: 1, unchanged: 1, opportunity: 2, deliveryNote: 2 });
  // Of several callers most find a number that another one has drawn.
  expect(await fewestTrips(proxy, opportunity, 6)).toBeLessThan(2);
});
