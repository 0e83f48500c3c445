import { createHash } from 'node:crypto';
import { XmlDocument } from 'libxml2-wasm';
import { afterAll, describe, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-03-10T10:00:00Z');
const server = await startServer({ clock });
afterAll(() => server.stop());

const lineas = [{ descripcion: 'Silla', cantidad: 2, importe_unitario: 50 }];
const records: FileRecord[] = [
  {
    coleccion: 'clientes',
    ref: 'nilo',
    id: 1,
    nombre_fiscal: 'Café Nilo & Hijos',
    cif: 'B12345674',
    direccion: 'Calle Ancha, 2',
    cp: '11001',
    poblacion: 'Cádiz',
  },
  { coleccion: 'clientes', ref: 'nadie', id: 2, nombre_fiscal: 'Nadie' },
  { coleccion: 'facturas', ref: 'f', id: 43, numero: 'F/1', fecha: '2026-03-01', cliente: 'nilo', lineas },
  { coleccion: 'facturas', ref: 'g', id: 44, numero: 'F/2', fecha: '2026-03-01', cliente: 'nadie', lineas },
  { coleccion: 'albaranes', ref: 'a', id: 45, numero: 'A1', fecha: '2026-03-01', cliente: 'nilo', lineas },
];
const cuenta = {
  razon_social: 'Cuadra Obras, S.L.',
  cif: 'A58818501',
  direccion: 'Calle Mayor, 1',
  cp: '46001',
  poblacion: 'Valencia',
  provincia: 'Valencia',
};
const newCompany = () => server.company(records, { cuenta });

const FORMATS = [
  {
    format: 'facturae',
    alias: 'descargarFacturae',
    root: 'Facturae',
    // The issuer, the client, its province by its postal code, the number, and the total.
    said: {
      "//*[local-name()='SellerParty']//*[local-name()='CorporateName']": 'Cuadra Obras, S.L.',
      "//*[local-name()='BuyerParty']//*[local-name()='CorporateName']": 'Café Nilo & Hijos',
      "//*[local-name()='BuyerParty']//*[local-name()='Province']": 'Cádiz',
      '//InvoiceNumber': 'F/1',
      '//InvoiceTotal': '121.00',
    },
    lacks: {
      client: ['cliente.cif', 'cliente.cp', 'cliente.direccion', 'cliente.poblacion', 'cliente.provincia'],
      both: ['cif', 'cp', 'direccion', 'poblacion', 'provincia'].map((field) => `emisor.${field}`),
    },
    rectifying: { root: 'Facturae', '//CorrectionMethod': '02', '//Corrective/InvoiceNumber': 'F/1' },
  },
  {
    format: 'ubl',
    alias: 'descargarUbl',
    root: 'Invoice',
    said: {
      "//*[local-name()='AccountingSupplierParty']//*[local-name()='RegistrationName']": 'Cuadra Obras, S.L.',
      "//*[local-name()='AccountingCustomerParty']//*[local-name()='RegistrationName']": 'Café Nilo & Hijos',
      "//*[local-name()='AccountingCustomerParty']//*[local-name()='CountrySubentity']": 'Cádiz',
      "/*/*[local-name()='ID']": 'F/1',
      "//*[local-name()='PayableAmount']": '121.00',
    },
    // A client may lack anything but a name.
    lacks: { client: [], both: ['emisor.cif'] },
    rectifying: {
      root: 'CreditNote',
      "//*[local-name()='CreditNoteTypeCode']": '381',
      "//*[local-name()='BillingReference']//*[local-name()='ID']": 'F/1',
    },
  },
] as const;
const XML = { Accept: 'application/xml' };

const fileOf = async (company: Company, path: string, more: Record<string, string> = XML, init: RequestInit = {}) =>
  fetch(`${server.url}/api/v1${path}`, { ...init, headers: { ...company.headers, ...more } });
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

/** What the XML says, by the XPaths of `expected`; `root` is the name of its first element. */
function saidBy(xml: Buffer, expected: object): Record<string, string> {
  using document = XmlDocument.fromBuffer(xml);
  const texts = Object.keys(expected).map((path) => [
    path,
    path === 'root'
      ? document.root.name
      : document
          .find(path)
          .map(({ content }) => content)
          .join(),
  ]);
  return Object.fromEntries(texts);
}

describe.each(FORMATS)('[DOC-04] $alias', ({ format, alias, root, said, lacks, rectifying }) => {
  const path = `/invoices/43/${format}`;

  test('200: what the file is, a link that opens it without a key, and the XML itself where it is asked for', async () => {
    const acme = await newCompany();
    const { status, body, headers } = await acme.get(path);
    expect([status, headers.get('vary')]).toEqual([200, expect.stringContaining('Accept')]);
    expect(body.data).toEqual({
      url: expect.stringContaining(`${server.url}/files/`),
      nombre: `Factura F-1.${format}.xml`,
      tipo_mime: 'application/xml',
      tamano: expect.any(Number),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const linked = await fetch(body.data.url);
    const bytes = await bytesOf(linked);
    expect([linked.status, linked.headers.get('content-type')]).toEqual([200, 'application/xml']);
    expect([bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([
      body.data.tamano,
      body.data.sha256,
    ]);
    expect(saidBy(bytes, { root, ...said })).toEqual({ root, ...said });

    const itself = await fileOf(acme, path);
    expect(Object.fromEntries(itself.headers)).toMatchObject({
      'content-type': 'application/xml',
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(body.data.nombre)}`,
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
    });
    expect((await bytesOf(itself)).equals(bytes)).toBe(true);
    const pdf = await fileOf(acme, path, { Accept: 'application/pdf' });
    expect(pdf.headers.get('content-type')).toContain('json');

    const v0 = await acme.alias(alias, { facturaId: 43 });
    expect(v0.body.data).toEqual({ ...body.data, url: expect.any(String) });
    const v0Itself = await acme.alias(alias, { facturaId: 43 }, XML);
    expect(v0Itself.text).toBe(bytes.toString());
  });

  test('400 names at once all that the client and the company lacked, whatever is asked for and whatever they say later', async () => {
    const without = await server.company(records);
    const fields = async (company: Company, Accept: string) => {
      const { status, body } = await company.get(`/invoices/44/${format}`, {}, { Accept });
      return [status, status === 400 ? body.data.map(({ campo }: { campo: string }) => campo).toSorted() : []];
    };
    const both = [400, [...lacks.client, ...lacks.both].toSorted()];
    for (const accept of ['*/*', 'application/xml']) expect(await fields(without, accept)).toEqual(both);
    await without.load([], cuenta);
    expect(await fields(without, '*/*')).toEqual(both);

    const acme = await newCompany();
    expect(await fields(acme, '*/*')).toEqual([lacks.client.length > 0 ? 400 : 200, lacks.client]);
  });

  test('401, 404 of another company, of none and of what is no invoice: as JSON', async () => {
    const [acme, other] = [await newCompany(), await server.company([])];
    const unknown = await fileOf(acme, path, { ...XML, 'x-api-secret': 'no' });
    expect([unknown.status, unknown.headers.get('content-type')]).toEqual([401, expect.stringContaining('json')]);
    const { facturaId } = (await acme.get('/invoices/43')).body.data;
    for (const [company, id] of [
      [other, 43],
      [other, facturaId],
      [acme, 45],
      [acme, 999],
      [acme, 'x'],
    ] as const) {
      const { status, body } = await company.get(`/invoices/${id}/${format}`, {}, XML);
      expect([id, status, body?.errorCode]).toEqual([id, 404, 404]);
    }
  });

  test('a rectifying invoice says what it rectifies', async () => {
    const acme = await newCompany();
    const { body } = await acme.post('/invoices/43/rectify', { motivo: 'Sillas rotas' });
    const xml = await bytesOf(await fileOf(acme, `/invoices/${body.data}/${format}`));
    expect(saidBy(xml, rectifying)).toEqual(rectifying);
  });

  test('it says what was sealed, whatever the client and the company are called later', async () => {
    const acme = await newCompany();
    const before = await acme.get(path);
    expect((await acme.put('/clients/1', { datos: { nombre_fiscal: 'Otro', poblacion: 'Jerez' } })).status).toBe(200);
    await acme.load([], { ...cuenta, razon_social: 'Otra, S.L.' });
    expect((await acme.get(path)).body.data.sha256).toBe(before.body.data.sha256);
  });
});
