// The page with what a company says of itself on its documents.
import { extractText, getDocumentProxy } from 'unpdf';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { switchVerifactu } from '../../lifecycle/verifactu.ts';
import { JPEG, png } from '../documents/pictures.ts';
import { type Company, type Server, startServer, TestClock } from '../helpers/world.ts';
import { openBrowser, signedIn } from './browser.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer({ clock: new TestClock('2026-03-10T10:00:00Z'), alone: true });
});
afterAll(() => server.stop());

const PAGE = '/settings/company';
const LOOK = `${PAGE}/look`;
const DATA = {
  razon_social: 'Cuadra Obras, S.L.',
  cif: 'B-12345674',
  direccion: 'Calle Mayor 1 <bajo>',
  cp: '11001',
  poblacion: 'Cádiz',
  provincia: 'Cádiz',
  pais: 'España',
  email: 'obras@example.com',
  iban: 'es91 2100 0418 4502 0005 1332',
};
const SAVED = { ...DATA, iban: 'ES9121000418450200051332' };

const settingsOf = async (company: Company) => (await company.get('/fiscal-settings')).body.data;
const pictureAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());
const file = (bytes: Buffer, type = 'image/png') => new Blob([new Uint8Array(bytes)], { type });

/** A company, and a browser on its page. */
async function open(role: 'admin' | 'member' = 'admin') {
  const company = await server.company();
  const { browser, person } = await signedIn(server, [{ accountId: company.id, role }]);
  const page = `${PAGE}?company=${company.slug}`;
  const { text, status } = await browser.get(page);
  expect(status).toBe(200);
  return { company, browser, person, page, text, of: { company: company.slug } };
}

const journalOf = async ({ id }: Company) => {
  const { rows } = await server.service.database.pool.query(
    `select actor, door, operation, record_table, action from journal_entries
      where account_id = $1 and operation = 'account set' order by n`,
    [id],
  );
  return rows;
};
const picturesOf = async ({ id }: Company) =>
  (await server.service.database.pool.query('select from company_images where account_id = $1', [id])).rowCount;

/** Of each field, what is typed in it. */
const fieldsOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/<input id="(\w+)" name="\1"[^>]*? value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );

test('[DOC-03] an administrator changes the data, which the journal says once', async () => {
  const { company, browser, person, page, of } = await open();
  const sent = await browser.submit(PAGE, { ...of, ...DATA });
  expect(sent).toMatchObject({ status: 303, location: `${page}&done=data` });
  const shown = await browser.get(sent.location ?? '');
  expect(shown.text).toContain('Datos guardados');
  expect(fieldsOf(shown.text)).toMatchObject({ ...SAVED, direccion: 'Calle Mayor 1 &lt;bajo&gt;' });
  expect(await settingsOf(company)).toMatchObject({ ...SAVED, color: '', logo: null });

  expect((await browser.submit(PAGE, { ...of, ...DATA })).status).toBe(303);
  const change = { actor: `user:${person.id}`, door: 'pages', operation: 'account set' };
  expect(await journalOf(company)).toEqual([{ ...change, record_table: 'accounts', action: 'modify' }]);

  expect((await browser.submit(PAGE, of)).status).toBe(303);
  const { nombre } = (await company.get('/account')).body.data;
  expect(await settingsOf(company)).toMatchObject({ razon_social: nombre, cif: '', iban: '', email: '' });
});

test('[DOC-03] an administrator chooses the VAT scheme, which the example says', async () => {
  const { company, browser, page, of, text } = await open();
  const chosen = (shown: string) => /name="regimen_iva" value="(\w+)" checked/.exec(shown)?.[1];
  const example = async () => {
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    const answer = await fetch(`${server.url}${PAGE}/example.pdf?company=${company.slug}`, { headers: { cookie } });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return (await extractText(await getDocumentProxy(bytes), { mergePages: true })).text;
  };
  expect([chosen(text), await example()]).toEqual(['general', expect.not.stringContaining('criterio de caja')]);
  expect((await browser.submit(PAGE, { ...of, ...DATA, regimen_iva: 'caja' })).status).toBe(303);
  expect([chosen((await browser.get(page)).text), await example()]).toEqual([
    'caja',
    expect.stringContaining('Régimen especial del criterio de caja'),
  ]);
  expect((await settingsOf(company)).regimen_iva).toBe('caja');
  const wrong = await browser.submit(PAGE, { ...of, ...DATA, email: 'x', regimen_iva: 'general' });
  expect([wrong.status, chosen(wrong.text)]).toEqual([400, 'general']);
  expect((await settingsOf(company)).regimen_iva).toBe('caja');
  expect((await browser.submit(PAGE, { ...of, ...DATA, regimen_iva: 'general' })).status).toBe(303);
  expect((await settingsOf(company)).regimen_iva).toBe('general');
});

test('[DLV-02] an administrator changes the series of numbers, which go on after those that are there', async () => {
  const { company, browser, page, of, text } = await open();
  const usual = { serie_albaran: 'A', serie_factura: 'F', serie_rectificativa: 'R', serie_presupuesto: 'P' };
  expect(fieldsOf(text)).toMatchObject(usual);
  const lineas = [{ descripcion: 'Mesa', cantidad: 1, importe_unitario: 80 }];
  const invoice = (ref: string) => ({
    coleccion: 'facturas',
    ref,
    numero: ref,
    fecha: '2026-03-01',
    cliente: 'c',
    lineas,
  });
  await company.load([
    { coleccion: 'clientes', ref: 'c', id: 1, nombre_fiscal: 'Café Nilo' },
    ...['F2026-0003', 'FAC-2026-0007'].map(invoice),
  ]);
  const sale = { cliente: { id: 1 }, pedido: { obra: 'Sala' }, detalles: [{ ...lineas[0] }] };
  const numberOf = async () => {
    const { body } = await company.post('/invoices', sale);
    return (await company.get(`/invoices/${body.data}`)).body.data.numero;
  };
  expect(await numberOf()).toBe('F2026-0004');
  const series = { ...usual, serie_factura: 'fac-', serie_rectificativa: '' };
  expect((await browser.submit(PAGE, { ...of, ...DATA, ...series })).status).toBe(303);
  expect(fieldsOf((await browser.get(page)).text)).toMatchObject({ ...usual, serie_factura: 'FAC-' });
  expect((await settingsOf(company)).series).toMatchObject({ factura: 'FAC-', rectificativa: 'R' });
  expect(await numberOf()).toBe('FAC-2026-0008');
  for (const wrong of [{ serie_presupuesto: 'FAC-' }, { serie_presupuesto: 'P1' }, { serie_presupuesto: 'Ñ' }]) {
    const { status, text } = await browser.submit(PAGE, { ...of, ...DATA, ...usual, ...series, ...wrong });
    expect([status, text.match(/id="\w+-problem"/g)]).toEqual([400, ['id="serie_presupuesto-problem"']]);
    expect(fieldsOf(text)).toMatchObject({ ...series, ...wrong });
  }
  expect((await settingsOf(company)).series).toMatchObject({ factura: 'FAC-', presupuesto: 'P' });
});

test.each([
  ['cif', { cif: 'B12345678' }],
  ['cif', { cif: '12345678A', pais: '' }],
  ['email', { email: 'obras' }],
  ['iban', { iban: 'ES9221000418450200051332' }],
  ['direccion', { direccion: 'x'.repeat(301) }],
])(
  '[DOC-03] what is wrong is said at its field, what was typed stays, and nothing is changed: %s %j',
  async (name, wrong) => {
    const { company, browser, of } = await open();
    const before = await settingsOf(company);
    const typed = { ...DATA, direccion: 'Otra', ...wrong };
    const { status, text } = await browser.submit(PAGE, { ...of, ...typed });
    expect([status, text.match(/id="\w+-problem"/g)]).toEqual([400, [`id="${name}-problem"`]]);
    expect(text).toContain('<title>Error: ');
    expect(fieldsOf(text)).toMatchObject(typed);
    expect([await settingsOf(company), await journalOf(company)]).toEqual([before, []]);
  },
);

test('[DOC-03] everything that is wrong is said at once; the tax id of another country is its own', async () => {
  const { company, browser, of } = await open();
  const { text } = await browser.submit(PAGE, { ...of, ...DATA, cif: 'B1', email: 'x', iban: 'x' });
  expect(text.match(/id="\w+-problem"/g)).toEqual(['cif', 'email', 'iban'].map((name) => `id="${name}-problem"`));
  expect((await browser.submit(PAGE, { ...of, ...DATA, cif: '123456789', pais: 'Portugal' })).status).toBe(303);
  expect(await settingsOf(company)).toMatchObject({ cif: '123456789', pais: 'Portugal' });
});

test('[DOC-02] while invoices are registered, the company has a NIF; the page says what that means', async () => {
  const { company, browser, page, of, text } = await open();
  expect(text).toContain('Las facturas no se registran.');
  await server.service.database.transaction(company.id, { write: true }, (db) =>
    switchVerifactu(db, company.id, { mode: 'pruebas', sharesPeople: false, now: server.service.clock.now() }),
  );
  expect((await browser.get(page)).text).toContain('su PDF dice PRUEBAS');
  for (const wrong of [{ cif: '' }, { cif: '123456789', pais: 'Portugal' }]) {
    const sent = await browser.submit(PAGE, { ...of, ...DATA, ...wrong });
    expect([sent.status, sent.text.match(/id="\w+-problem"/g)]).toEqual([400, ['id="cif-problem"']]);
  }
  expect((await browser.submit(PAGE, { ...of, ...DATA })).status).toBe(303);
});

test('[DOC-03] members see the page and can change nothing, even with the form of an administrator', async () => {
  const { company, browser, of, text } = await open('member');
  await company.load([], { ...DATA });
  expect(text).toContain('Solo quien administra');
  expect(text).not.toContain('Guardar');
  expect(text.match(/<input id="\w+" name="\w+"(?![^>]*(readonly|disabled))/g)).toBeNull();
  expect(text.match(/<input type="radio"(?![^>]*disabled)/g)).toBeNull();
  const before = await settingsOf(company);
  const answers = [
    await browser.submit(PAGE, { ...of, cif: 'X' }),
    await browser.submit(PAGE, of),
    await browser.upload(LOOK, { ...of, color: '#ff0000' }, { logo: file(png()) }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect([await settingsOf(company), await picturesOf(company)]).toEqual([before, 0]);
});

test('[TEN-01] another company’s page and forms are not there; without a session one signs in first', async () => {
  const { browser } = await open();
  const other = await server.company();
  const of = { company: other.slug };
  const answers = [
    await browser.get(`${PAGE}?company=${other.slug}`),
    await browser.get(`${PAGE}/example.pdf?company=${other.slug}`),
    await browser.submit(PAGE, of),
    await browser.upload(LOOK, { ...of, color: '#ff0000' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  const stranger = openBrowser(server.url);
  await stranger.get('/signin');
  const sent = [
    await stranger.get(PAGE),
    await stranger.get(`${PAGE}/example.pdf`),
    await stranger.submit(PAGE, of),
    // More than a form may have: nothing of it is read.
    await stranger.upload(LOOK, of, { logo: file(Buffer.alloc(1_200_000)) }),
  ];
  expect(sent.map(({ status, location }) => [status, location?.split('?')[0]])).toEqual(
    Array(4).fill([303, '/signin']),
  );
});

test('a form without its token changes nothing', async () => {
  const { company, browser, of } = await open();
  const answers = [
    await browser.submit(PAGE, { ...of, ...DATA, csrf: 'x' }),
    await browser.upload(LOOK, { ...of, color: '#ff0000', csrf: 'x' }, { logo: file(png()) }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 403]);
  expect([await journalOf(company), await picturesOf(company)]).toEqual([[], 0]);
});

test('with several companies one is chosen', async () => {
  const [one, two] = [await server.company(), await server.company()];
  const { browser } = await signedIn(server, [{ accountId: one.id }, { accountId: two.id }]);
  expect(await browser.get(PAGE)).toMatchObject({ status: 303, location: '/companies' });
  expect((await browser.get(`${PAGE}?company=${two.slug}`)).text).toContain(two.slug);
});

test('[DOC-03] a logo and a colour are saved, shown and taken away', async () => {
  const { company, browser, page, of } = await open();
  const sent = await browser.upload(LOOK, { ...of, color: '#7C3AED' }, { logo: file(png()) });
  expect(sent).toMatchObject({ status: 303, location: `${page}&done=look` });
  const shown = await browser.get(sent.location ?? '');
  expect(shown.text).toContain(`src="data:image/png;base64,${png().toString('base64')}"`);
  expect(shown.headers.get('content-security-policy')).toContain('img-src data:');
  expect(fieldsOf(shown.text).color).toBe('#7c3aed');
  const settings = await settingsOf(company);
  expect(settings.color).toBe('#7c3aed');
  expect(await pictureAt(settings.logo)).toEqual(png());

  // Browsers send an empty file where none was chosen: the logo stays, unless it is to go.
  const none = { logo: file(Buffer.alloc(0), 'application/octet-stream') };
  expect((await browser.upload(LOOK, { ...of, color: '#1f4e79' }, none)).status).toBe(303);
  expect(await settingsOf(company)).toMatchObject({ logo: expect.any(String), color: '' });
  expect((await browser.upload(LOOK, { ...of, color: '#1f4e79' }, { logo: file(JPEG, 'text/plain') })).status).toBe(
    303,
  );
  expect(await pictureAt((await settingsOf(company)).logo)).toEqual(JPEG);
  expect((await browser.upload(LOOK, { ...of, color: '#1f4e79', remove: 'yes' }, none)).status).toBe(303);
  expect(await settingsOf(company)).toMatchObject({ logo: null, color: '' });
  expect(await picturesOf(company), 'documents may name them').toBe(2);
  expect(await journalOf(company)).toHaveLength(4);
});

const noise = png({ width: 300, height: 300, sample: (at, row) => (at * 7919 + row * 104_729 + at * at * row) % 256 });
test.each([
  ['an SVG with another name', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'), 'PNG o JPEG'],
  ['a broken picture', png().subarray(0, -20), 'PNG o JPEG'],
  ['a picture that is too large', Buffer.concat([noise, Buffer.alloc(200 * 1024)]), '200 kB'],
])('[DOC-03] %s is refused at its field, and nothing is half-written', async (_, bytes, complaint) => {
  const { company, browser, of } = await open();
  const { status, text } = await browser.upload(LOOK, { ...of, color: '#7c3aed' }, { logo: file(bytes) });
  expect([status, text.match(/id="\w+-problem"/g)]).toEqual([400, ['id="logo-problem"']]);
  expect(text).toContain(complaint);
  expect(fieldsOf(text).color).toBe('#7c3aed');
  expect(await settingsOf(company)).toMatchObject({ color: '', logo: null });
  expect([await picturesOf(company), await journalOf(company)]).toEqual([0, []]);
});

test('what is no colour, no form or far too large is refused', async () => {
  const { company, browser, of } = await open();
  const color = await browser.upload(LOOK, { ...of, color: 'red' }, { logo: file(png()) });
  expect([color.status, color.text.match(/id="\w+-problem"/g)]).toEqual([400, ['id="color-problem"']]);
  const large = await browser.upload(LOOK, { ...of, color: '#7c3aed' }, { logo: file(Buffer.alloc(1024 * 1024)) });
  expect(large.status).toBe(413);
  const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
  for (const type of ['multipart/form-data', 'multipart/form-data; boundary=x']) {
    const init = { method: 'POST', headers: { cookie, 'content-type': type }, body: 'no form' };
    expect((await server.request(LOOK, init)).status).toBe(400);
  }
  expect([await picturesOf(company), await journalOf(company)]).toEqual([0, []]);
});

test('the example is drawn with what is saved, for every member', async () => {
  const { company, browser, page } = await open('member');
  const logo = { tipo_mime: 'image/png', contenido: png().toString('base64') };
  await company.load([], { ...DATA, logo, color: '#7c3aed' });
  const { text: html } = await browser.get(page);
  const address = /href="([^"]*example\.pdf[^"]*)"/.exec(html)?.[1] ?? '';
  const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
  const answer = await fetch(server.url + address, { headers: { cookie } });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(bytes.toString('latin1').split('/Subtype /Image').length - 1).toBe(2);
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(bytes)), { mergePages: true });
  for (const part of ['Cuadra Obras, S.L.', 'EJEMPLO', 'PRUEBAS', '10/03/2026']) expect(text).toContain(part);
});

test('the page speaks English to whom prefers it', async () => {
  const { company, browser } = await open();
  const page = await browser.get(`${PAGE}?company=${company.slug}`, { 'accept-language': 'en' });
  expect(page.text).toContain('Save data');
});
