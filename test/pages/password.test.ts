// A person's password: its hash, and changing it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPassword, isPassword } from '../../platform/identity/passwords.ts';
import { type Server, startServer } from '../helpers/world.ts';
import { auditOf, HOME, makePerson, openBrowser, PASSWORD, signedIn } from './browser.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const PAGE = '/settings/password';
const NEW = 'otra frase bien larga';

test('a password is kept as argon2id with a salt and a cost of its own', async () => {
  const [one, two] = [await hashPassword(PASSWORD), await hashPassword(PASSWORD)];
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(one).not.toBe(two);
  expect(await isPassword(PASSWORD, one)).toBe(true);
  expect(await isPassword(`${PASSWORD} `, one)).toBe(false);
  expect(await isPassword(PASSWORD.normalize('NFD'), one), 'its accents composed in another way').toBe(true);
  // In the standard form (RFC 9106) of other programs, with other parameters.
  const foreign = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';
  expect(await isPassword('password', foreign)).toBe(true);
  expect(await isPassword('passwore', foreign)).toBe(false);
});

test('changing it ends the other sessions, and the old one opens nothing any more', async () => {
  const company = await server.company();
  const { browser, person } = await signedIn(server, [{ accountId: company.id }]);
  const elsewhere = openBrowser(server.url);
  await elsewhere.signIn(person.email);
  expect((await elsewhere.get(HOME)).status).toBe(200);

  await browser.get(PAGE);
  const changed = await browser.submit(PAGE, { actual: PASSWORD, nueva: NEW, repetida: NEW });
  expect(changed.status).toBe(303);
  expect((await browser.get(changed.location ?? '')).text).toContain('Contraseña cambiada');
  expect((await elsewhere.get(HOME)).location).toMatch(/^\/signin/);
  expect((await openBrowser(server.url).signIn(person.email, PASSWORD)).status).toBe(400);
  expect((await openBrowser(server.url).signIn(person.email, NEW)).status).toBe(303);
  expect(await auditOf(server, company.id)).toContainEqual({
    actor: `user:${person.id}`,
    door: 'pages',
    operation: 'password change',
    record_kind: 'user',
    record_id: person.id,
  });
});

test.each([
  ['actual', { actual: 'wrong', nueva: NEW, repetida: NEW }],
  ['nueva', { actual: PASSWORD, nueva: 'once letras', repetida: 'once letras' }],
  ['nueva', { actual: PASSWORD, nueva: 'x'.repeat(201), repetida: 'x'.repeat(201) }],
  ['repetida', { actual: PASSWORD, nueva: NEW, repetida: `${NEW}.` }],
])('what does not fit is said at its field, and nothing changes: %s', async (field, fields) => {
  const { browser, person } = await signedIn(server, []);
  await browser.get(PAGE);
  const sent = await browser.submit(PAGE, fields);
  expect(sent.status).toBe(400);
  expect(sent.text).toContain(`id="${field}-problem"`);
  expect((await openBrowser(server.url).signIn(person.email, PASSWORD)).status).toBe(303);
});

test('a session that was left open is no place to guess the password', async () => {
  const { browser } = await signedIn(server, []);
  await browser.get(PAGE);
  const guess = async () => (await browser.submit(PAGE, { actual: 'wrong', nueva: NEW, repetida: NEW })).status;
  for (let tries = 0; tries < 10; tries++) expect(await guess()).toBe(400);
  expect(await guess()).toBe(429);
});

test('one e-mail is one person, however it is written', async () => {
  const { email } = await makePerson(server);
  const { createUser } = await import('../../platform/identity/users.ts');
  const again = createUser(server.service.database, {
    email: ` ${email.toLowerCase()}`,
    name: 'x',
    password: PASSWORD,
  });
  await expect(again).rejects.toThrow('ya hay una persona');
});
