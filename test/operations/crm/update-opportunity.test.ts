import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const opportunity = (id: number, more: object = {}): FileRecord => ({
  ...{ coleccion: 'oportunidades', ref: `o${id}`, id, titulo: `O${id}`, funnel: 'ventas', etapa: 'nuevo' },
  ...{ fecha_creacion: '2026-03-01 10:00:00', ...more },
});
const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'bar', id: 1, nombre_fiscal: 'Bar', cif: 'B1', email: 'bar@example.com' },
  { coleccion: 'clientes', ref: 'luz', id: 2, nombre_fiscal: 'Luz' },
  { coleccion: 'canales', ref: 'web', id: 3, titulo: 'Web' },
  { coleccion: 'canales', ref: 'feria', id: 4, titulo: 'Feria' },
  { coleccion: 'contactos', ref: 'eva', id: 5, nombre: 'Eva', email: 'eva@example.com' },
  { coleccion: 'contactos', ref: 'leo', id: 6, nombre: 'Leo' },
  { coleccion: 'motivos_perdida', ref: 'precio', motivo: 'Precio' },
  { coleccion: 'funnels', ref: 'ventas', titulo: 'Ventas', etapas: [{ ref: 'nuevo', titulo: 'Nuevo' }] },
  opportunity(7, { canal: 'web', contacto: 'eva', cliente: 'bar' }),
];
const lost = { estado: 'perdido', motivo: 'precio', comentarios: 'Muy caro', fecha_cierre: '2026-03-09 08:05:00' };

const update = (company: Company, id: string | number, datos: object) =>
  company.put(`/crm/opportunities/${id}`, { datos });
const read = async (company: Company, id: string | number) =>
  (await company.get(`/crm/opportunities/${id}`)).body.data?.oportunidad;
const versionOf = async (company: Company, id: number) =>
  (
    await server.service.database.pool.query<{ version: number }>(
      'select version from opportunities where account_id = $1 and id = $2',
      [company.id, id],
    )
  ).rows[0]?.version;
const ID = expect.stringMatching(/^[\w-]{23}$/);

test('an opportunity is read with the client that it is billed to, and what was said of its loss', async () => {
  const acme = await server.company([...records, opportunity(8, lost)]);
  const [{ clienteId }] = (await acme.get('/clients')).body.data.clientes;
  expect(await read(acme, 7)).toMatchObject({
    cliente: { clienteId, nombre_fiscal: 'Bar', cif: 'B1', email: 'bar@example.com' },
    comentarios: '',
  });
  expect(await read(acme, 8)).toMatchObject({ cliente: null, motivo: 'Precio', comentarios: 'Muy caro' });
});

test('[W-01] an update changes what is sent and nothing else, and answers the opportunity as it is read', async () => {
  const acme = await server.company(records);
  let now = await read(acme, 7);
  const changes = {
    descripcion: ['Terraza', { titulo: 'Terraza' }],
    canal_fk: [4, { canal: { canalId: ID, canal: 'Feria' } }],
    contacto_fk: [6, { contacto: { contactoId: ID, nombre: 'Leo', empresa: '', email: '', movil: '' } }],
    cliente_facturacion_fk: [2, { cliente: { clienteId: ID, nombre_fiscal: 'Luz', cif: '', email: '' } }],
    valor_cierre: [1234.56, { valor_cierre: 1234.56 }],
  } as const;
  for (const [index, [field, [value, change]]] of Object.entries(changes).entries()) {
    now = { ...now, ...change };
    const { status, body } = await update(acme, now.oportunidadId, { [field]: value });
    expect([field, status, body.data]).toEqual([field, 200, { oportunidad: now }]);
    expect([await read(acme, 7), await versionOf(acme, 7)]).toEqual([now, index + 2]);
  }
});

test('[W-01] a closed one is changed too, and stays closed', async () => {
  const acme = await server.company([...records, opportunity(8, lost)]);
  const before = await read(acme, 8);
  const { body } = await update(acme, 8, { valor_cierre: 5, canal_fk: 3 });
  expect(body.data.oportunidad).toEqual({ ...before, valor_cierre: 5, canal: { canalId: ID, canal: 'Web' } });
});

test('[W-01] an id is emptied by "", the same again changes nothing, an empty datos is 400', async () => {
  const acme = await server.company(records);
  for (let time = 0; time < 2; time++) {
    const empty = { canal_fk: '', contacto_fk: '', cliente_facturacion_fk: '' };
    expect((await update(acme, 7, empty)).body.data.oportunidad).toMatchObject({
      ...{ titulo: 'O7', canal: { canalId: '', canal: '' }, contacto: { contactoId: '', nombre: '' }, cliente: null },
    });
    expect(await versionOf(acme, 7)).toBe(2);
  }
  for (const datos of [{}, { valor_cierre: null }, { etapa_fk: 1 }]) {
    const { status, body } = await update(acme, 7, datos);
    expect([status, body.data]).toEqual([400, [{ campo: 'datos', mensaje: 'no hay nada que cambiar' }]]);
  }
  for (const [field, value] of Object.entries({ descripcion: ' ', canal_fk: true, valor_cierre: 0.0000001 })) {
    expect((await update(acme, 7, { [field]: value })).body, field).toMatchObject({
      errorCode: 400,
      data: [{ campo: `datos.${field}` }],
    });
  }
  expect(await versionOf(acme, 7)).toBe(2);
});

test('[AUTH-04] [AUTH-01] a read-only key changes none, and nobody does without one', async () => {
  const acme = await server.company(records);
  const body = JSON.stringify({ oportunidadId: 7, datos: { descripcion: 'Otra' } });
  const json = { 'content-type': 'application/json' };
  const key = { ...(await acme.newKey(true)), ...json };
  expect((await server.request('/actualizarOportunidad', { method: 'POST', headers: key, body })).status).toBe(403);
  expect((await server.request('/actualizarOportunidad', { method: 'POST', headers: json, body })).status).toBe(401);
  expect(await versionOf(acme, 7)).toBe(1);
});

test('[TEN-01] [ID-05] another company’s opportunity, channel, contact or client is a 404', async () => {
  const acme = await server.company(records);
  const other = await server.company([
    { coleccion: 'funnels', ref: 'ventas', titulo: 'Ventas', etapas: [{ ref: 'nuevo', titulo: 'Nuevo' }] },
    opportunity(8),
  ]);
  const { oportunidadId, canal, contacto, cliente } = await read(acme, 7);
  for (const id of [oportunidadId, 7, 99, 'x']) {
    const { status, body } = await update(other, id, { descripcion: 'Otra' });
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('oportunidadId')]);
  }
  for (const [name, ids] of Object.entries({
    canal_fk: [canal.canalId, 3],
    contacto_fk: [contacto.contactoId, 5],
    cliente_facturacion_fk: [cliente.clienteId, 1],
  })) {
    for (const id of ids) {
      const { status, body } = await update(other, 8, { [name]: id });
      expect([status, body.errorMsg]).toEqual([404, expect.stringContaining(`datos.${name}`)]);
    }
  }
  expect([await versionOf(acme, 7), await versionOf(other, 8)]).toEqual([1, 1]);
});
