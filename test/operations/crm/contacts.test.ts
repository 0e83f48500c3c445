import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer } from '../../helpers/world.ts';

const server = await startServer();
afterAll(() => server.stop());

const contact = (nombre: string, more: object = {}): FileRecord => ({ coleccion: 'contactos', nombre, ...more });
const names = (body: { data: { contactos: { nombre: string }[] } }) => body.data.contactos.map(({ nombre }) => nombre);
const create = (company: Company, datos: object, more?: Record<string, string>) =>
  company.post('/crm/contacts', { datos }, more);
const read = async (company: Company, id: string) => (await company.get(`/crm/contacts/${id}`)).body.data.contacto;
const count = async (company: Company) => (await company.get('/crm/contacts')).body.data.total_contactos;

test('[PAG-02] channels come by title', async () => {
  const acme = await server.company([
    { coleccion: 'canales', ref: 'w', titulo: 'web' },
    { coleccion: 'canales', ref: 'a', titulo: 'Área comercial' },
    { coleccion: 'canales', ref: 'f', titulo: 'Feria' },
  ]);
  const { status, body } = await acme.get('/crm/channels');
  expect(status).toBe(200);
  expect(body.data).toEqual({
    canales: ['Área comercial', 'Feria', 'web'].map((canal) => ({ canalId: expect.any(String), canal })),
  });
  expect((await (await server.company()).get('/crm/channels')).body.data).toEqual({ canales: [] });
});

test('[PAG-02] contacts by name, then by id, over pages', async () => {
  const acme = await server.company([
    contact('Zoe', { id: 1 }),
    contact('Óscar', { id: 2, empresa: 'Nilo', email: 'o@nilo.es', movil: '600 11 22 33' }),
    contact('ana', { id: 4, empresa: 'B' }),
    contact('ana', { id: 3, empresa: 'A' }),
  ]);
  const { status, body } = await acme.get('/crm/contacts');
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ total_contactos: 4, pagina: 1, por_pagina: 100, num_paginas: 1 });
  expect(body.data.contactos.slice(0, 3)).toEqual([
    { contactoId: expect.any(String), nombre: 'ana', empresa: 'A', email: '', movil: '' },
    { contactoId: expect.any(String), nombre: 'ana', empresa: 'B', email: '', movil: '' },
    { contactoId: expect.any(String), nombre: 'Óscar', empresa: 'Nilo', email: 'o@nilo.es', movil: '600 11 22 33' },
  ]);
  expect(names((await acme.get('/crm/contacts', { pagina: 2, por_pagina: 3 })).body)).toEqual(['Zoe']);
  expect(await read(acme, body.data.contactos[2].contactoId)).toEqual(body.data.contactos[2]);
  expect(await read(acme, '2')).toEqual(body.data.contactos[2]);
});

test('[OPP-03] filters compare as the resolver does: e-mail in any case, mobile by its digits', async () => {
  const acme = await server.company([
    contact('Óscar', { empresa: 'Nilo', email: 'Oscar@Nilo.es', movil: '+34 600 11 22 33' }),
    contact('Eva', { email: 'eva@nilo.es', movil: '611000111' }),
    contact('Sin datos'),
  ]);
  const list = async (query: object) => names((await acme.get('/crm/contacts', { ...query })).body);
  expect(await list({ email: 'oscar@nilo.ES' })).toEqual(['Óscar']);
  expect(await list({ email: 'nilo.es' })).toEqual([]);
  for (const movil of ['600112233', '+34600112233', '0034 600-11-22-33'])
    expect(await list({ movil })).toEqual(['Óscar']);
  expect(await list({ movil: '60011' })).toEqual([]);
  expect(await list({ movil: 'x' })).toEqual([]);
  expect(await list({ busqueda: 'oscar' })).toEqual(['Óscar']);
  expect(await list({ busqueda: 'NILO' })).toEqual(['Eva', 'Óscar']);
  expect(await list({ busqueda: 'eva', movil: '600112233' })).toEqual([]);
  expect(await list({ busqueda: '', email: '', movil: '' })).toHaveLength(3);
});

test('[OPP-03] a new contact is created, and its id read back', async () => {
  const acme = await server.company();
  const { status, headers, body } = await create(acme, {
    nombre: 'Nuria Sanz',
    empresa: 'Empresa SA',
    email: 'Nuria@empresa.es',
    movil: '611 000 111',
  });
  expect([status, headers.get('x-existing')]).toEqual([200, null]);
  expect(body).toEqual({ errorCode: 200, errorMsg: '', data: expect.stringMatching(/^[\w-]{23}$/) });
  expect(await read(acme, body.data)).toEqual({
    contactoId: body.data,
    nombre: 'Nuria Sanz',
    empresa: 'Empresa SA',
    email: 'Nuria@empresa.es',
    movil: '611 000 111',
  });
  expect((await acme.get('/crm/contacts', { busqueda: 'sanz' })).body.data.total_contactos).toBe(1);
});

test('[OPP-03] [W-12] without a name it takes the company’s, or else the e-mail’s local part, or else the mobile', async () => {
  const acme = await server.company();
  const nameOf = async (datos: object) => (await read(acme, (await create(acme, datos)).body.data)).nombre;
  expect(await nameOf({ nombre: 'Solo' })).toBe('Solo');
  expect(await nameOf({ empresa: 'Sola SL', email: 'a@sola.es' })).toBe('Sola SL');
  expect(await nameOf({ email: 'solo.correo@x.es' })).toBe('solo.correo');
  expect(await nameOf({ movil: '600 11 22 33' })).toBe('600 11 22 33');
});

test('[OPP-03] [W-03] [W-12] an existing one, by e-mail or else by mobile, is answered as it is', async () => {
  const acme = await server.company([
    contact('Por móvil', { id: 31, movil: '+34 600 11 22 33' }),
    contact('Por correo', { id: 32, email: 'Lola@Example.com' }),
    contact('Más nuevo', { id: 33, email: 'lola@example.com' }),
  ]);
  const resolve = async (datos: object) => {
    const { headers, body } = await create(acme, { nombre: 'Otra', empresa: 'Otra', ...datos });
    return [headers.get('x-existing'), (await read(acme, body.data)).nombre];
  };
  expect(await resolve({ email: 'LOLA@example.com', movil: '600112233' })).toEqual(['true', 'Por correo']);
  expect(await resolve({ email: 'nadie@example.com', movil: '0034600112233' })).toEqual(['true', 'Por móvil']);
  expect(await resolve({ movil: '600112233' })).toEqual(['true', 'Por móvil']);
  expect(await count(acme)).toBe(3);
  expect(await resolve({ movil: '600112244' })).toEqual([null, 'Otra']);
  expect(await resolve({ movil: '+34 600 112 244' })).toEqual(['true', 'Otra']);
  // Names are not unique, and a mobile without digits does not count.
  for (const datos of [{}, {}, { movil: '-' }, { movil: '-' }]) expect(await resolve(datos)).toEqual([null, 'Otra']);
  expect(await count(acme)).toBe(8);
});

test('[W-11] an e-mail is trimmed and of any script; a domain is the same in letters and in xn--', async () => {
  const acme = await server.company([contact('Eñe', { email: ' x@Ñandu.es ' })]);
  const resolve = async (email: string) => {
    const { status, headers, body } = await create(acme, { email });
    expect([email, status]).toEqual([email, 200]);
    const { contactos } = (await acme.get('/crm/contacts', { email: email.trim() })).body.data;
    expect(contactos).toEqual([await read(acme, body.data)]);
    return [headers.get('x-existing'), contactos[0].email];
  };
  const decomposed = 'x@ñandu.es'.normalize('NFD');
  for (const email of ['x@ñandu.es', ' X@ÑANDU.ES\t', 'x@xn--andu-fqa.es', decomposed]) {
    expect(await resolve(email)).toEqual(['true', 'x@Ñandu.es']);
  }
  expect(await resolve('  josé.peña@correo.es ')).toEqual([null, 'josé.peña@correo.es']);
  expect(await resolve('JOSÉ.PEÑA@correo.es'.normalize('NFD'))).toEqual(['true', 'josé.peña@correo.es']);
  expect(await resolve('Ventas@xn--caf-dma.example')).toEqual([null, 'Ventas@xn--caf-dma.example']);
  expect(await resolve('ventas@café.example')).toEqual(['true', 'Ventas@xn--caf-dma.example']);
  expect(await resolve('用户@例子.广告')).toEqual([null, '用户@例子.广告']);
  expect(await count(acme)).toBe(4);
});

test('[W-11] one stored under its domain in xn-- is found by either form', async () => {
  const acme = await server.company([contact('Antes', { id: 5, email: 'x@xn--andu-fqa.es' })]);
  await server.service.database.transaction(acme.id, { write: true }, (db) =>
    db
      .updateTable('contacts')
      .set({ email_key: 'x@xn--andu-fqa.es' })
      .where('account_id', '=', acme.id)
      .where('id', '=', 5)
      .execute(),
  );
  for (const email of ['x@ñandu.es', 'x@xn--andu-fqa.es']) {
    expect(names((await acme.get('/crm/contacts', { email })).body)).toEqual(['Antes']);
    expect((await create(acme, { email })).headers.get('x-existing')).toBe('true');
  }
});

test.for([
  { what: 'e-mail', forms: ['a@ñu.es', 'A@xn--u-qga.es'].map((email) => ({ email })) },
  { what: 'mobile', forms: ['600112233', '+34 600 112 233'].map((movil) => ({ movil })) },
])('[OPP-03] [W-12] parallel calls with one new $what create one contact', async ({ forms }) => {
  const acme = await server.company();
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => create(acme, forms[index % 2] ?? {})));
  expect(new Set(answers.map(({ body }) => body.data)).size).toBe(1);
  expect(answers.filter(({ headers }) => headers.get('x-existing') === null)).toHaveLength(1);
  expect(await count(acme)).toBe(1);
});

test('[IDEM-01] a replay answers all of the first answer, X-Existing included', async () => {
  const acme = await server.company([contact('Eva', { email: 'eva@x.es' })]);
  const twice = async (datos: object, key: string) => {
    const [first, second] = [
      await create(acme, datos, { 'x-idempotency-key': key }),
      await create(acme, datos, { 'x-idempotency-key': key }),
    ];
    expect(second.body).toEqual(first.body);
    expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    return [first, second].map(({ headers }) => headers.get('x-existing'));
  };
  expect(await twice({ email: 'eva@x.es' }, 'a')).toEqual(['true', 'true']);
  // The replay belongs to the call that created the contact.
  expect(await twice({ email: 'nueva@x.es' }, 'b')).toEqual([null, null]);
  expect(await twice({ nombre: 'Leo' }, 'c')).toEqual([null, null]);
  expect(await count(acme)).toBe(3);
});

test('[ENV-02] [ENV-03] [W-12] with nothing of whom it is: 400 that names what it may be', async () => {
  const acme = await server.company();
  for (const datos of [{}, { movil: ' ' }, { nombre: ' ', empresa: '', email: '' }, { nombre: null }]) {
    const { status, body } = await create(acme, datos);
    expect(status).toBe(400);
    expect(body.errorMsg).toBe('Hace falta al menos uno de datos.nombre, datos.empresa, datos.email, datos.movil');
    expect(body.data.map(({ campo }: { campo: string }) => campo)).toEqual([
      'datos.nombre',
      'datos.empresa',
      'datos.email',
      'datos.movil',
    ]);
  }
  expect((await acme.post('/crm/contacts', {})).body.data).toMatchObject([{ campo: 'datos' }]);
  for (const email of ['no es correo', 'x@', '@ñandu.es', 'x@y@z.es', 'x@ñandu..es', 'x@.es', 'x@a,b.es']) {
    expect((await create(acme, { email })).body.data, email).toMatchObject([{ campo: 'datos.email' }]);
  }
  expect(await count(acme)).toBe(0);
});

test('[AUTH-04] a read-only key creates none; every creation is in the journal, a match changes nothing', async () => {
  const acme = await server.company();
  const readOnly = await server.request('/crearContacto', {
    method: 'POST',
    headers: { ...(await acme.newKey(true)), 'content-type': 'application/json' },
    body: JSON.stringify({ datos: { nombre: 'Eva' } }),
  });
  expect(readOnly.status).toBe(403);
  expect(await count(acme)).toBe(0);
  await create(acme, { email: 'eva@x.es' });
  await create(acme, { email: 'eva@x.es' });
  const { rows } = await server.service.database.pool.query(
    `select record_table, action from journal_entries where account_id = $1 and operation = 'crearContacto'`,
    [acme.id],
  );
  expect(rows).toEqual([{ record_table: 'contacts', action: 'create' }]);
});

test('[TEN-01] another company’s contact is a 404, and matches nothing', async () => {
  const acme = await server.company([contact('Eva', { id: 7, email: 'eva@x.es' })]);
  const other = await server.company();
  const { contactoId } = await read(acme, '7');
  for (const id of [contactoId, 7, 99, 'x']) expect((await other.get(`/crm/contacts/${id}`)).status).toBe(404);
  const { headers } = await create(other, { email: 'eva@x.es' });
  expect(headers.get('x-existing')).toBeNull();
  expect(await count(other)).toBe(1);
});
