import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const whole = { nombre: 'Óscar', empresa: 'Nilo', email: 'Oscar@Nilo.es', movil: '+34 600 11 22 33' };
const contact = (id: number, more: object): FileRecord => ({ coleccion: 'contactos', ref: `k${id}`, id, ...more });
const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'bar', id: 1, nombre_fiscal: 'Bar' },
  { coleccion: 'clientes', ref: 'luz', id: 2, nombre_fiscal: 'Luz' },
  contact(7, { ...whole, cliente: 'bar' }),
];
const update = (company: Company, id: string | number, datos: object) => company.put(`/crm/contacts/${id}`, { datos });
const read = async (company: Company, id: string | number) =>
  (await company.get(`/crm/contacts/${id}`)).body.data?.contacto;
const found = async (company: Company, query: object = {}): Promise<string[]> =>
  (await company.get('/crm/contacts', { ...query })).body.data.contactos.map((one: { nombre: string }) => one.nombre);
const stored = async (company: Company, id: number) =>
  (
    await server.service.database.pool.query<{ version: number; client_id: number | null }>(
      'select version, client_id from contacts where account_id = $1 and id = $2',
      [company.id, id],
    )
  ).rows[0];

test('[W-01] an update changes what is sent and nothing else, and answers the contact as it is read', async () => {
  const acme = await server.company(records);
  const { contactoId } = await read(acme, 7);
  let now: Record<string, unknown> = { contactoId, ...whole };
  const changes = { nombre: 'Leo', empresa: 'Zinc', email: 'leo@zinc.es', movil: '611 00 01 11' };
  for (const [index, [field, value]] of Object.entries(changes).entries()) {
    now = { ...now, [field]: value };
    const { status, body } = await update(acme, contactoId, { [field]: value });
    expect([field, status, body.data]).toEqual([field, 200, { contacto: now }]);
    expect([await read(acme, 7), await stored(acme, 7)]).toEqual([now, { version: index + 2, client_id: 1 }]);
  }
  expect((await update(acme, 7, { clienteId: 2 })).body.data).toEqual({ contacto: now });
  expect(await stored(acme, 7)).toEqual({ version: 6, client_id: 2 });
  // What is derived follows.
  for (const query of [{ busqueda: 'zinc' }, { email: 'LEO@zinc.es' }, { movil: '611000111' }]) {
    expect(await found(acme, query), JSON.stringify(query)).toEqual(['Leo']);
  }
  for (const query of [{ busqueda: 'oscar' }, { email: 'oscar@nilo.es' }, { movil: '600112233' }]) {
    expect(await found(acme, query), JSON.stringify(query)).toEqual([]);
  }
  const lead = await acme.post('/crm/contacts', { datos: { email: 'leo@zinc.es' } });
  expect([lead.headers.get('x-existing'), lead.body.data]).toEqual(['true', contactoId]);
});

test('[W-01] a text or the client is emptied by "", the same again changes nothing, an empty datos is 400', async () => {
  const acme = await server.company(records);
  for (let time = 0; time < 2; time++) {
    const empty = { empresa: '', email: ' ', movil: '', clienteId: '' };
    expect((await update(acme, 7, empty)).body.data.contacto).toMatchObject({
      nombre: 'Óscar',
      empresa: '',
      email: '',
    });
    expect(await stored(acme, 7)).toEqual({ version: 2, client_id: null });
  }
  expect([await found(acme, { email: whole.email }), await found(acme, { movil: whole.movil })]).toEqual([[], []]);
  for (const datos of [{}, { clienteId: null }, { cliente: 1 }]) {
    const { status, body } = await update(acme, 7, datos);
    expect([status, body.data]).toEqual([400, [{ campo: 'datos', mensaje: 'no hay nada que cambiar' }]]);
  }
  for (const [field, value] of Object.entries({ nombre: 'x'.repeat(201), email: 'no es correo', clienteId: 1.5 })) {
    expect((await update(acme, 7, { [field]: value })).body, field).toMatchObject({
      errorCode: 400,
      data: [{ campo: `datos.${field}` }],
    });
  }
  expect(await stored(acme, 7)).toEqual({ version: 2, client_id: null });
});

test('[AUTH-04] [AUTH-01] a read-only key changes none, and nobody does without one', async () => {
  const acme = await server.company(records);
  const body = JSON.stringify({ contactoId: 7, datos: { nombre: 'Otro' } });
  const json = { 'content-type': 'application/json' };
  const key = { ...(await acme.newKey(true)), ...json };
  expect((await server.request('/actualizarContacto', { method: 'POST', headers: key, body })).status).toBe(403);
  expect((await server.request('/actualizarContacto', { method: 'POST', headers: json, body })).status).toBe(401);
  expect(await found(acme)).toEqual(['Óscar']);
});

test('[TEN-01] [ID-05] another company’s contact or client is a 404', async () => {
  const acme = await server.company(records);
  const other = await server.company([contact(8, { nombre: 'Suyo' })]);
  const { contactoId } = await read(acme, 7);
  for (const id of [contactoId, 7, 99, 'x']) {
    const { status, body } = await update(other, id, { nombre: 'Otro' });
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('contactoId')]);
  }
  const [{ clienteId }] = (await acme.get('/clients')).body.data.clientes;
  for (const theirs of [clienteId, 1]) {
    const { status, body } = await update(other, 8, { clienteId: theirs });
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('datos.clienteId')]);
  }
  expect([await found(acme), await found(other)]).toEqual([['Óscar'], ['Suyo']]);
});
