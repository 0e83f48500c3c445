// One definition of an e-mail: the account file and every interface accept and refuse the same ones.
import { afterAll, expect, test } from 'vitest';
import { operations } from '../../bridges/operations.ts';
import { createUser, signIn } from '../../platform/identity/users.ts';
import { isEmail } from '../../platform/text.ts';
import { EXAMPLE_NOW, exampleAccount, exampleRecords, examples } from '../helpers/examples.ts';
import { startServer, TestClock } from '../helpers/world.ts';

const server = await startServer({ clock: new TestClock(EXAMPLE_NOW) });
afterAll(() => server.stop());

const ADDRESSES = [
  'x@ñandu.es',
  ' José.Peña@correo.es\t',
  'o’neill+web@xn--andu-fqa.es',
  '用户@例子.广告',
  'info@localhost',
];
const NONE = [
  'sin correo',
  'x@',
  '@ñandu.es',
  'x@y@z.es',
  'a@b.es, c@d.es',
  'x@a..es',
  '<x@y.es>',
  `${'x'.repeat(320)}@y.es`,
];

/** The writes with an e-mail, and its path in their input. */
const WRITES = [
  { path: 'clients.create', within: 'datos', field: 'email' },
  { path: 'clients.update', within: 'datos', field: 'email' },
  { path: 'suppliers.create', within: 'datos', field: 'email' },
  { path: 'suppliers.update', within: 'datos', field: 'email' },
  { path: 'contacts.create', within: 'datos', field: 'email' },
  { path: 'contacts.update', within: 'datos', field: 'email' },
  { path: 'opportunities.create', within: 'datos', field: 'email_contacto' },
  { path: 'recurrings.create', within: 'cliente', field: 'email' },
  { path: 'deliveryNotes.create', within: 'cliente', field: 'email' },
  { path: 'invoices.create', within: 'cliente', field: 'email' },
];

test.for(WRITES)('[W-11] $path takes an e-mail as the account file does', async ({ path, within, field }) => {
  const acme = await server.company([...exampleRecords], { cuenta: exampleAccount });
  const example = examples[path] ?? {};
  const alias = operations.find((operation) => operation.path === path)?.alias ?? '';
  const send = (email: string) =>
    acme.alias(alias, { ...example, [within]: { ...(example[within] as object), [field]: email } });
  for (const email of ADDRESSES) {
    expect((await send(email)).body, email).toMatchObject({ errorMsg: '' });
    await acme.load([{ coleccion: 'contactos', ref: 'c', nombre: 'Alguien', email }]);
  }
  for (const email of NONE) {
    const { status, body } = await send(email);
    expect([email, status]).toEqual([email, 400]);
    expect(body.data).toMatchObject([{ campo: `${within}.${field}` }]);
    const load = acme.load([{ coleccion: 'contactos', ref: 'c', nombre: 'Alguien', email }]);
    await expect(load, email).rejects.toThrow('email: se esperaba un correo electrónico');
  }
});

test('[W-11] a client is listed by an e-mail however it is written', async () => {
  const acme = await server.company([
    { coleccion: 'clientes', ref: 'a', nombre_fiscal: 'Ñandú SL', email: 'Hola@ÑANDU.es' },
    { coleccion: 'clientes', ref: 'b', nombre_fiscal: 'Otro', email: 'hola@xn--caf-dma.example' },
  ]);
  const listed = async (email: string) =>
    (await acme.get('/clients', { email })).body.data.clientes.map(
      (one: { nombre_fiscal: string }) => one.nombre_fiscal,
    );
  for (const email of ['hola@ñandu.es', 'HOLA@xn--andu-fqa.es', 'hola@ñandu.es'.normalize('NFD')]) {
    expect(await listed(email)).toEqual(['Ñandú SL']);
  }
  expect(await listed('hola@café.example')).toEqual(['Otro']);
  expect(await listed('hola@nandu.es')).toEqual([]);
});

test('[W-11] a person signs in with the address however it is written, and has it alone', async () => {
  const { database } = server.service;
  const mark = `w11-${crypto.randomUUID()}`;
  const person = { name: 'Ana', password: 'una contraseña larga' };
  await createUser(database, { ...person, email: ` ${mark}@ñandu.es ` });
  for (const email of [`${mark}@xn--andu-fqa.es`, `${mark.toUpperCase()}@ÑANDU.es`]) {
    const attempt = { email, password: person.password, address: '192.0.2.7', requestId: 'w11' };
    const signedIn = await signIn(server.service, attempt);
    expect(signedIn?.user.email).toBe(`${mark}@ñandu.es`);
    await expect(createUser(database, { ...person, email })).rejects.toThrow('ya hay una persona con este correo');
  }
  for (const email of NONE)
    await expect(createUser(database, { ...person, email })).rejects.toThrow('correo electrónico');
});

test('[W-11] whatever is an address has one form that it is compared by', () => {
  expect(ADDRESSES.every(isEmail)).toBe(true);
  expect(NONE.some(isEmail)).toBe(false);
});
