import { afterAll, expect, test } from 'vitest';
import { ROLLUPS } from '../../../figures/figures.ts';
import { differences } from '../../../figures/rollups.ts';
import { issueRenewals } from '../../../routers/shared/renewals/issue-renewals.ts';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

// 10 March in Madrid.
const clock = new TestClock('2026-03-09T23:30:00Z');
const server = await startServer({ clock });
const { database } = server.service;
afterAll(() => server.stop());

const motivo = 'Duplicado';
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
async function deliver(company: Company, detalles: object[] = sold): Promise<string> {
  const body = { cliente: { id: 1 }, pedido: { obra: 'Obra', proyectoId: 21 }, detalles };
  const { status, body: answer } = await company.post('/delivery-notes', body);
  expect([status, answer.errorMsg]).toEqual([200, '']);
  return answer.data;
}
const annul = (company: Company, albaranId: unknown, body: object = { motivo }) =>
  company.post(`/delivery-notes/${albaranId}/annul`, body);
const data = async (company: Company, path: string, query: object = {}) =>
  (await company.get(path, { ...query })).body.data;

/** Everything that counts delivery notes, as the operations show it. */
async function counted(company: Company) {
  const year = { fecha_inicio: '2026-01-01', fecha_fin: '2026-12-31' };
  const [report, results, projects, dated, available, products, renewals, pending] = await Promise.all([
    data(company, '/reports/sales', { ...year, agrupar: 'articulo' }),
    data(company, '/reports/results', { ...year, agrupar: 'proyecto' }),
    data(company, '/projects'),
    data(company, '/projects', year),
    data(company, '/products/12/availability', { fecha_inicio: '2026-03-10', fecha_fin: '2026-03-13' }),
    data(company, '/products'),
    data(company, '/recurring/renewals', { fecha_inicio: '2026-03-01', fecha_fin: '2026-03-31' }),
    data(company, '/delivery-notes', { facturado: false }),
  ]);
  const kept = await database.transaction(company.id, {}, (db) =>
    Promise.all(ROLLUPS.map((figure) => differences(db, company.id, figure))),
  );
  expect(kept.flat()).toEqual([]);
  const stock = products.articulos.map((article: { stock: number }) => article.stock);
  return { report, results, projects, dated, available, stock, renewals, pending };
}

test('[W-02] an annulled note keeps its number and counts nowhere', async () => {
  const acme = await newCompany();
  const before = await counted(acme);
  const albaranId = await deliver(acme);
  const meanwhile = await counted(acme);
  for (const name of ['report', 'results', 'projects', 'dated', 'available', 'stock', 'pending'] as const) {
    expect(meanwhile[name], name).not.toEqual(before[name]);
  }
  const { status, body } = await annul(acme, albaranId);
  expect([status, body.data]).toEqual([200, { albaranId, numero: 'A2026-0001', anulado: true }]);
  expect(await counted(acme)).toEqual(before);

  const read = await data(acme, `/delivery-notes/${albaranId}`);
  expect(read).toMatchObject({ numero: 'A2026-0001', anulado: true, motivo_anulacion: motivo });
  await deliver(acme, [{ cantidad: 1, descripcion: 'Porte', importe_unitario: 9 }]);
  expect((await data(acme, '/delivery-notes')).documentos).toMatchObject([
    { numero: 'A2026-0002', anulado: false },
    { numero: 'A2026-0001', anulado: true },
  ]);
  const { rows } = await database.pool.query(
    'select annulled_at::text, annulled_by, annulment_reason from delivery_notes where account_id = $1 and number = $2',
    [acme.id, 'A2026-0001'],
  );
  expect(rows).toEqual([
    { annulled_at: expect.any(String), annulled_by: expect.stringMatching(/^key:\d+$/), annulment_reason: motivo },
  ]);
  expect(Temporal.Instant.from(rows[0]?.annulled_at)).toEqual(clock.now());
});

test('[DLV-03] [W-02] what it moved comes back by movements of today, which name it', async () => {
  const acme = await newCompany();
  const albaranId = await deliver(acme);
  clock.advance({ hours: 24 });
  await annul(acme, albaranId);
  clock.advance({ hours: -24 });
  const { movimientos } = await data(acme, '/products/11/stock-movements', { fecha_fin: '2026-03-11' });
  const documento = { tipo: 'albaran', id: albaranId, numero: 'A2026-0001' };
  expect(movimientos).toMatchObject([
    { fecha: '2026-03-11 00:30:00', cantidad: 24.5, documento },
    { fecha: '2026-03-11 00:30:00', cantidad: 2, documento },
    { fecha: '2026-03-10 00:30:00', cantidad: -24.5, documento },
    { fecha: '2026-03-10 00:30:00', cantidad: -2, documento },
  ]);
  const { rows } = await database.pool.query(
    `select variation_id, delivery_note_line_id is not null as named, factor, sum(quantity) as left, count(*)::int as moves from stock_movements
     where account_id = $1 and not opening group by 1, 2, 3, delivery_note_line_id order by 1`,
    [acme.id],
  );
  expect(rows).toMatchObject([
    { variation_id: 71, named: true, moves: 2, left: 0 },
    { variation_id: null, named: true, factor: 25, moves: 2, left: 0 },
  ]);
});

test('[W-02] one that is annulled or invoiced is 400, and an annulled one is not invoiced', async () => {
  const acme = await newCompany();
  const [albaranId, invoiced] = [await deliver(acme), await deliver(acme)];
  expect((await acme.post('/invoices', { albaranes: [invoiced] })).status).toBe(200);
  await annul(acme, albaranId);
  const before = await counted(acme);
  for (const [id, why] of [
    [albaranId, 'ya está anulado'],
    [invoiced, 'está facturado'],
  ] as const) {
    const { status, body } = await annul(acme, id);
    expect([status, body.data]).toEqual([400, [{ campo: 'albaranId', mensaje: expect.stringContaining(why) }]]);
  }
  const { status, body } = await acme.post('/invoices', { albaranes: [await deliver(acme), albaranId] });
  expect([status, body.data]).toEqual([400, [{ campo: 'albaranes[1]', mensaje: 'está anulado' }]]);
  const after = await counted(acme);
  expect(after.stock).toEqual([before.stock[0], (before.stock[1] ?? 0) - 26.5]);
});

test('[W-02] of an invoice and annulments of a note at once, one wins', async () => {
  const acme = await newCompany();
  for (let round = 0; round < 4; round++) {
    const albaranId = await deliver(acme, [{ cantidad: 1, articulo_fk: 11, importe_unitario: 5 }]);
    const answers = await Promise.all([
      annul(acme, albaranId),
      acme.post('/invoices', { albaranes: [albaranId] }),
      annul(acme, albaranId),
      acme.post('/invoices', { albaranes: [albaranId] }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    const { anulado, facturado } = await data(acme, `/delivery-notes/${albaranId}`);
    expect(anulado).toBe(!facturado);
  }
  await counted(acme);
});

test('[W-02] [REN-04] the renewal of an annulled note is not generated, and counts as skipped', async () => {
  const acme = await newCompany([
    {
      coleccion: 'recurrentes',
      ref: 'cuota',
      descripcion: 'Cuota',
      cliente: 'nilo',
      periodicidad: 'mensual',
      fecha_creacion: '2026-03-01',
      lineas: [{ descripcion: 'Cuota', cantidad: 1, importe_unitario: 40 }],
    },
  ]);
  const today = Temporal.PlainDate.from('2026-03-10');
  const renewals = {
    ...{ database, accountId: acme.id, today, until: today, since: Temporal.PlainDate.from('2026-01-01') },
    ...{ now: clock.now(), author: { actor: 'schedule', door: 'schedule', requestId: 'test' } as const },
  };
  const issued = async () => {
    const found = [];
    for await (const outcome of issueRenewals(renewals)) found.push(outcome);
    return found;
  };
  const before = await counted(acme);
  const [renewal] = await issued();
  if (!renewal || !('noteId' in renewal)) throw new Error('Nothing was issued');
  expect((await counted(acme)).renewals.renovaciones_generadas).toEqual({ num: 1, importe_total: 40 });
  await annul(acme, renewal.noteId);
  expect((await counted(acme)).renewals.renovaciones_generadas).toEqual(before.renewals.renovaciones_generadas);
  expect(await issued()).toEqual([]);
  // It may have another note, and no more than one.
  const again = () =>
    database.pool.query(
      `insert into delivery_notes (account_id, date, client_id, recurring_id, recurring_cycle)
       select account_id, date, client_id, recurring_id, recurring_cycle from delivery_notes where account_id = $1 and id = $2`,
      [acme.id, renewal.noteId],
    );
  expect(await again()).toMatchObject({ rowCount: 1 });
  await expect(again()).rejects.toThrow('delivery_notes_issued_cycle');
});

test('[W-02] an annulled note that is exported, imported and exported again is the same, and counts nowhere there either', async () => {
  const note = {
    coleccion: 'albaranes',
    ref: 'a1',
    id: 31,
    fecha: '2026-03-01',
    cliente: 'nilo',
    proyecto: 'nave',
    lineas: [{ descripcion: 'Cable', cantidad: 2, importe_unitario: 3 }],
  };
  const acme = await newCompany();
  const before = await counted(acme);
  await acme.load([{ ...note, anulado_el: '2026-03-02 10:00:00', motivo_anulacion: motivo }]);
  expect(await counted(acme)).toEqual(before);
});

test('a reason that is missing or too short is 400; nothing changes', async () => {
  const acme = await newCompany();
  const albaranId = await deliver(acme);
  for (const wrong of [undefined, '', '  ab ', 7, 'x'.repeat(501)]) {
    const { status, body } = await annul(acme, albaranId, { motivo: wrong });
    expect([wrong, status, body.data]).toMatchObject([wrong, 400, [{ campo: 'motivo' }]]);
  }
  expect(await data(acme, `/delivery-notes/${albaranId}`)).toMatchObject({ anulado: false });
});

test('[AUTH-01] [AUTH-04] [TEN-01] a read-only key annuls none, nobody does without one, another company’s note is a 404', async () => {
  const [acme, other] = [await newCompany(), await newCompany()];
  const albaranId = await deliver(acme);
  const path = `/api/v1/delivery-notes/${albaranId}/annul`;
  const body = JSON.stringify({ motivo });
  const json = { 'content-type': 'application/json' };
  expect((await server.request(path, { method: 'POST', headers: json, body })).status).toBe(401);
  expect((await annul({ ...acme, ...readOnly(acme) }, albaranId)).status).toBe(403);
  for (const id of [albaranId, 999, 'x']) {
    const { status, body } = await annul(other, id);
    expect([status, body.errorMsg]).toEqual([404, expect.stringContaining('albaranId')]);
  }
  expect(await data(acme, `/delivery-notes/${albaranId}`)).toMatchObject({ anulado: false });

  function readOnly(company: Company): Pick<Company, 'post'> {
    return { post: async (to, sent) => company.post(to, sent, await company.newKey(true)) };
  }
});
