// The taxes of a sale beside its VAT: exemptions, the equivalence surcharge, income tax that the client keeps back, and what kind of
// rectification an invoice is.
import { afterAll, describe, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T09:00:00Z') });
const { pool } = server.service.database;
afterAll(() => server.stop());

const records: FileRecord[] = [
  { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'B12345674' },
  { coleccion: 'clientes', ref: 'nadie', id: 2, nombre_fiscal: 'Nadie' },
  { coleccion: 'articulos', ref: 'cable', id: 11, descripcion: 'Cable', iva: 10, stock: 500 },
];
const newCompany = (more: FileRecord[] = []) => server.company([...records, ...more]);
const created = async (company: Company, path: string, body: object): Promise<string> => {
  const { status, body: answer } = await company.post(path, body);
  expect([status, answer.errorMsg]).toEqual([200, '']);
  return answer.data;
};
const read = async (company: Company, path: string) => (await company.get(path)).body.data;
/** The fields that a 400 names; [] of another answer. */
const refused = async (company: Company, path: string, body: object): Promise<string[]> => {
  const { status, body: answer } = await company.post(path, body);
  return status === 400 ? answer.data.map(({ campo }: { campo: string }) => campo) : [];
};

/** 100 at 21 % with 5.2, 50.05 at 10 % with 1.4, 30 that is exempt and 20 that is of the client. */
const detalles = [
  { cantidad: 1, descripcion: 'Grifo', importe_unitario: 100, recargo: 5.2 },
  { cantidad: 1, articulo_fk: 11, importe_unitario: 50.05, recargo: 1.4 },
  { cantidad: 1, articulo_fk: 11, importe_unitario: 30, exencion: 'E1' },
  { cantidad: 2, descripcion: 'Obra', importe_unitario: 10, iva: 0, recargo: 0, exencion: 'S2' },
];
const taxes = [
  { iva: 21, recargo: 5.2, exencion: null },
  { iva: 10, recargo: 1.4, exencion: null },
  { iva: 0, recargo: 0, exencion: 'E1' },
  { iva: 0, recargo: 0, exencion: 'S2' },
];
/** The same in the order of rates, each tax rounded once. */
const desglose_iva = [
  { ...taxes[0], base: 100, cuota: 21, cuota_recargo: 5.2 },
  { ...taxes[1], base: 50.05, cuota: 5.01, cuota_recargo: 0.7 },
  { ...taxes[2], base: 30, cuota: 0, cuota_recargo: 0 },
  { ...taxes[3], base: 20, cuota: 0, cuota_recargo: 0 },
];
const BASE = 200.05;
const TOTAL = 231.96;
const sale = (more: object = {}, lines: object[] = detalles) => ({
  cliente: { id: 1 },
  pedido: { obra: 'Obra' },
  detalles: lines,
  ...more,
});

/** What the last seal of a document says. */
const sealed = async (company: Company, table: string): Promise<string> => {
  const { rows } = await pool.query<{ content: string }>(
    `select content from seals where account_id = $1 and record_table = $2 and content like '%"lineas"%' order by n desc limit 1`,
    [company.id, table],
  );
  return rows[0]?.content ?? '';
};

const LINES = [
  ['delivery note', '/delivery-notes', (lines: object[]) => sale({}, lines), 'detalles'],
  ['estimate', '/estimates', (lines: object[]) => sale({}, lines), 'detalles'],
  ['invoice', '/invoices', (lines: object[]) => sale({}, lines), 'detalles'],
  ['recurring', '/recurring-invoices', (lines: object[]) => sale({}, lines), 'detalles'],
] as const;

describe.each(LINES)('[DLV-08] [W-05] a line of a new %s', (_, path, bodyOf, of) => {
  test('has a surcharge or an exemption, which takes its VAT away, and is read with them', async () => {
    const acme = await newCompany();
    const whole = await read(acme, `${path}/${await created(acme, path, bodyOf(detalles))}`);
    expect((whole.recurrente ?? whole).lineas).toMatchObject(taxes);
  });

  test('with an exemption has neither VAT nor surcharge, and both are from 0 to 100: 400 names the field', async () => {
    const acme = await newCompany();
    const line = { cantidad: 1, descripcion: 'Obra', importe_unitario: 10 };
    for (const [more, fields] of [
      [{ exencion: 'E1', iva: 21 }, ['iva']],
      [{ exencion: 'N1', recargo: 0.5 }, ['recargo']],
      [{ exencion: 'E6', iva: 4, recargo: 0.5 }, ['iva', 'recargo']],
      [{ exencion: 'E7' }, ['exencion']],
      [{ recargo: -1 }, ['recargo']],
      [{ recargo: 100.01 }, ['recargo']],
      [{ recargo: 1.405 }, ['recargo']],
      [{ recargo: 'x' }, ['recargo']],
    ] as const) {
      const campos = await refused(acme, path, bodyOf([line, { ...line, ...more }]));
      expect([more, campos]).toEqual([more, fields.map((field) => `${of}[1].${field}`)]);
    }
    expect(await created(acme, path, bodyOf([{ ...line, exencion: 'E1', iva: 0, recargo: 0 }]))).not.toBe('');
  });
});

test('[W-01] a recurring service takes the taxes of its new lines, and refuses an exemption with VAT', async () => {
  const acme = await newCompany();
  const id = await created(acme, '/recurring-invoices', sale());
  const put = (line: object) =>
    acme.put(`/recurring-invoices/${id}`, { datos: { detalles: [{ ...detalles[3], ...line }] } });
  expect((await put({ exencion: 'N2' })).body.data.recurrente.lineas).toMatchObject([
    { iva: 0, recargo: 0, exencion: 'N2' },
  ]);
  const { status, body } = await put({ iva: 21 });
  expect([status, body.data]).toMatchObject([400, [{ campo: 'datos.detalles[0].iva' }]]);
});

test('[W-04] purchases have no surcharge nor exemption: they are not looked at', async () => {
  const acme = await newCompany();
  const line = { cantidad: 1, descripcion: 'Cable', importe_unitario: 100, recargo: 5.2, exencion: 'E1' };
  const sent = { proveedor: { nombre_fiscal: 'Cobre SL', cif: 'B1' }, numero: '7', fecha: '2026-03-10' };
  const { status, body } = await acme.post('/purchase-invoices', { ...sent, detalles: [line] });
  const told = status === 200 ? (await read(acme, `/purchase-invoices/${body.data}`)).total_con_iva : body.errorMsg;
  expect(told).toBe(121);
});

test('[W-04] [W-05] taxes go where lines go: from estimate to note to invoice, from estimate to invoice, from recurring to note', async () => {
  const acme = await newCompany();
  const estimates = [await created(acme, '/estimates', sale()), await created(acme, '/estimates', sale())];
  const note = await created(acme, `/estimates/${estimates[0]}/convert`, { destino: 'albaran' });
  const converted = await created(acme, `/estimates/${estimates[1]}/convert`, { destino: 'factura' });
  const invoiced = await created(acme, '/invoices', { albaranes: [note] });
  const recurring = await created(acme, '/recurring-invoices', sale({ pedido: { obra: 'Cuota' } }));
  const { body } = await acme.post(`/recurring-invoices/${recurring}/renew`, { accion: 'emitir' });
  for (const path of [`/delivery-notes/${note}`, `/delivery-notes/${body.data.albaranId}`]) {
    expect((await read(acme, path)).lineas).toMatchObject(taxes);
  }
  for (const id of [converted, invoiced]) {
    const invoice = await read(acme, `/invoices/${id}`);
    expect(invoice).toMatchObject({ base_imponible: BASE, total_con_iva: TOTAL, a_pagar: TOTAL, desglose_iva });
    expect(invoice.lineas).toMatchObject(taxes);
  }
  // What is sealed of each adds up to the same.
  for (const table of ['estimates', 'delivery_notes', 'invoices']) {
    expect(JSON.parse(await sealed(acme, table))).toMatchObject({ base: '200.05', total: '231.96' });
  }
  expect((await read(acme, '/documents/verify')).fallos).toEqual([]);
});

test('[W-05] VAT and surcharge are rounded once for each combination, never a line', async () => {
  const acme = await newCompany();
  // Ten times 0.05: 21 % of 0.50 is 0.11, 5.2 % of it 0.03; by lines they would be 0.10 and 0.
  const line = { cantidad: 1, descripcion: 'Tornillo', importe_unitario: 0.05, recargo: 5.2 };
  const id = await created(acme, '/invoices', sale({}, Array(10).fill(line)));
  expect(await read(acme, `/invoices/${id}`)).toMatchObject({
    total_con_iva: 0.64,
    desglose_iva: [{ base: 0.5, cuota: 0.11, cuota_recargo: 0.03 }],
    vencimientos: [{ importe: 0.64 }],
  });
});

test('[DOC-01] what is sealed says the taxes; without any it is as it always was', async () => {
  const acme = await newCompany();
  const [first] = sale({}, [{ cantidad: 1, descripcion: 'Grifo', importe_unitario: 100 }]).detalles;
  await created(acme, '/invoices', sale({}, [first ?? {}]));
  const plain = await sealed(acme, 'invoices');
  expect(plain).toContain(
    '"desglose":[{"base":"100.00","cuota":"21.00","cuota_recargo":"0.00","exencion":null,"iva":"21","recargo":"0"}]',
  );
  expect(plain).toContain('"exencion":null,"fecha_fin":null,"fecha_inicio":null,"importe":"100.00"');
  expect(plain).toContain('"iva":"21","recargo":"0"}],"numero":');
  expect(plain).toContain('"retencion":null,"tipo":"factura","tipo_factura":"F1","total":"121.00"');
  expect(plain).toContain('"a_pagar":"121.00"');

  await created(acme, '/invoices', sale({ retencion: 15 }));
  const said = JSON.parse(await sealed(acme, 'invoices'));
  expect(said).toMatchObject({
    retencion: '15',
    total: '231.96',
    a_pagar: '201.95',
    vencimientos: [{ importe: '201.95' }],
    desglose: [
      { iva: '21', recargo: '5.2', exencion: null, base: '100.00', cuota: '21.00', cuota_recargo: '5.20' },
      { iva: '10', recargo: '1.4', exencion: null, base: '50.05', cuota: '5.01', cuota_recargo: '0.70' },
      { iva: '0', recargo: '0', exencion: 'E1', base: '30.00', cuota: '0.00', cuota_recargo: '0.00' },
      { iva: '0', recargo: '0', exencion: 'S2', base: '20.00', cuota: '0.00', cuota_recargo: '0.00' },
    ],
  });
  expect(said.lineas).toMatchObject([
    { recargo: '5.2', exencion: null },
    { recargo: '1.4', exencion: null },
    { exencion: 'E1' },
    { exencion: 'S2' },
  ]);
});

test('[W-08] the limit of a sum counts the surcharge', async () => {
  const acme = await newCompany();
  // 10^11 is reached with VAT alone; a hundredth of a percent more passes it.
  const line = { cantidad: 1, descripcion: 'Puente', importe_unitario: 1e9, iva: 0 };
  const lines = (recargo: number) => Array.from({ length: 100 }, () => ({ ...line, recargo }));
  expect(await refused(acme, '/invoices', sale({}, lines(0.01)))).toEqual(['detalles']);
  expect(await created(acme, '/delivery-notes', sale({}, lines(0)))).not.toBe('');
});

describe('[W-04] what the client keeps back', () => {
  test('is not to be paid: due dates, what is left and whether it is paid follow', async () => {
    const acme = await newCompany();
    const id = await created(acme, '/invoices', sale({ retencion: 15 }));
    const expected = { retencion: 15, total_con_iva: TOTAL, a_pagar: 201.95, saldo: 201.95, pagada: false };
    const invoice = await read(acme, `/invoices/${id}`);
    expect(invoice).toMatchObject({
      ...expected,
      base_imponible: BASE,
      vencimientos: [{ importe: 201.95, pendiente: 201.95 }],
    });
    // The list, its sums and its filter, beside one without.
    await created(acme, '/invoices', sale());
    const list = await read(acme, '/invoices');
    expect(list).toMatchObject({ suma_base: 400.1, suma_con_iva: 463.92, suma_saldo: 433.91 });
    expect(list.facturas).toMatchObject([{ saldo: TOTAL }, { total_con_iva: TOTAL, saldo: 201.95 }]);

    const [{ vencimientoId }] = invoice.vencimientos;
    await acme.post(`/treasury/due-dates/${vencimientoId}/settle`, { importe: 201.94 });
    expect(await read(acme, `/invoices/${id}`)).toMatchObject({ saldo: 0.01, pagada: false });
    await acme.post(`/treasury/due-dates/${vencimientoId}/settle`, {});
    expect(await read(acme, `/invoices/${id}`)).toMatchObject({ saldo: 0, pagada: true });
    expect(await read(acme, '/invoices')).toMatchObject({ suma_saldo: TOTAL });
    expect((await read(acme, '/invoices?pagada=true')).facturas).toMatchObject([{ facturaId: id, saldo: 0 }]);
  });

  test('is of the base alone, and due dates that are sent add up without it: 400 says to what', async () => {
    const acme = await newCompany();
    const due = (...amounts: number[]) => amounts.map((importe) => ({ fecha: '2026-04-01', importe }));
    const lines = [{ cantidad: 1, descripcion: 'Hora', importe_unitario: 1000 }];
    const sent = (vencimientos: object[]) => sale({ retencion: 7, vencimientos }, lines);
    const { status, body } = await acme.post('/invoices', sent(due(1000, 210)));
    expect([status, body.data]).toMatchObject([
      400,
      [{ campo: 'vencimientos', mensaje: expect.stringMatching(/1140\.00$/) }],
    ]);
    const id = await created(acme, '/invoices', sent(due(1000, 140)));
    expect(await read(acme, `/invoices/${id}`)).toMatchObject({
      ...{ retencion: 7, total_con_iva: 1210, a_pagar: 1140, saldo: 1140 },
      vencimientos: [{ importe: 1000 }, { importe: 140 }],
    });
  });

  test('is from 0 to 100 with two decimals; 0 is none', async () => {
    const acme = await newCompany();
    for (const retencion of [-1, 100.01, 15.005, 'x']) {
      expect([retencion, await refused(acme, '/invoices', sale({ retencion }))]).toEqual([retencion, ['retencion']]);
    }
    const whole = await created(acme, '/invoices', sale({ retencion: 100 }));
    expect(await read(acme, `/invoices/${whole}`)).toMatchObject({ retencion: 100, a_pagar: 31.91 });
    const none = await created(acme, '/invoices', sale({ retencion: 0 }));
    expect(await read(acme, `/invoices/${none}`)).toMatchObject({ retencion: null, a_pagar: TOTAL });
  });

  test('is kept back of an invoice of delivery notes too', async () => {
    const acme = await newCompany();
    const note = await created(acme, '/delivery-notes', sale());
    const id = await created(acme, '/invoices', { albaranes: [note], retencion: 15 });
    expect(await read(acme, `/invoices/${id}`)).toMatchObject({ a_pagar: 201.95, vencimientos: [{ importe: 201.95 }] });
  });

  test('is given back by a rectifying invoice, which sets off what is left of what is to be paid', async () => {
    const acme = await newCompany();
    const id = await created(acme, '/invoices', sale({ retencion: 15 }));
    const { lineas } = await read(acme, `/invoices/${id}`);
    const part = await created(acme, `/invoices/${id}/rectify`, {
      motivo: 'Devuelto',
      lineas: [{ lineaId: lineas[0].lineaId, cantidad: 1 }],
    });
    // 100 with 21 and 5.2, without 15.
    expect(await read(acme, `/invoices/${part}`)).toMatchObject({
      ...{ retencion: 15, total_con_iva: -126.2, a_pagar: -111.2, saldo: 0 },
      vencimientos: [{ importe: -111.2, pendiente: 0 }],
      desglose_iva: [{ ...taxes[0], base: -100, cuota: -21, cuota_recargo: -5.2 }],
    });
    expect(await read(acme, `/invoices/${id}`)).toMatchObject({ saldo: 90.75, pagada: false });
    const rest = await created(acme, `/invoices/${id}/rectify`, { motivo: 'Devuelto' });
    expect((await read(acme, `/invoices/${rest}`)).lineas).toMatchObject(taxes.slice(1));
    expect(await read(acme, `/invoices/${id}`)).toMatchObject({ saldo: 0, pagada: true });
    expect((await read(acme, '/documents/verify')).fallos).toEqual([]);
  });
});

test('[MON-01] what is expected of renewals has the surcharge in it', async () => {
  const acme = await newCompany();
  await created(acme, '/recurring-invoices', sale({ pedido: { obra: 'Cuota', fecha_inicio: '2026-04-01' } }));
  const { periodos } = await read(acme, '/treasury/forecast?fecha_inicio=2026-04-01&fecha_fin=2026-04-30');
  expect(periodos).toMatchObject([{ recurrentes: TOTAL }]);
});

describe('[DOC-02] what kind of rectification it is', () => {
  const rectify = (company: Company, id: string, more: object = {}) =>
    company.post(`/invoices/${id}/rectify`, { motivo: 'Devuelto', ...more });
  const line = [{ cantidad: 1, descripcion: 'Grifo', importe_unitario: 10 }];

  test('is R1 unless it says R2 to R4, and is read and sealed', async () => {
    const acme = await newCompany();
    for (const tipo of [undefined, 'R1', 'R2', 'R3', 'R4']) {
      const id = await created(acme, '/invoices', sale({}, line));
      expect((await read(acme, `/invoices/${id}`)).tipo_factura).toBe('F1');
      const { body } = await rectify(acme, id, { tipo });
      expect((await read(acme, `/invoices/${body.data}`)).tipo_factura).toBe(tipo ?? 'R1');
      expect(JSON.parse(await sealed(acme, 'invoices')).tipo_factura).toBe(tipo ?? 'R1');
    }
    expect((await read(acme, '/documents/verify')).fallos).toEqual([]);
  });

  test('is R5, and no other, of an invoice whose client has no tax id: 400', async () => {
    const acme = await newCompany();
    const [named, simplified] = [
      await created(acme, '/invoices', sale({}, line)),
      await created(acme, '/invoices', sale({ cliente: { id: 2 } }, line)),
    ];
    expect((await read(acme, `/invoices/${simplified}`)).tipo_factura).toBe('F2');
    for (const [id, tipo] of [
      [named, 'R5'],
      ...['R1', 'R2', 'R3', 'R4'].map((one) => [simplified, one] as const),
      [named, 'R6'],
    ] as const) {
      const { status, body } = await rectify(acme, id, { tipo });
      expect([tipo, status, body.data]).toMatchObject([tipo, 400, [{ campo: 'tipo' }]]);
    }
    const { body } = await rectify(acme, simplified);
    expect((await read(acme, `/invoices/${body.data}`)).tipo_factura).toBe('R5');
    const again = await created(acme, '/invoices', sale({ cliente: { id: 2 } }, line));
    expect((await rectify(acme, again, { tipo: 'R5' })).status).toBe(200);
  });
});

describe('[W-08] the account file', () => {
  const lineas = [{ descripcion: 'Grifo', cantidad: 1, importe_unitario: 100, recargo: 5.2 }];
  const invoice = { coleccion: 'facturas', ref: 'f', id: 91, fecha: '2026-01-01', cliente: 'nilo', lineas };

  test('brings taxes and what is kept back, and one due date for what is to be paid', async () => {
    const acme = await newCompany([
      { ...invoice, retencion: 19, lineas: [...lineas, { ...lineas[0], recargo: 0, iva: 0, exencion: 'E5' }] },
      {
        ...invoice,
        ref: 'r',
        id: 92,
        rectifica: 'f',
        motivo_rectificacion: 'x',
        tipo_rectificativa: 'R4',
        retencion: 0,
      },
    ]);
    expect(await read(acme, '/invoices/91')).toMatchObject({
      ...{ retencion: 19, total_con_iva: 226.2, a_pagar: 188.2, saldo: 188.2 },
      vencimientos: [{ importe: 188.2 }],
      lineas: [
        { recargo: 5.2, exencion: null },
        { iva: 0, recargo: 0, exencion: 'E5' },
      ],
    });
    expect(await read(acme, '/invoices/92')).toMatchObject({ tipo_factura: 'R4', retencion: null });
  });

  test('refuses what no invoice can say', async () => {
    const acme = await newCompany();
    for (const [wrong, campo] of [
      [{ lineas: [{ ...lineas[0], recargo: 0, exencion: 'E1' }] }, 'lineas[0].iva'],
      [{ lineas: [{ ...lineas[0], iva: 0, exencion: 'E1' }] }, 'lineas[0].recargo'],
      [{ lineas: [{ ...lineas[0], exencion: 'X' }] }, 'lineas[0].exencion'],
      [{ lineas: [{ ...lineas[0], recargo: 101 }] }, 'lineas[0].recargo'],
      [{ retencion: 101 }, 'retencion'],
      [{ tipo_rectificativa: 'R1' }, 'tipo_rectificativa'],
      [{ tipo_rectificativa: 'F1', rectifica: 'f' }, 'tipo_rectificativa'],
    ] as const) {
      await expect(acme.load([{ ...invoice, ...wrong }]), campo).rejects.toThrow(campo);
    }
  });
});
