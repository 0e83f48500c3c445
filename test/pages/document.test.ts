// What a link to a document shows, over HTTP. Making links: test/operations/sales/document-links.test.ts.
import { afterAll, describe, expect, test } from 'vitest';
import { anonymiseRecord, personalRecord } from '../../lifecycle/anonymise.ts';
import { registrable, switchOn, verifactu } from '../helpers/verifactu.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../helpers/world.ts';

const NOW = '2026-03-10T10:00:00Z';
const clock = new TestClock(NOW);
const server = await startServer({ clock, verifactu });
afterAll(() => server.stop());

const client: FileRecord = {
  ...{ coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo, S.L.', cif: 'B12345674' },
  ...{ email: 'compras@nilo.example', direccion: 'Calle Larga, 3', cp: '11001', poblacion: 'Cádiz' },
};
const records = [client];
const cuenta = {
  ...{ razon_social: 'Muebles Ría, S.L.', cif: 'B87654321', direccion: 'Plaza Nueva, 1', cp: '36001' },
  ...{ poblacion: 'Pontevedra', email: 'hola@ria.example', iban: 'ES9121000418450200051332' },
};
const sale = {
  cliente: { id: 1 },
  pedido: { obra: 'Comedor', detalles_operacion: '<p>Entrega en <b>planta baja</b></p><ul><li>Con cita</li></ul>' },
  detalles: [
    { cantidad: 2, descripcion: 'Mesa', descripcion_ampliada: 'De roble\ny tres hojas', importe_unitario: 412.5 },
    { cantidad: 1.5, descripcion: 'Montaje', importe_unitario: 40, iva: 10, descuento: 5 },
  ],
};

const company = () => server.company(records, { cuenta });

/** An invoice of a company and a link to it. */
async function linked(acme: Company, kind: 'factura' | 'albaran' | 'presupuesto' = 'factura', body: object = sale) {
  const path = { factura: '/invoices', albaran: '/delivery-notes', presupuesto: '/estimates' }[kind];
  const id: string = (await acme.post(path, body)).body.data;
  const { url, enlaceId } = (await acme.post(`/documents/${kind}/${id}/link`, {})).body.data;
  return { id, path: `${path}/${id}`, links: `/documents/${kind}/${id}/links`, enlaceId, url };
}

async function open(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, words: wordsOf(text) };
}

/** What one reads of a page. */
const wordsOf = (text: string) =>
  (/<main[\s\S]*<\/main>/.exec(text)?.[0] ?? '')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();

const anonymise = (acme: Company, id: number) =>
  server.service.database.transaction(acme.id, { write: true }, async (db) => {
    const record = (await personalRecord(db, acme.id, 'client', id)) ?? {};
    const origin = {
      actor: 'command',
      door: 'command',
      requestId: 'anonymise',
      operation: 'person anonymise',
    } as const;
    await anonymiseRecord(db, acme.id, { kind: 'client', id, record }, { ...origin, now: clock.now() });
  });

const opensOf = async (acme: Company, links: string) =>
  (await acme.get(links)).body.data.enlaces.map(({ aperturas }: { aperturas: number }) => aperturas);

describe('[DOC-03] the page of a link', () => {
  test('shows the document as it was sealed, whoever asks, without cookies', async () => {
    const acme = await company();
    const { url } = await linked(acme);
    const { status, headers, text, words } = await open(url, { headers: { 'accept-language': 'en' } });
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-language': 'es',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      'x-robots-tag': 'noindex, nofollow',
      'referrer-policy': 'no-referrer',
      'cache-control': 'private, no-store',
    });
    expect(headers.getSetCookie()).toEqual([]);
    expect(text).toContain('<html lang="es">');
    expect(text).toMatch(/<title>Factura F2026-0001 · Muebles Ría, S.L.<\/title>/);
    expect(words).toBe(
      [
        'Factura F2026-0001 Fecha 10/03/2026 Vencimiento 10/03/2026 Concepto Comedor Total a pagar 1.060,95 € Descargar PDF',
        'De Muebles Ría, S.L. NIF B87654321 Plaza Nueva, 1 36001 Pontevedra hola@ria.example',
        'Para Café Nilo, S.L. NIF B12345674 Calle Larga, 3 11001 Cádiz compras@nilo.example',
        'Descripción Cantidad Precio Dto. IVA Importe',
        'Mesa De roble y tres hojas 2 412,50 € 21 % 825,00 € Montaje 1,5 40,00 € 5 % 10 % 57,00 €',
        'Tipo de IVA Base Cuota 21 % 825,00 € 173,25 € 10 % 57,00 € 5,70 €',
        'Base imponible 882,00 € IVA 178,95 € Total a pagar 1.060,95 €',
        'Pago Cuenta (IBAN) ES91 2100 0418 4502 0005 1332 Vence el 10/03/2026 1.060,95 €',
        'Observaciones Entrega en planta baja • Con cita',
      ].join(' '),
    );
    expect(text).toContain('<strong>planta baja</strong>');
  });

  test('stays the same when the company or the client is renamed later', async () => {
    const acme = await company();
    const { url } = await linked(acme, 'presupuesto', { ...sale, valido_hasta: '2026-04-30' });
    const { words } = await open(url);
    expect(words).toContain('Presupuesto P2026-0001 Fecha 10/03/2026 Válido hasta 30/04/2026');
    expect(words).not.toContain('Pago');
    await acme.put('/clients/1', { datos: { nombre_fiscal: 'Otro' } });
    await server.service.database.pool.query(`update accounts set legal_name = 'Otra' where id = $1`, [acme.id]);
    expect((await open(url)).words).toBe(words);
  });

  test('says that the document was annulled, or rectified and with which invoice', async () => {
    const acme = await company();
    const [note, invoice, original] = [await linked(acme, 'albaran'), await linked(acme), await linked(acme)];
    for (const { url } of [note, invoice, original]) expect((await open(url)).text).not.toContain('class="notice');
    await acme.post(`${note.path}/annul`, { motivo: 'Se dijo mal' });
    await acme.post(`${invoice.path}/annul`, { motivo: 'Se dijo mal' });
    for (const { url } of [note, invoice]) {
      const { status, words } = await open(url);
      expect([status, words]).toEqual([200, expect.stringMatching(/^Este documento se anuló el 10\/03\/2026/)]);
      expect(words).not.toContain('Se dijo mal');
    }
    const rectified = { motivo: 'Precio mal', compensar: false };
    const rectifying = (await acme.post(`${original.path}/rectify`, rectified)).body.data;
    expect((await open(original.url)).words).toMatch(
      /^Esta factura se rectificó con la factura R2026-0001 de 10\/03\/2026/,
    );
    const { url } = (await acme.post(`/documents/factura/${rectifying}/link`, {})).body.data;
    expect((await open(url)).words).toContain(
      'Rectifica por diferencias la factura F2026-0002 de 10/03/2026. Motivo: Precio mal',
    );
    expect((await acme.post(`/invoices/${rectifying}/annul`, { motivo: 'No era' })).status).toBe(200);
    expect((await open(original.url)).text).not.toContain('class="notice');
  });

  test('says that an invoice is of the cash scheme, and goes on saying it once the company has left it', async () => {
    const acme = await server.company(records, { cuenta: { ...cuenta, regimen_iva: 'caja' } });
    const words = 'Régimen especial del criterio de caja.';
    const [invoice, note] = [await linked(acme), await linked(acme, 'albaran')];
    await acme.load([], { ...cuenta, regimen_iva: 'general' });
    const later = await linked(acme);
    expect((await open(invoice.url)).words).toContain(words);
    for (const { url } of [note, later]) expect((await open(url)).words).not.toContain(words);
    await anonymise(acme, 1);
    const { words: anonymised } = await open(invoice.url);
    expect(anonymised).not.toContain('Café Nilo');
    expect(anonymised).toContain(words);
    expect((await open(later.url)).words).not.toContain(words);
    expect((await acme.get('/documents/verify')).body.data).toMatchObject({ fallos: [] });
  });

  test.each(['produccion', 'pruebas'] as const)('[DOC-02] shows the code of a registered invoice: %s', async (mode) => {
    const acme = await server.company([{ ...client, cif: 'A28015865' }], { cuenta: registrable });
    const before = await linked(acme);
    await switchOn(server.service, acme.id, mode);
    const { url, path } = await linked(acme);
    const { text, words } = await open(url);
    expect(words).toContain('QR tributario VERI*FACTU');
    const [{ qr }] = (await acme.get(`${path}/register`)).body.data.registros;
    expect(text).toContain(`href="${qr.replaceAll('&', '&amp;')}"`);
    expect(words.startsWith('Documento de pruebas')).toBe(mode === 'pruebas');
    expect((await open(before.url)).words).not.toContain('QR');
  });

  test('no text of a document becomes markup', async () => {
    const acme = await company();
    const attack = `<script>alert(1)</script><img src=x onerror="alert(2)">'"&`;
    const { url } = await linked(acme, 'factura', {
      cliente: { nombre_fiscal: attack, cif: 'A58818501', direccion: attack, email: 'a@b.example' },
      pedido: {
        obra: attack,
        promo_code: attack,
        detalles_operacion: `<a href="javascript:alert(3)">Ver</a>${attack}`,
      },
      detalles: [{ cantidad: 1, descripcion: attack, descripcion_ampliada: attack, importe_unitario: 1 }],
    });
    const { text, words } = await open(url);
    expect(text).not.toMatch(/<script|<img|onerror="|javascript:|style=/i);
    expect(words).toContain(attack);
    expect(words).toMatch(/Observaciones Ver'"&$/);
  });

  test('its PDF is the one that the company gets, as a file', async () => {
    const acme = await company();
    const { url, path, links } = await linked(acme);
    const { text } = await open(url);
    const [, at = ''] = /class="button" href="([^"]+)"/.exec(text) ?? [];
    const response = await fetch(new URL(at, url));
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': "attachment; filename*=UTF-8''Factura%20F2026-0001.pdf",
      'content-security-policy': "default-src 'none'; sandbox",
      'x-robots-tag': 'noindex, nofollow',
      'referrer-policy': 'no-referrer',
      'cache-control': 'private, no-store',
    });
    const own = await fetch(`${server.url}/api/v1${path}/pdf`, {
      headers: { ...acme.headers, accept: 'application/pdf' },
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(await own.arrayBuffer()))).toBe(true);
    await expect.poll(() => opensOf(acme, links)).toEqual([1]);
  });
});

describe('[DOC-03] a link that shows nothing', () => {
  test('is one page: unknown, of another company, ended, revoked, malformed, and its PDF', async () => {
    const [acme, other] = [await company(), await company()];
    const [revoked, ended] = [await linked(acme), await linked(acme)];
    await acme.delete(`${revoked.links}/${revoked.enlaceId}`);
    clock.advance({ hours: 24 * 30 });
    try {
      const secret = ended.url.slice(-43);
      const none = [
        ...[ended.url, revoked.url, `${revoked.url}/pdf`, `${server.url}/d/${other.id}_${secret}`],
        ...[`${server.url}/d/999999999999999_${secret}`, `${ended.url.slice(0, -1)}`, `${server.url}/d/x`],
        `${server.url}/d/0_${secret}`,
      ];
      const answers = await Promise.all(none.map((url) => open(url)));
      const [first] = answers;
      expect([first?.status, first?.words]).toEqual([404, expect.stringMatching(/^Este enlace no está disponible/)]);
      for (const { status, text, headers } of answers) {
        expect([status, text, headers.get('x-robots-tag')]).toEqual([404, first?.text, 'noindex, nofollow']);
        expect(headers.getSetCookie()).toEqual([]);
      }
    } finally {
      clock.set(NOW);
    }
    expect((await open(ended.url)).status).toBe(200);
  });

  test('other methods are a 405, HEAD is answered as GET', async () => {
    const { url } = await linked(await company());
    const posted = await open(url, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const head = await open(url, { method: 'HEAD' });
    expect([head.status, head.text, head.headers.get('x-robots-tag')]).toEqual([200, '', 'noindex, nofollow']);
  });
});

test('[DOC-03] each load of the page counts once, when it was asked for; HEAD and the PDF count nothing', async () => {
  const acme = await company();
  const { url, links } = await linked(acme);
  await open(url, { method: 'HEAD' });
  await open(`${url}/pdf`);
  expect(await opensOf(acme, links)).toEqual([0]);
  const loads = 25;
  for (const { status } of await Promise.all(Array.from({ length: loads }, () => open(url)))) expect(status).toBe(200);
  await expect.poll(() => opensOf(acme, links)).toEqual([loads]);
  clock.advance({ hours: 5 });
  try {
    await open(url);
    await expect
      .poll(async () => (await acme.get(links)).body.data.enlaces)
      .toMatchObject([
        {
          aperturas: loads + 1,
          primera_apertura: '2026-03-10T11:00:00.000+01:00',
          ultima_apertura: '2026-03-10T16:00:00.000+01:00',
        },
      ]);
  } finally {
    clock.set(NOW);
  }
});

test('[DOC-03] a person that is removed is on the page no more', async () => {
  const acme = await server.company(
    [{ coleccion: 'clientes', ref: 'eva', id: 7, nombre_fiscal: 'Eva Zurbarán Gil', email: 'eva@zurbaran.example' }],
    { cuenta },
  );
  const { url } = await linked(acme, 'presupuesto', { ...sale, cliente: { id: 7 } });
  expect((await open(url)).words).toContain('Eva Zurbarán Gil');
  await anonymise(acme, 7);
  const { status, text } = await open(url);
  expect(status).toBe(200);
  expect(text).not.toMatch(/Zurbar/i);
});

test('[FAIR-04] whoever hammers a link, alive or not, is refused after so many in a minute, and others are served', async () => {
  const own = new TestClock(NOW);
  await using hammered = await startServer({ alone: true, clock: own, trustProxy: true, anonymousPerMinute: 4 });
  const acme = await hammered.company(records, { cuenta });
  const id: string = (await acme.post('/invoices', sale)).body.data;
  const { url } = (await acme.post(`/documents/factura/${id}/link`, {})).body.data;
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  for (const at of [url, `${url}/pdf`, `${hammered.url}/d/x`, url]) {
    expect((await open(at, from('2001:db8:7:7::1'))).status).not.toBe(429);
  }
  for (const at of [url, `${url}/pdf`, `${hammered.url}/d/x`]) {
    const { status, headers, words } = await open(at, from('2001:db8:7:7:ffff::2'));
    expect([status, headers.get('retry-after'), words]).toEqual([429, '60', expect.stringContaining('Demasiadas')]);
  }
  expect((await open(url, from('192.0.2.9'))).status).toBe(200);
  own.advance({ minutes: 1 });
  expect((await open(url, from('2001:db8:7:7::1'))).status).toBe(200);
});

test('[FAIR-02] the PDFs of one link are made a few at a time', async () => {
  const acme = await company();
  const { url } = await linked(acme);
  const answers = await Promise.all(Array.from({ length: 12 }, () => open(`${url}/pdf`)));
  const statuses = answers.map(({ status }) => status);
  expect(statuses).toContain(200);
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  expect((await open(`${url}/pdf`)).status).toBe(200);
});
