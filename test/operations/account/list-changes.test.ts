import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Company, type Server, startServer, TestClock } from '../../helpers/world.ts';

const NOW = '2026-03-02T10:00:00Z';

let server: Server;
let clock: TestClock;

beforeAll(async () => {
  clock = new TestClock(NOW);
  server = await startServer({ clock });
});
afterAll(() => server.stop());

const changes = async (company: Company, query: Record<string, unknown> = {}) =>
  (await company.get('/changes', query)).body.data;
const newClient = async (company: Company, nombre_fiscal: string, more?: Record<string, string>) =>
  (await company.post('/clients', { datos: { nombre_fiscal } }, more)).body.data;

test('[JRN-01] what an import and a call changed: number, moment, record, operation, who, and the request', async () => {
  const acme = await server.company([{ coleccion: 'clientes', ref: 'sol', id: 5, nombre_fiscal: 'Sol' }]);
  const { ultimo } = await changes(acme);
  const id = await newClient(acme, 'Luna', { 'X-Request-Id': 'request-0001' });
  const read = await acme.get('/changes');
  expect(read.status).toBe(200);
  const { cambios, ...rest } = read.body.data;
  expect(rest).toEqual({ epoca: expect.any(String), siguiente: ultimo + 1, hay_mas: false, ultimo: ultimo + 1 });
  expect(cambios.map(({ n }: { n: number }) => n)).toEqual(Array.from({ length: ultimo + 1 }, (_, index) => index + 1));
  expect(cambios.at(0)).toMatchObject({ tipo: 'cuenta', id: null, accion: 'crear', operacion: 'account create' });
  const imported = cambios.find(({ tipo }: { tipo: string }) => tipo === 'clientes');
  expect(imported).toMatchObject({
    accion: 'crear',
    operacion: 'import',
    origen: { tipo: 'importacion', nombre: null },
  });
  expect((await acme.get(`/clients/${imported.id}`)).body.data.cliente.nombre_fiscal).toBe('Sol');
  expect(cambios.at(-1)).toEqual({
    n: ultimo + 1,
    momento: '2026-03-02T11:00:00.000+01:00',
    tipo: 'clientes',
    id,
    accion: 'crear',
    operacion: 'crearCliente',
    origen: { tipo: 'clave', nombre: 'test' },
    peticion: 'request-0001',
  });
});

test('[JRN-02] page by page, each change once, in order; of some collections those alone', async () => {
  const acme = await server.company([{ coleccion: 'familias', ref: 'f', titulo: 'Sillas' }]);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await newClient(acme, name);
  const whole = await changes(acme);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 9 }), fc.boolean(), async (limite, clientsAlone) => {
      const tipos = clientsAlone ? { tipos: 'clientes,proveedores' } : {};
      const met: unknown[] = [];
      let desde = 0;
      for (let more = true; more; ) {
        const page = await changes(acme, { desde, limite, ...tipos });
        expect(page.cambios.length).toBeLessThanOrEqual(limite);
        met.push(...page.cambios);
        desde = page.siguiente;
        more = page.hay_mas;
      }
      expect(desde).toBe(whole.ultimo);
      expect(met).toEqual(whole.cambios.filter(({ tipo }: { tipo: string }) => !clientsAlone || tipo === 'clientes'));
    }),
    { numRuns: 12 },
  );
});

test('[JRN-02] a call that waits is answered when something comes, of the collections that it asks for, or when time is over', async () => {
  const acme = await server.company();
  const { ultimo: desde } = await changes(acme);
  const waiting = changes(acme, { desde, espera: 20 });
  const waitingForProducts = changes(acme, { desde, espera: 20, tipos: 'articulos' });
  const id = await newClient(acme, 'Luna');
  expect((await waiting).cambios).toMatchObject([{ n: desde + 1, tipo: 'clientes', id }]);
  const product = (await acme.post('/products', { datos: { descripcion: 'Silla' } })).body.data;
  expect((await waitingForProducts).cambios).toMatchObject([{ n: desde + 2, tipo: 'articulos', id: product }]);
  // What is there already is not waited for.
  expect((await changes(acme, { desde, espera: 20 })).cambios).toHaveLength(2);
  expect(await changes(acme, { desde: desde + 2, espera: 1 })).toMatchObject({ cambios: [], siguiente: desde + 2 });
});

test('[JRN-03] with what is not there nobody waits: beyond the last it is 400 at once', async () => {
  const acme = await server.company();
  const { ultimo } = await changes(acme);
  const waits = vi.spyOn(server.service.journal, 'beyond');
  const { status, body } = await acme.get('/changes', { desde: ultimo + 1, espera: 25 });
  expect([status, body.errorMsg]).toEqual([400, expect.stringContaining(`el último cambio es ${ultimo}`)]);
  expect(waits).not.toHaveBeenCalled();
  waits.mockRestore();
});

test('[JRN-02] a restored backup has another epoch; numbers go on from what was restored', async () => {
  const acme = await server.company();
  const before = await changes(acme);
  await server.service.database.pool.query(`update journals set epoch = 'restored' where account_id = $1`, [acme.id]);
  expect(await changes(acme)).toEqual({ ...before, epoca: 'restored' });
});

test('[JRN-03] what is older than the oldest kept is 410, which says from where on; 0 is the oldest', async () => {
  const acme = await server.company();
  for (const name of ['a', 'b', 'c']) await newClient(acme, name);
  const { ultimo } = await changes(acme);
  await server.service.database.pool.query('delete from journal_entries where account_id = $1 and n < $2', [
    acme.id,
    ultimo,
  ]);
  const gone = await acme.get('/changes', { desde: ultimo - 2 });
  expect([gone.status, gone.body.errorCode]).toEqual([410, 410]);
  expect(gone.body.errorMsg).toContain(`desde el ${ultimo}:`);
  expect((await changes(acme, { desde: ultimo - 1 })).cambios).toMatchObject([{ n: ultimo }]);
  expect((await changes(acme, { desde: 0 })).cambios).toMatchObject([{ n: ultimo }]);
});

test('[JRN-01] a company of the version before, which has no journal yet, begins one with its first write', async () => {
  const acme = await server.company();
  const { pool } = server.service.database;
  await pool.query('delete from journal_entries where account_id = $1', [acme.id]);
  await pool.query('delete from journals where account_id = $1', [acme.id]);
  expect(await changes(acme)).toEqual({ epoca: '', cambios: [], siguiente: 0, hay_mas: false, ultimo: 0 });
  const answers = await Promise.all(['a', 'b', 'c'].map((name) => newClient(acme, name, { 'Idempotency-Key': name })));
  expect(
    (await changes(acme)).cambios.map(({ n, id }: { n: number; id: string }) => [n, answers.includes(id)]),
  ).toEqual([
    [1, true],
    [2, true],
    [3, true],
  ]);
});

test('what is wrong with the input is 400, and names it', async () => {
  const acme = await server.company();
  const { ultimo } = await changes(acme);
  for (const [query, campo] of [
    [{ desde: -1 }, 'desde'],
    [{ desde: ultimo + 1 }, 'desde'],
    [{ tipos: 'clientes,lunas' }, 'tipos[1]'],
    [{ limite: 0 }, 'limite'],
    [{ espera: 'mucho' }, 'espera'],
  ] as const) {
    const { status, body } = await acme.get('/changes', query);
    expect([status, body.data?.[0]?.campo]).toEqual([400, campo]);
  }
});

test('[TEN-01] nobody reads or waits for the changes of another company', async () => {
  const [acme, other] = [await server.company(), await server.company()];
  const { ultimo } = await changes(other);
  await newClient(acme, 'Luna');
  expect(await changes(other)).toMatchObject({ ultimo });
  expect((await server.request('/api/v1/changes')).status).toBe(401);
});
