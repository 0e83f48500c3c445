// Registers of invoices for the tax agency: made with the invoice, chained, and read back.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { exportAccountFile } from '../../../account-file/export.ts';
import { exportOf } from '../../../documents/registers.ts';
import { recordsOf, verify } from '../../../documents/verifactu/verify.ts';
import { brokenRules } from '../../helpers/agency-rules.ts';
import { textIn } from '../../helpers/second-hash.ts';
import { registrable, switchOn, verifactu } from '../../helpers/verifactu.ts';
import { type Company, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-11-23T10:00:00Z');
const server = await startServer({ clock, verifactu });
afterAll(() => server.stop());

const clients = [
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'A28015865' },
  { coleccion: 'clientes', ref: 'paso', id: 2, nombre_fiscal: 'Cliente de paso' },
];
async function newCompany(mode: 'pruebas' | 'produccion' | null = 'produccion', more = {}) {
  const company = await server.company(clients, { cuenta: { ...registrable, ...more } });
  if (mode) await switchOn(server.service, company.id, mode);
  return company;
}
const sale = (more: { cliente?: number; importe?: number; iva?: number } = {}) => {
  const { cliente = 1, importe = 100, iva = 21 } = more;
  return {
    cliente: { id: cliente },
    pedido: { obra: 'Reforma' },
    detalles: [{ cantidad: 1, descripcion: 'Hora', importe_unitario: importe, iva }],
  };
};
async function created(company: Company, path: string, body: object): Promise<string> {
  const { status, body: answer } = await company.post(path, body);
  expect([status, answer.errorMsg]).toEqual([200, '']);
  return answer.data;
}
const invoice = (company: Company, more = {}) => created(company, '/invoices', sale(more));
const registersOf = async (company: Company, id: string) =>
  (await company.get(`/invoices/${id}/register`)).body.data.registros;
const xmlOf = async ({ xml }: { xml: string }) => (await fetch(xml)).text();
/** Every register of the company, checked as anyone can: by the export alone. */
async function verified(company: Company, format: 'ndjson' | 'xml' = 'ndjson') {
  const { lines } = exportOf(server.service.database, company.id, format);
  const text = (await Array.fromAsync(lines)).join('\n');
  return verify(recordsOf(Readable.from([text])));
}

describe('[DOC-02] where VeriFactu is on', () => {
  test('an invoice, its rectification and its annulment are registered, chained, as the agency takes them', async () => {
    const acme = await newCompany();
    const first = await invoice(acme);
    const second = await invoice(acme);
    const rectifying = await created(acme, `/invoices/${first}/rectify`, { motivo: 'Error' });
    await acme.post(`/invoices/${second}/annul`, { motivo: 'Duplicada' });

    const [alta] = await registersOf(acme, first);
    expect(alta).toEqual({
      tipo: 'alta',
      momento: '2026-11-23T11:00:00.000+01:00',
      huella: expect.stringMatching(/^[0-9A-F]{64}$/),
      huella_anterior: null,
      qr: expect.stringMatching(
        /^https:\/\/www2\.agenciatributaria\.gob\.es\/wlpl\/TIKE-CONT\/ValidarQR\?nif=B12345674&numserie=.*&fecha=23-11-2026&importe=121\.00$/,
      ),
      estado: 'no_enviado',
      errores: [],
      csv: null,
      xml: expect.stringContaining('/files/'),
    });
    const [next, annulment] = await registersOf(acme, second);
    const [rectified] = await registersOf(acme, rectifying);
    expect([next.huella_anterior, rectified.huella_anterior, annulment.huella_anterior]).toEqual([
      alta.huella,
      next.huella,
      rectified.huella,
    ]);
    expect(annulment).toMatchObject({ tipo: 'anulacion', qr: null });
    for (const register of [alta, next, rectified, annulment]) {
      expect(await brokenRules(await xmlOf(register), 'B12345674')).toEqual([]);
    }
    expect(textIn(await xmlOf(rectified), 'TipoFactura')).toBe('R1');
    expect(textIn(await xmlOf(rectified), 'ImporteTotal')).toBe('-121.00');
    for (const format of ['ndjson', 'xml'] as const) {
      expect(await verified(acme, format)).toMatchObject({ registros: 4, correctos: 4, continuaciones: [] });
    }
  });

  test('invoices that are issued at once stand one behind the other', async () => {
    const acme = await newCompany();
    const ids = await Promise.all(Array.from({ length: 12 }, () => invoice(acme)));
    expect(await verified(acme)).toMatchObject({ registros: 12, correctos: 12 });
    const numbers = (await acme.get('/invoices')).body.data.facturas.map(({ numero }: { numero: string }) => numero);
    expect(new Set(numbers).size).toBe(ids.length);
  });

  test('a second call with the key of the first makes no second register', async () => {
    const acme = await newCompany();
    const key = { 'x-idempotency-key': 'una-vez' };
    const [one, other] = await Promise.all([acme.post('/invoices', sale(), key), acme.post('/invoices', sale(), key)]);
    expect(one.body.data).toBe(other.body.data);
    expect(await registersOf(acme, one.body.data)).toHaveLength(1);
  });

  test('a clock that was set back does not bring the chain out of order', async () => {
    const acme = await newCompany();
    const before = await registersOf(acme, await invoice(acme));
    clock.advance({ minutes: -5 });
    const after = await registersOf(acme, await invoice(acme));
    clock.advance({ minutes: 5 });
    expect(after[0].momento).toBe(before[0].momento);
  });

  test('the PDF of an invoice has its code, and says PRUEBAS in the test mode; the same bytes once annulled', async () => {
    const { getDocumentProxy, extractText } = await import('unpdf');
    const textOf = async (company: Company, id: string) => {
      const { url, sha256 } = (await company.get(`/invoices/${id}/pdf`)).body.data;
      const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
      const { text } = await extractText(await getDocumentProxy(bytes), { mergePages: true });
      return { text, sha256 };
    };
    const acme = await newCompany();
    const id = await invoice(acme);
    const { text, sha256 } = await textOf(acme, id);
    expect(text).toContain('QR tributario:');
    expect(text).toContain('VERI*FACTU');
    expect(text).not.toContain('PRUEBAS');
    await acme.post(`/invoices/${id}/annul`, { motivo: 'Duplicada' });
    expect((await textOf(acme, id)).sha256).toBe(sha256);

    const trying = await newCompany('pruebas');
    const tried = await invoice(trying);
    expect((await textOf(trying, tried)).text).toContain('PRUEBAS');
    expect((await registersOf(trying, tried))[0].qr).toContain('https://prewww2.aeat.es/');

    const off = await newCompany(null);
    expect((await textOf(off, await invoice(off))).text).not.toContain('QR tributario');
  });

  test('400 for what the agency would refuse, which names the field; nothing is written, no number is lost', async () => {
    const acme = await newCompany();
    const refused = async (more: object) => {
      const { status, body } = await acme.post('/invoices', sale(more));
      return [status, body.data];
    };
    expect(await refused({ cliente: 2, importe: 3000 })).toEqual([
      400,
      [{ campo: 'total', mensaje: expect.stringContaining('3.000 EUR') }],
    ]);
    expect(await refused({ iva: 0 })).toEqual([
      400,
      [{ campo: 'exencion', mensaje: expect.stringContaining('E1 a E6') }],
    ]);
    expect(await refused({ iva: 8 })).toEqual([400, [{ campo: 'iva', mensaje: expect.stringContaining('21') }]]);
    const id = await invoice(acme, { cliente: 2, importe: 1000 });
    const [register] = await registersOf(acme, id);
    expect(textIn(await xmlOf(register), 'TipoFactura')).toBe('F2');
    expect((await acme.get(`/invoices/${id}`)).body.data.numero).toMatch(/1$/);
    expect(await verified(acme)).toMatchObject({ registros: 1, correctos: 1 });
  });

  test('an invoice from before is none of its: neither when it was issued nor when it is annulled', async () => {
    const acme = await newCompany(null);
    const before = await invoice(acme);
    expect(await registersOf(acme, before)).toEqual([]);
    await switchOn(server.service, acme.id);
    await acme.post(`/invoices/${before}/annul`, { motivo: 'Duplicada' });
    expect(await registersOf(acme, before)).toEqual([]);
  });

  test('a file does not annul an invoice that is registered', async () => {
    const acme = await newCompany();
    const id = await invoice(acme);
    const lines = (await Array.fromAsync(exportAccountFile(server.service.database, acme.id))).map((line) =>
      JSON.parse(line),
    );
    const issued = lines.find(({ coleccion }) => coleccion === 'facturas');
    const annulled = { ...issued, anulado_el: '2026-11-23 10:00:00', motivo_anulacion: 'Duplicada' };
    await expect(acme.load([annulled], registrable)).rejects.toThrow('un documento emitido no se cambia');
    await acme.load([issued], registrable);
    expect(await registersOf(acme, id)).toHaveLength(1);
    const off = await newCompany(null);
    await invoice(off);
    const free = (await Array.fromAsync(exportAccountFile(server.service.database, off.id)))
      .map((line) => JSON.parse(line))
      .find(({ coleccion }) => coleccion === 'facturas');
    await off.load([{ ...free, anulado_el: '2026-11-23 10:00:00', motivo_anulacion: 'Duplicada' }], registrable);
  });

  test('each mode has a chain of its own, of an installation that no other company has', async () => {
    const [acme, other] = [await newCompany('pruebas'), await newCompany('pruebas')];
    const installation = async (company: Company) => {
      const [register] = await registersOf(company, await invoice(company));
      return [textIn(await xmlOf(register), 'NumeroInstalacion'), register.huella_anterior];
    };
    const [trying] = await installation(acme);
    await switchOn(server.service, acme.id, 'produccion');
    const [real, before] = await installation(acme);
    expect(before).toBeNull();
    expect(new Set([trying, real, (await installation(other))[0]]).size).toBe(3);
    await switchOn(server.service, acme.id, 'pruebas');
    expect(await installation(acme)).toEqual([trying, expect.stringMatching(/^[0-9A-F]{64}$/)]);
    expect(await verified(acme)).toMatchObject({ registros: 3, correctos: 3 });
  });

  test('an invoice is of the VAT scheme of its day, a rectifying one of that of its original, whatever comes later', async () => {
    const acme = await newCompany('produccion', { regimen_iva: 'caja' });
    const schemeOf = async (id: string) => {
      const [{ xml }] = await registersOf(acme, id);
      const { rows } = await server.service.database.pool.query<{ content: string }>(
        `select content from seals where account_id = $1 and record_table = 'invoices' and action = 'issue'
          and content::jsonb ->> 'numero' = $2`,
        [acme.id, (await acme.get(`/invoices/${id}`)).body.data.numero],
      );
      const sealed: unknown = JSON.parse(rows[0]?.content ?? '').emisor.regimen_iva;
      return [textIn(await xmlOf({ xml }), 'ClaveRegimen'), sealed];
    };
    const rectify = (id: string) => created(acme, `/invoices/${id}/rectify`, { motivo: 'Error' });
    const [cash, simplified] = [await invoice(acme), await invoice(acme, { cliente: 2 })];
    await acme.load([], { ...registrable, regimen_iva: 'general' });
    const general = await invoice(acme);
    const ofCash = [cash, simplified, await rectify(cash), await rectify(simplified)];
    await acme.load([], { ...registrable, regimen_iva: 'caja' });
    const ofGeneral = [general, await rectify(general)];
    for (const id of ofCash) expect(await schemeOf(id)).toEqual(['07', 'caja']);
    for (const id of ofGeneral) expect(await schemeOf(id)).toEqual(['01', undefined]);
    expect(await verified(acme)).toMatchObject({ registros: 6, correctos: 6 });
    expect((await acme.get('/documents/verify')).body.data).toMatchObject({ fallos: [] });
  });

  test('obtenerDatosFiscales says so', async () => {
    const acme = await newCompany();
    await invoice(acme);
    expect((await acme.get('/fiscal-settings')).body.data).toMatchObject({
      verifactu: { activo: true, modo: 'produccion', pendientes: 1 },
      declaracion_responsable: 'https://albaran.example/declaracion',
    });
    await switchOn(server.service, acme.id, null);
    await invoice(acme);
    expect((await acme.get('/fiscal-settings')).body.data.verifactu).toEqual({
      activo: false,
      modo: null,
      pendientes: 1,
    });
  });

  test('a register can’t be changed by the service’s own role', async () => {
    const acme = await newCompany();
    await invoice(acme);
    for (const statement of ['update invoice_registers set xml = xml', 'delete from invoice_registers']) {
      await expect(
        server.service.database.transaction(acme.id, { write: true }, (db) => sql.raw(statement).execute(db)),
      ).rejects.toThrow('permission denied');
    }
  });
});

test('[DOC-02] 503 where the operator’s settings are gone, and nothing is written', async () => {
  await using without = await startServer({ clock });
  const acme = await without.company(clients, { cuenta: registrable });
  await switchOn(without.service, acme.id);
  expect((await acme.post('/invoices', sale())).status).toBe(503);
  expect((await acme.get('/invoices')).body.data.facturas).toEqual([]);
});

test('[DOC-02] obtenerRegistroFactura: 401, 400, 404 of another company', async () => {
  const [acme, other] = [await newCompany(), await newCompany()];
  const id = await invoice(acme);
  expect((await server.request(`/api/v1/invoices/${id}/register`)).status).toBe(401);
  expect((await other.get(`/invoices/${id}/register`)).status).toBe(404);
  expect((await acme.get('/invoices/x/register')).status).toBe(404);
  expect((await acme.alias('obtenerRegistroFactura', {})).status).toBe(400);
  expect((await acme.alias('obtenerRegistroFactura', { facturaId: id })).body.data.registros).toHaveLength(1);
});

test('[DOC-01] [DOC-02] a register that was changed by SQL is named, and so is a chain without its end', async () => {
  const change = async (statement: string) => {
    const acme = await newCompany();
    const ids = [await invoice(acme), await invoice(acme)];
    const number = async (id = '') => (await acme.get(`/invoices/${id}`)).body.data.numero;
    const numbers = [await number(ids[0]), await number(ids[1])];
    const found = async () => (await acme.get('/documents/verify', { tipo: 'factura' })).body.data;
    const before = await found();
    expect([before.correctos, before.fallos, before.registros_facturacion.registros]).toEqual([2, [], 2]);
    for (const format of ['ndjson', 'xml']) {
      const response = await fetch(before.registros_facturacion[format]);
      const text = await response.text();
      expect(await verify(recordsOf(Readable.from([text])))).toMatchObject({ registros: 2, correctos: 2 });
    }
    const { pool } = server.service.database;
    await pool.query(`begin; select set_config('app.account_id', '${acme.id}', true); ${statement}; commit`);
    const { fallos } = await found();
    return fallos.map(({ numero, motivo }: { numero: string; motivo: string }) => [
      numero === '' ? '' : numbers.indexOf(numero),
      motivo,
    ]);
  };
  const notAsMade = 'su registro de facturación no es el que se hizo';
  const first = `where n = 1 and account_id = current_setting('app.account_id')::bigint`;
  const last = first.replace('1', '2');
  expect(await change(`update invoice_registers set xml = replace(xml, '121.00', '12.00') ${first}`)).toEqual([
    [0, notAsMade],
  ]);
  expect(await change(`update invoice_registers set hash = repeat('A', 64) ${last}`)).toEqual([[1, notAsMade]]);
  expect(await change(`update invoice_registers set number = 'otro' ${last}`)).toEqual([[1, notAsMade]]);
  expect(await change(`delete from invoice_registers ${last}`)).toEqual([
    ['', 'la cadena de registros de facturación no llega a su último'],
  ]);
});
