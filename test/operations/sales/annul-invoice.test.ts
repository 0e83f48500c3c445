import { afterAll, expect, test } from 'vitest';
import { ROLLUPS } from '../../../figures/figures.ts';
import { differences } from '../../../figures/rollups.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

// 10 March in Madrid.
const clock = new TestClock('2026-03-09T23:30:00Z');
const server = await startServer({ clock });
const { database } = server.service;
afterAll(() => server.stop());

const motivo = 'Emitida por error';
const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'B12345674' },
  { coleccion: 'proyectos', ref: 'nave', id: 21, numero: '1', descripcion: 'Nave' },
  { coleccion: 'proyectos', ref: 'patio', id: 22, numero: '2', descripcion: 'Patio' },
  {
    coleccion: 'articulos',
    ref: 'cable',
    id: 11,
    descripcion: 'Cable',
    stock: 50,
    variaciones: [{ ref: 'rojo', id: 71, descripcion: 'Rojo' }],
    formatos: [{ ref: 'bobina', id: 74, titulo: 'Bobina', factor: 25, peso_variable: true }],
  },
  { coleccion: 'articulos', ref: 'andamio', id: 12, descripcion: 'Andamio', modo: 'alquiler', stock: 4 },
];
const newCompany = (more: FileRecord[] = []) =>
  server.company([...records, ...more], { cuenta: { stock_multiformato: true } });
const sold = [
  { cantidad: 2, articulo_fk: 11, importe_unitario: 3, variacion_articulo_fk: 71 },
  { cantidad: 1, articulo_fk: 11, importe_unitario: 60, formatoId: 74, cantidad_base_real: 24.5, proyectoId: 22 },
  { cantidad: 3, articulo_fk: 12, importe_unitario: 10, startDate: '2026-03-10', endDate: '2026-03-12' },
];
const sale = (detalles: object[] = sold) => ({
  cliente: { id: 1 },
  pedido: { obra: 'Obra', proyectoId: 21 },
  detalles,
});
const hours = (cantidad: number) => [{ cantidad, descripcion: 'Hora', importe_unitario: 10, iva: 0 }];
async function created(company: Company, path: string, body: object): Promise<string> {
  const { status, body: answer } = await company.post(path, body);
  expect([status, answer.errorMsg]).toEqual([200, '']);
  return answer.data;
}
const invoice = (company: Company, detalles?: object[]) => created(company, '/invoices', sale(detalles));
const deliver = (company: Company, detalles?: object[]) => created(company, '/delivery-notes', sale(detalles));
const rectified = (company: Company, facturaId: string, body: object = {}) =>
  created(company, `/invoices/${facturaId}/rectify`, { motivo, compensar: false, ...body });
const annul = (company: Company, facturaId: unknown, body: object = { motivo }) =>
  company.post(`/invoices/${facturaId}/annul`, body);
async function annulled(company: Company, facturaId: string) {
  const { status, body } = await annul(company, facturaId);
  expect([status, body.errorMsg]).toEqual([200, '']);
}
const refused = async (company: Company, facturaId: string) => {
  const { status, body } = await annul(company, facturaId);
  expect([status, body.data]).toEqual([400, [{ campo: 'facturaId', mensaje: expect.any(String) }]]);
  return body.data[0].mensaje;
};
const data = async (company: Company, path: string, query: object = {}) =>
  (await company.get(path, { ...query })).body.data;
const firstDue = async (company: Company, facturaId: string): Promise<string> =>
  (await data(company, `/invoices/${facturaId}`)).vencimientos[0].vencimientoId;

/** Everything that counts invoices, as the operations show it. */
async function counted(company: Company) {
  const year = { fecha_inicio: '2026-01-01', fecha_fin: '2026-12-31' };
  const [report, results, projects, dated, available, products, due, forecast, invoices, notes] = await Promise.all([
    data(company, '/reports/sales', { ...year, agrupar: 'articulo' }),
    data(company, '/reports/results', { ...year, agrupar: 'proyecto' }),
    data(company, '/projects'),
    data(company, '/projects', year),
    data(company, '/products/12/availability', { fecha_inicio: '2026-03-10', fecha_fin: '2026-03-13' }),
    data(company, '/products'),
    data(company, '/treasury/due-dates'),
    data(company, '/treasury/forecast', year),
    data(company, '/invoices'),
    data(company, '/delivery-notes', { facturado: false }),
  ]);
  const kept = await database.transaction(company.id, {}, (db) =>
    Promise.all(ROLLUPS.map((figure) => differences(db, company.id, figure))),
  );
  expect(kept.flat()).toEqual([]);
  const stock = products.articulos.map((article: { stock: number }) => article.stock);
  const { suma_base, suma_con_iva, suma_saldo } = invoices;
  const [pending, paid] = await Promise.all([
    data(company, '/invoices', { pagada: false }),
    data(company, '/invoices', { pagada: true }),
  ]);
  const sums = { suma_base, suma_con_iva, suma_saldo, pending: pending.total_facturas, paid: paid.total_facturas };
  return { report, results, projects, dated, available, stock, due, forecast, sums, notes };
}

test('[W-02] an annulled invoice keeps its number and counts nowhere', async () => {
  const acme = await newCompany();
  const before = await counted(acme);
  const facturaId = await invoice(acme);
  const vencimientoId = await firstDue(acme, facturaId);
  const meanwhile = await counted(acme);
  const { notes, ...shown } = before;
  for (const [name, was] of Object.entries(shown)) expect(meanwhile, name).not.toMatchObject({ [name]: was });
  const { status, body } = await annul(acme, facturaId);
  expect([status, body.data]).toEqual([200, { facturaId, numero: 'F2026-0001', anulada: true }]);
  expect(await counted(acme)).toEqual(before);
  expect((await data(acme, '/treasury/due-dates', { facturaId })).vencimientos).toEqual([]);

  expect(await data(acme, `/invoices/${facturaId}`)).toMatchObject({
    ...{ numero: 'F2026-0001', anulada: true, motivo_anulacion: motivo, saldo: 0, pagada: false },
    vencimientos: [{ vencimientoId, pendiente: 0 }],
  });
  await invoice(acme, hours(1));
  expect((await data(acme, '/invoices')).facturas).toMatchObject([
    { numero: 'F2026-0002', anulada: false, saldo: 10, pagada: false },
    { numero: 'F2026-0001', anulada: true, saldo: 0, pagada: false },
  ]);
  const settled = await acme.post(`/treasury/due-dates/${vencimientoId}/settle`, {});
  expect([settled.status, settled.body.data]).toEqual([
    400,
    [{ campo: 'vencimientoId', mensaje: 'su factura está anulada' }],
  ]);
  const { rows } = await database.pool.query(
    'select annulled_at::text, annulled_by, annulment_reason from invoices where account_id = $1 and number = $2',
    [acme.id, 'F2026-0001'],
  );
  expect(rows).toEqual([
    { annulled_at: expect.any(String), annulled_by: expect.stringMatching(/^key:\d+$/), annulment_reason: motivo },
  ]);
  expect(Temporal.Instant.from(rows[0]?.annulled_at)).toEqual(clock.now());
});

test('[DOC-01] [W-02] its annulment is sealed with the reason, in its history, and its documents verify', async () => {
  const acme = await newCompany();
  const facturaId = await invoice(acme);
  const first = await data(acme, `/documents/factura/${facturaId}/history`);
  await annulled(acme, facturaId);
  const { historial } = await data(acme, `/documents/factura/${facturaId}/history`);
  expect(historial).toMatchObject([...first.historial, { accion: 'anular', motivo, huella: expect.any(String) }]);
  expect(await data(acme, '/documents/verify')).toMatchObject({ documentos: 1, correctos: 1, fallos: [] });
  await database.pool.query('update invoices set annulled_at = null where account_id = $1', [acme.id]);
  expect((await data(acme, '/documents/verify')).fallos).toMatchObject([{ tipo: 'factura', numero: 'F2026-0001' }]);
});

test('[DLV-03] [W-02] what it moved comes back by movements of today, which name it', async () => {
  const acme = await newCompany();
  const facturaId = await invoice(acme);
  clock.advance({ hours: 24 });
  await annulled(acme, facturaId);
  clock.advance({ hours: -24 });
  const { movimientos } = await data(acme, '/products/11/stock-movements', { fecha_fin: '2026-03-11' });
  const documento = { tipo: 'factura', id: facturaId, numero: 'F2026-0001' };
  expect(movimientos).toMatchObject([
    { fecha: '2026-03-11 00:30:00', cantidad: 24.5, documento },
    { fecha: '2026-03-11 00:30:00', cantidad: 2, documento },
    { fecha: '2026-03-10 00:30:00', cantidad: -24.5, documento },
    { fecha: '2026-03-10 00:30:00', cantidad: -2, documento },
  ]);
});

test('[W-02] its delivery notes are free again, and their goods stay delivered', async () => {
  const acme = await newCompany();
  const albaranes = [await deliver(acme), await deliver(acme)];
  const before = await counted(acme);
  const facturaId = await created(acme, '/invoices', { albaranes });
  expect((await counted(acme)).notes.documentos).toEqual([]);
  await annulled(acme, facturaId);
  expect(await counted(acme)).toEqual(before);
  for (const id of albaranes) expect(await data(acme, `/delivery-notes/${id}`)).toMatchObject({ facturado: false });
  const again = await created(acme, '/invoices', { albaranes });
  expect((await data(acme, `/invoices/${again}`)).albaranes).toHaveLength(2);
  expect((await data(acme, '/delivery-notes', { facturado: true })).documentos).toMatchObject([
    { facturado: true },
    { facturado: true },
  ]);
  await annulled(acme, again);
  expect((await acme.post(`/delivery-notes/${albaranes[0]}/annul`, { motivo })).status).toBe(200);
});

test('[W-04] what it took of an estimate may be converted again, once', async () => {
  const acme = await newCompany();
  const id = await created(acme, '/estimates', sale(hours(4)));
  const facturaId = await created(acme, `/estimates/${id}/convert`, { destino: 'factura' });
  expect((await acme.post(`/estimates/${id}/convert`, { destino: 'albaran' })).status).toBe(400);
  await annulled(acme, facturaId);
  await created(acme, `/estimates/${id}/convert`, { destino: 'albaran' });
  expect((await acme.post(`/estimates/${id}/convert`, { destino: 'factura' })).status).toBe(400);
});

test('[W-02] one that is annulled, rectified, collected or set off is 400, which says why, and nothing changes', async () => {
  const acme = await newCompany();
  const [gone, back, part, off] = [await invoice(acme), await invoice(acme), await invoice(acme), await invoice(acme)];
  await annulled(acme, gone);
  await rectified(acme, back);
  await created(acme, `/treasury/due-dates/${await firstDue(acme, part)}/settle`, { importe: 0.01 });
  const against = await rectified(acme, off, { compensar: true });
  const before = await counted(acme);
  expect(await refused(acme, gone)).toBe('ya está anulada');
  expect(await refused(acme, back)).toBe('está rectificada');
  expect(await refused(acme, part)).toBe('ya se ha cobrado o compensado algo de ella');
  expect(await refused(acme, off)).toBe('está rectificada');
  expect(await refused(acme, against)).toBe('ya se ha cobrado o compensado algo de ella');
  expect(await counted(acme)).toEqual(before);
});

test('[W-04] of an annulled rectifying invoice, what it rectified is there again, and stock as before', async () => {
  const acme = await newCompany();
  const facturaId = await invoice(acme);
  const before = await counted(acme);
  const id = await rectified(acme, facturaId, { devolver_stock: true });
  expect((await acme.post(`/invoices/${facturaId}/rectify`, { motivo })).status).toBe(400);
  await annulled(acme, id);
  expect(await counted(acme)).toEqual(before);
  expect(await data(acme, `/invoices/${facturaId}`)).toMatchObject({
    rectificada_por: [],
    saldo: before.sums.suma_saldo,
  });
  expect(await data(acme, `/invoices/${id}`)).toMatchObject({ anulada: true, rectifica: { id: facturaId } });
  const again = await rectified(acme, facturaId, { devolver_stock: true });
  expect((await data(acme, `/invoices/${facturaId}`)).rectificada_por).toMatchObject([{ id: again }]);
  await annulled(acme, again);
  await annulled(acme, facturaId);
  expect((await counted(acme)).stock).toEqual([4, 50]);
});

test('[W-02] the notes that a rectifying invoice freed are its original’s again, unless they were invoiced or annulled', async () => {
  const acme = await newCompany();
  const note = await deliver(acme);
  const facturaId = await created(acme, '/invoices', { albaranes: [note] });
  const before = await counted(acme);
  const freeing = await rectified(acme, facturaId, { liberar_albaranes: true });
  await annulled(acme, freeing);
  expect(await counted(acme)).toEqual(before);
  expect(await data(acme, `/delivery-notes/${note}`)).toMatchObject({ facturado: true });
  expect((await acme.post('/invoices', { albaranes: [note] })).status).toBe(400);

  const again = await rectified(acme, facturaId, { liberar_albaranes: true });
  const other = await created(acme, '/invoices', { albaranes: [note] });
  expect(await refused(acme, again)).toContain('un albarán que liberó');
  await annulled(acme, other);
  expect((await acme.post(`/delivery-notes/${note}/annul`, { motivo })).status).toBe(200);
  expect(await refused(acme, again)).toContain('un albarán que liberó');
  await counted(acme);
});

test('[W-04] of annulments, a settlement and a rectification of an invoice at once, one wins', async () => {
  const acme = await newCompany();
  for (let round = 0; round < 4; round++) {
    const facturaId = await invoice(acme, sold.slice(0, 1));
    const vencimientoId = await firstDue(acme, facturaId);
    const [one, settled, other, back] = await Promise.all([
      annul(acme, facturaId),
      acme.post(`/treasury/due-dates/${vencimientoId}/settle`, {}),
      annul(acme, facturaId),
      acme.post(`/invoices/${facturaId}/rectify`, { motivo }),
    ]);
    const { anulada, saldo, rectificada_por } = await data(acme, `/invoices/${facturaId}`);
    const annulments = [one, other].filter(({ status }) => status === 200);
    expect(annulments).toHaveLength(anulada ? 1 : 0);
    if (anulada) expect([settled.status, back.status, saldo, rectificada_por]).toEqual([400, 400, 0, []]);
    else expect([settled.status, back.status]).toContain(200);
  }
  await counted(acme);
});

test('[W-04] so of an invoice without due dates', async () => {
  const numbers = [61, 62, 63, 64];
  const acme = await newCompany(
    numbers.map((id) => ({
      ...{ coleccion: 'facturas', ref: `f${id}`, id, fecha: '2026-03-01', cliente: 'nilo', vencimientos: [] },
      lineas: [{ descripcion: 'Cable', cantidad: 2, importe_unitario: 0 }],
    })),
  );
  for (const id of numbers) {
    const answers = await Promise.all([
      annul(acme, id),
      acme.post(`/invoices/${id}/rectify`, { motivo }),
      annul(acme, id),
      acme.post(`/invoices/${id}/rectify`, { motivo }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
  }
});

test('[W-04] of annulling a rectifying invoice and invoicing the notes that it freed at once, one wins', async () => {
  const acme = await newCompany();
  for (let round = 0; round < 4; round++) {
    const note = await deliver(acme, hours(1));
    const facturaId = await created(acme, '/invoices', { albaranes: [note] });
    const freeing = await rectified(acme, facturaId, { liberar_albaranes: true });
    const answers = await Promise.all([annul(acme, freeing), acme.post('/invoices', { albaranes: [note] })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await data(acme, `/delivery-notes/${note}`)).toMatchObject({ facturado: true });
  }
});

test('[IDEM-01] a replay annuls once', async () => {
  const acme = await newCompany();
  const facturaId = await invoice(acme);
  const headers = { ...acme.headers, 'x-idempotency-key': 'una-vez' };
  const [first, second] = [
    await acme.post(`/invoices/${facturaId}/annul`, { motivo }, headers),
    await acme.post(`/invoices/${facturaId}/annul`, { motivo }, headers),
  ];
  expect([first.status, second.status, second.body.data]).toEqual([200, 200, first.body.data]);
  expect((await counted(acme)).stock).toEqual([4, 50]);
});

test('[W-02] an annulled invoice that is imported counts nowhere, and its delivery note is free', async () => {
  const line = { ref: 'l', descripcion: 'Cable', cantidad: 2, importe_unitario: 3 };
  const documents: FileRecord[] = [
    { coleccion: 'albaranes', ref: 'a1', id: 31, fecha: '2026-03-01', cliente: 'nilo', lineas: [line] },
  ];
  const acme = await newCompany(documents);
  const before = await counted(acme);
  const file = {
    ...{ coleccion: 'facturas', ref: 'f1', id: 41, fecha: '2026-03-01', cliente: 'nilo', proyecto: 'nave' },
    lineas: [
      { ...line, albaran: 'a1', proviene_albaranes: true },
      { descripcion: 'Porte', cantidad: 1, importe_unitario: 5 },
    ],
    vencimientos: [{ id: 51, fecha: '2026-04-01', importe: 11 }],
  };
  await acme.load([{ ...file, anulado_el: '2026-03-02 10:00:00', motivo_anulacion: motivo }]);
  expect(await counted(acme)).toEqual(before);
  expect(await data(acme, '/invoices/41')).toMatchObject({ anulada: true, motivo_anulacion: motivo, saldo: 0 });
});

test('a reason that is missing or too short is 400; nothing changes', async () => {
  const acme = await newCompany();
  const facturaId = await invoice(acme);
  for (const wrong of [undefined, '', '  ab ', 7, 'x'.repeat(501)]) {
    const { status, body } = await annul(acme, facturaId, { motivo: wrong });
    expect([wrong, status, body.data]).toMatchObject([wrong, 400, [{ campo: 'motivo' }]]);
  }
  expect(await data(acme, `/invoices/${facturaId}`)).toMatchObject({ anulada: false });
});

test('[AUTH-01] [AUTH-04] [TEN-01] a read-only key annuls none, nobody does without one, another company’s invoice is a 404', async () => {
  const [acme, other] = [await newCompany(), await newCompany()];
  const facturaId = await invoice(acme);
  const body = JSON.stringify({ motivo });
  const json = { 'content-type': 'application/json' };
  const path = `/api/v1/invoices/${facturaId}/annul`;
  expect((await server.request(path, { method: 'POST', headers: json, body })).status).toBe(401);
  const readOnly = await acme.newKey(true);
  expect((await acme.post(`/invoices/${facturaId}/annul`, { motivo }, readOnly)).status).toBe(403);
  for (const id of [facturaId, 999, 'x']) {
    const answer = await annul(other, id);
    expect([answer.status, answer.body.errorMsg]).toEqual([404, expect.stringContaining('facturaId')]);
  }
  expect(await data(acme, `/invoices/${facturaId}`)).toMatchObject({ anulada: false });
});
