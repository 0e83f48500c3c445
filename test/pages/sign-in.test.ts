// Signing in, sessions and signing out, over HTTP as a browser does it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Server, startServer, TestClock } from '../helpers/world.ts';
import { HOME, makePerson, openBrowser, PASSWORD, signedIn } from './browser.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const SESSION = 'albaran_session';
const KNOWN = 'albaran_known';

test('whoever asks for a page signs in first, and comes to the page', async () => {
  const company = await server.company();
  const person = await makePerson(server, [{ accountId: company.id }]);
  const browser = openBrowser(server.url);
  const asked = await browser.get(`${HOME}?company=${company.slug}`);
  expect(asked.status).toBe(303);
  const form = await browser.get(asked.location ?? '');
  expect(form.status).toBe(200);
  const next = /name="next" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
  const entered = await browser.submit('/signin', { email: person.email.toUpperCase(), password: PASSWORD, next });
  expect(entered).toMatchObject({ status: 303, location: `${HOME}?company=${company.slug}` });
  expect((await browser.get(entered.location ?? '')).text).toContain('<h1>Integraciones</h1>');
  // A person who is signed in skips the form.
  expect(await browser.get('/signin')).toMatchObject({ status: 303, location: HOME });
});

test('an unknown e-mail and a wrong password get the same answer, after the same work', async () => {
  const { email } = await makePerson(server);
  const attempt = async (who: string) => {
    const started = performance.now();
    const { status, text } = await openBrowser(server.url).signIn(who, 'not the password');
    const page = text.replace(/value="[^"]*"/g, '');
    return { status, page, ms: performance.now() - started };
  };
  const shortest = async (who: () => string) => {
    const tries = [await attempt(who()), await attempt(who()), await attempt(who())];
    const [first] = tries;
    return { status: first?.status, page: first?.page, ms: Math.min(...tries.map(({ ms }) => ms)) };
  };
  const known = await shortest(() => email);
  const unknown = await shortest(() => `nobody-${Math.random()}@example.com`);
  expect(unknown.status).toBe(400);
  expect({ status: unknown.status, page: unknown.page }).toEqual({ status: known.status, page: known.page });
  // Without hashing a password an answer takes a fraction of the time.
  expect(unknown.ms).toBeGreaterThan(known.ms / 2);
});

test('a session is always a new one: what the browser brought along opens nothing, before or after', async () => {
  const { email } = await makePerson(server);
  const browser = openBrowser(server.url);
  const planted = 'x'.repeat(43);
  browser.cookies.set(SESSION, planted);
  await browser.signIn(email);
  const first = browser.cookies.get(SESSION);
  expect(first).not.toBe(planted);
  const other = openBrowser(server.url);
  other.cookies.set(SESSION, planted);
  expect((await other.get(HOME)).location).toMatch(/^\/signin/);

  // Another sign-in ends the existing session.
  await browser.get('/settings/password');
  await browser.submit('/signin', { email, password: PASSWORD, next: HOME });
  expect(browser.cookies.get(SESSION)).not.toBe(first);
  other.cookies.set(SESSION, first ?? '');
  expect((await other.get(HOME)).location).toMatch(/^\/signin/);
});

test('signing out ends the session itself, not only the cookie', async () => {
  const company = await server.company();
  const { browser } = await signedIn(server, [{ accountId: company.id }]);
  const token = browser.cookies.get(SESSION) ?? '';
  await browser.get(HOME);
  expect((await browser.submit('/signout')).status).toBe(303);
  expect(browser.cookies.has(SESSION)).toBe(false);
  browser.cookies.set(SESSION, token);
  expect((await browser.get(HOME)).location).toMatch(/^\/signin/);
  expect((await browser.get('/signout')).status).toBe(405);
});

test('a session ends after 12 hours without use, and after 7 days whatever its use', async () => {
  const clock = new TestClock('2026-03-01T08:00:00Z');
  await using own = await startServer({ clock });
  const company = await own.company();
  const { browser } = await signedIn(own, [{ accountId: company.id }]);
  const isIn = async () => (await browser.get(HOME)).status === 200;
  for (let hours = 0; hours < 7 * 24 - 11; hours += 11) {
    expect(await isIn()).toBe(true);
    clock.advance({ hours: 11 });
  }
  expect(await isIn()).toBe(true);
  clock.advance({ hours: 3 });
  expect(await isIn(), 'a week later').toBe(false);

  const again = await signedIn(own, [{ accountId: company.id }]);
  clock.advance({ hours: 12 });
  expect((await again.browser.get(HOME)).status, 'half a day idle').toBe(303);
});

/** A server with a test clock, and sign-in attempts from chosen addresses. */
async function guessing() {
  const clock = new TestClock('2026-03-01T08:00:00Z');
  const own = await startServer({ clock, trustProxy: true });
  const from = (address: string) => openBrowser(own.url, { 'x-forwarded-for': address });
  const attempt = async (address: string, who: string, password: string) =>
    (await from(address).signIn(who, password)).status;
  /** Uses up the attempts of one e-mail from one address. */
  async function spend(who: string, address = '203.0.113.7') {
    const tries = Array.from({ length: 10 }, () => attempt(address, who, 'wrong'));
    expect(new Set(await Promise.all(tries))).toEqual(new Set([400]));
  }
  /** A sign-in of a browser with this cookie and without a session. */
  async function known(cookie: string | undefined, who: string, password = PASSWORD, address = '203.0.113.7') {
    const browser = from(address);
    browser.cookies.set(KNOWN, cookie ?? '');
    return (await browser.signIn(who, password)).status;
  }
  return { own, clock, from, attempt, spend, known, [Symbol.asyncDispose]: () => own.stop() };
}

test('passwords can be guessed ten times in a quarter of an hour for one e-mail from one network, whether it exists or not', async () => {
  await using world = await guessing();
  const { own, clock, from, attempt } = world;
  const { email } = await makePerson(own);
  for (const who of [email, `nobody-${email}`]) {
    for (let tries = 0; tries < 10; tries++) expect(await attempt('198.51.100.7', who, 'wrong')).toBe(400);
    const refused = await from('198.51.100.7').signIn(who.toUpperCase(), PASSWORD);
    expect(refused.status, 'the right one too').toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBe(15 * 60);
  }
  expect(await attempt('203.0.113.7', email, PASSWORD), 'nobody elsewhere is locked out').toBe(303);
  clock.advance({ minutes: 15 });
  expect(await attempt('198.51.100.7', email, PASSWORD)).toBe(303);
  // Successful sign-ins don't count.
  for (let tries = 0; tries < 11; tries++) expect(await attempt('198.51.100.7', email, PASSWORD)).toBe(303);
});

test('a hundred times for one e-mail from everywhere, which locks no browser out in which the person signed in before', async () => {
  await using world = await guessing();
  const { own, clock, from, attempt, spend, known } = world;
  const [{ email }, other] = [await makePerson(own), await makePerson(own)];
  const home = from('203.0.113.7');
  await home.signIn(email);
  for (let network = 1; network <= 10; network++) await spend(email, `198.51.100.${network}`);
  expect(await attempt('192.0.2.1', email, PASSWORD), 'from a new browser anywhere').toBe(429);
  expect(await known(home.cookies.get(KNOWN), email), 'from the known one').toBe(303);
  const stranger = from('192.0.2.2');
  await stranger.signIn(other.email);
  expect(await known(stranger.cookies.get(KNOWN), email), 'where another person signed in').toBe(429);
  clock.advance({ minutes: 15 });
  expect(await attempt('192.0.2.1', email, PASSWORD)).toBe(303);
}, 60_000);

test('what a known browser keeps lets nobody guess without limit, and spends nothing of the person’s elsewhere', async () => {
  await using world = await guessing();
  const { own, from, attempt, spend, known } = world;
  const { email } = await makePerson(own);
  const home = from('203.0.113.7');
  await home.signIn(email);
  const stolen = home.cookies.get(KNOWN);
  const thief = '192.0.2.66';
  for (let tries = 0; tries < 10; tries++) expect(await known(stolen, email, 'wrong', thief)).toBe(400);
  expect(await attempt(thief, email, PASSWORD), 'its attempts are its own').toBe(303);
  // After that it counts as any other browser: ten attempts of the network, and no more.
  await spend(email, thief);
  expect(await known(stolen, email, PASSWORD, thief)).toBe(429);
  expect(await known(stolen, email), 'the person’s own browser neither better nor worse').toBe(303);
});

test('a known browser is one of one person and one password, for a year, and nobody makes one up', async () => {
  await using world = await guessing();
  const { own, clock, from, spend, known } = world;
  const [person, other] = [await makePerson(own), await makePerson(own)];
  const browser = from('203.0.113.7');
  await browser.signIn(person.email);
  const kept = browser.cookies.get(KNOWN) ?? '';
  await spend(person.email);
  await spend(other.email);

  expect(await known(kept, person.email)).toBe(303);
  expect(await known(kept, other.email)).toBe(429);
  const [name = '', id = '', until = '', signature = ''] = kept.split('.');
  const later = (Number.parseInt(until, 36) + 1).toString(36);
  expect(await known([name, other.id.toString(36), until, signature].join('.'), other.email)).toBe(429);
  expect(await known([name, id, later, signature].join('.'), person.email)).toBe(429);
  expect(await known([`${name}x`, id, until, signature].join('.'), person.email)).toBe(429);
  expect(await known([name, id, until, ''].join('.'), person.email)).toBe(429);

  // A new password makes every browser unknown, except the one that changed it.
  const NEW = 'otra frase bien larga';
  await browser.get('/settings/password');
  await browser.submit('/settings/password', { actual: PASSWORD, nueva: NEW, repetida: NEW });
  expect(await known(kept, person.email, NEW)).toBe(429);
  const renewed = browser.cookies.get(KNOWN);
  expect(await known(renewed, person.email, NEW)).toBe(303);

  clock.advance({ hours: 24 * 365 });
  await spend(person.email);
  expect(await known(renewed, person.email, NEW), 'a year later').toBe(429);
});

test('attempts made at once are counted one by one', async () => {
  // From a new address: wrong attempts count against the address too, and other tests share theirs.
  await using own = await startServer({ trustProxy: true });
  const { email } = await makePerson(own);
  const attempt = () => openBrowser(own.url, { 'x-forwarded-for': '192.0.2.77' }).signIn(email, 'wrong');
  const answers = await Promise.all(Array.from({ length: 14 }, attempt));
  expect(answers.filter(({ status }) => status === 400)).toHaveLength(10);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(4);
});

test('what one limit refuses counts under no other: who insists on one e-mail doesn’t shut out the network', async () => {
  await using world = await guessing();
  const { own, attempt } = world;
  const [person, other] = [await makePerson(own), await makePerson(own)];
  for (let tries = 0; tries < 10; tries++) await attempt('198.51.100.7', person.email, 'wrong');
  for (let tries = 0; tries < 60; tries++) expect(await attempt('198.51.100.7', person.email, 'wrong')).toBe(429);
  expect(await attempt('198.51.100.7', other.email, PASSWORD)).toBe(303);
});

test('sign-ins are noted with person and address: the right, the wrong, and the first one past a limit', async () => {
  await using world = await guessing();
  const { own, from, attempt, known } = world;
  const { id, email } = await makePerson(own);
  const home = from('203.0.113.7');
  await home.signIn(email);
  await known(home.cookies.get(KNOWN), email);
  for (let tries = 0; tries < 13; tries++) await attempt('2001:db8::7', email, 'wrong');
  const unknown = `192.0.2.${1 + Math.floor(Math.random() * 254)}`;
  await attempt(unknown, `nobody-${email}`, 'wrong');
  const { rows } = await own.service.database.pool.query(
    `select user_id, address, outcome, known_browser, created_at from sign_ins
     where user_id = $1 or user_id is null and address = $2 order by id`,
    [id, unknown],
  );
  const noted = (address: string, outcome: string, known_browser = false, user_id: number | null = id) => ({
    user_id,
    address,
    outcome,
    known_browser,
    created_at: '2026-03-01 08:00:00+00',
  });
  expect(rows).toEqual([
    noted('203.0.113.7', 'signed in'),
    noted('203.0.113.7', 'signed in', true),
    ...Array.from({ length: 10 }, () => noted('2001:db8::7', 'refused')),
    noted('2001:db8::7', 'limited'),
    noted(unknown, 'refused', false, null),
  ]);
});

test('one address, or network of IPv6, is refused after fifty wrong attempts, whatever the e-mails; the others go on', async () => {
  const clock = new TestClock('2026-03-01T08:00:00Z');
  await using own = await startServer({ clock, trustProxy: true });
  const { email } = await makePerson(own);
  const status = async (address: string, who = email, password = PASSWORD) =>
    (await openBrowser(own.url, { 'x-forwarded-for': address }).signIn(who, password)).status;
  const [host, network] = [Math.random().toString(16).slice(2, 5), Math.random().toString(16).slice(2, 5)];
  const batch = Array.from({ length: 50 }, (_, index) =>
    status(`2001:db8:${host}:${network}::${index}`, `${index}-${email}`, 'wrong'),
  );
  expect(new Set(await Promise.all(batch))).toEqual(new Set([400]));
  expect(await status(`2001:db8:${host}:${network}:ffff:1:2:3`)).toBe(429);
  for (const other of [`2001:db8:${host}:${network}1::1`, `2001:db8:${host}::1`, '::1', '::ffff:203.0.113.10']) {
    expect(await status(other), other).toBe(303);
  }
});

test.each([
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  '/\t/evil.example',
  '/.//evil.example',
  'javascript:alert(1)',
  'settings/password',
  '',
])('a sign-in goes on to our own paths alone: %j', async (next) => {
  const { email } = await makePerson(server);
  const { location } = await openBrowser(server.url).signIn(email, PASSWORD, next);
  expect(location).toBe(HOME);
});

test('where a sign-in goes on to keeps its parameters', async () => {
  const { email } = await makePerson(server);
  const next = '/oauth/authorize?client_id=a&redirect_uri=https%3A%2F%2Fclaude.ai%2Fcb&state=1';
  expect(await openBrowser(server.url).signIn(email, PASSWORD, next)).toMatchObject({ location: next });
});

test('no form is taken without the token of this browser and this session, nor from another site', async () => {
  const company = await server.company();
  const { email } = await makePerson(server, [{ accountId: company.id }]);
  const browser = openBrowser(server.url);
  const before = /name="csrf" value="([\w-]+)"/.exec((await browser.get('/signin')).text)?.[1] ?? '';
  await browser.submit('/signin', { email, password: PASSWORD });
  const stranger = await signedIn(server, [{ accountId: company.id }]);
  const page = await stranger.browser.get(HOME);
  const foreign = /name="csrf" value="([\w-]+)"/.exec(page.text)?.[1] ?? '';
  const forms = [
    '/signin',
    '/signout',
    '/settings/password',
    `${HOME}/keys`,
    `${HOME}/keys/1/revoke`,
    `${HOME}/connections/1/withdraw`,
  ];
  await browser.get(HOME);
  for (const form of forms) {
    expect((await browser.submit(form, { csrf: '' })).status, form).toBe(403);
    expect((await browser.submit(form, { csrf: foreign })).status, form).toBe(403);
    expect((await browser.submit(form, { csrf: before })).status, 'from before signing in').toBe(403);
    expect((await browser.submit(form, {}, { 'sec-fetch-site': 'cross-site' })).status, form).toBe(403);
  }
  expect((await browser.get(HOME)).status, 'still signed in').toBe(200);
});

test('cookies are out of reach of scripts and other sites; behind https they are bound to the host', async () => {
  const { email } = await makePerson(server);
  const plain = await openBrowser(server.url).signIn(email);
  expect(plain.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^albaran_session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/),
    expect.stringMatching(/^albaran_known=[\w.-]+\.[\w-]{43}; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/),
  ]);
  await using own = await startServer({ baseUrl: 'https://albaran.example' });
  const browser = openBrowser(own.url);
  const page = await browser.get('/signin');
  const entered = await browser.signIn(email);
  for (const line of [...page.headers.getSetCookie(), ...entered.headers.getSetCookie()]) {
    expect(line).toMatch(
      /^__Host-albaran_(form|session|known)=[\w.-]*[\w-]{43};.* Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  }
  expect(entered.status).toBe(303);
});

test('the token of a session is kept nowhere', async () => {
  const { email } = await makePerson(server);
  const browser = openBrowser(server.url);
  await browser.signIn(email);
  const token = browser.cookies.get(SESSION) ?? 'none';
  const { rows } = await server.service.database.pool.query(
    `select from user_sessions where encode(token_hash, 'escape') like $1 or token_hash = $2`,
    [`%${token}%`, Buffer.from(token, 'base64url')],
  );
  expect(rows).toEqual([]);
});

test('a page runs nothing, is shown in no frame, kept by nobody, and speaks the reader’s language', async () => {
  const { headers, text } = await openBrowser(server.url).get('/signin');
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/script|unsafe/);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(text).toContain('lang="es"');
  const style = /href="(\/pages\/style-[\w-]+\.css)"/.exec(text)?.[1] ?? '';
  const sheet = await server.request(style);
  expect(sheet.status).toBe(200);
  expect(sheet.headers.get('cache-control')).toContain('immutable');
  const languages = {
    'en-GB,en;q=0.9,es;q=0.8': 'en',
    'fr,es;q=0.5,en;q=0.4': 'es',
    de: 'es',
    'es;q=0,en;q=0.1': 'en',
  };
  for (const [header, language] of Object.entries(languages)) {
    const page = await openBrowser(server.url).get('/signin', { 'accept-language': header });
    expect(page.text, header).toContain(`lang="${language}"`);
  }
});

test('what is typed is shown as text', async () => {
  const page = await openBrowser(server.url).signIn('"><script>alert(1)</script>', 'x', `/"><script>alert(2)</script>`);
  expect(page.text).not.toContain('<script>');
  expect(page.text).toContain('&quot;&gt;&lt;script&gt;alert(1)');
});
