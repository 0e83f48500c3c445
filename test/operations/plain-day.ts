// Everything that the API answers of a company, recomputed in plain code from its account file: stock, documents and their sums, due
// dates, treasury, reservations, and that nothing was carried over beyond what there was. The reports: projects/as-books.ts.
import { expect } from 'vitest';
import type { Company, FileRecord } from '../helpers/world.ts';
import { answered, expectBreakdownsToAddUp, expectResultsAsBooks, expectSalesAsBooks } from './projects/as-books.ts';
import { amountsOf, booksOf, listOf, millionths, plus, shown } from './projects/plain-books.ts';

/** The records of an export. */
export type Records = readonly FileRecord[];

const of = (records: Records, coleccion: string) => records.filter((record) => record.coleccion === coleccion);
const isAnnulled = ({ anulado_el }: FileRecord) => anulado_el !== null;
const abs = (value: bigint) => (value < 0n ? -value : value);
const MILLION = 1_000_000n;
/** Base units with 12 decimals: a quantity times a factor. */
const units = (value: unknown) => millionths(value) * MILLION;
const sumBy = <T>(list: readonly T[], keyOf: (each: T) => string, amountOf: (each: T) => bigint) =>
  new Map([...Map.groupBy(list, keyOf)].map(([key, group]) => [key, plus(group.map(amountOf))]));
const cents = (value: unknown) => millionths(value) / 10_000n;

/** Base units of a line: what it weighs, or its quantity in its format. DLV-04, DLV-05 */
function unitsOf(records: Records) {
  const factors = new Map(
    of(records, 'articulos').flatMap((article) =>
      listOf(article.formatos).map(({ ref, id, factor }) => [`${article.ref} ${ref ?? `@${id}`}`, millionths(factor)]),
    ),
  );
  return ({ articulo, formato, cantidad, cantidad_base_real }: FileRecord): bigint => {
    if (cantidad_base_real !== null) return units(cantidad_base_real) * (Number(cantidad) < 0 ? -1n : 1n);
    return millionths(cantidad) * (factors.get(`${articulo} ${formato}`) ?? MILLION);
  };
}

/** What the stock of each article is beside the movements in the file: its opening movement. */
export const openingsOf = (records: Records): ReadonlyMap<string, bigint> => {
  const moved = movedOf(records);
  return new Map(of(records, 'articulos').map(({ ref = '', stock }) => [ref, units(stock) - (moved.get(ref) ?? 0n)]));
};

// Quantities of movements have 12 decimals, which millionths would round.
const movedOf = (records: Records) =>
  sumBy(
    of(records, 'movimientos_stock'),
    ({ articulo }) => String(articulo),
    ({ cantidad }) => units(cantidad),
  );

/** Compares the answers of a company, whose records now are these, with what the records say. */
export async function expectAsRecords(
  company: Company,
  records: Records,
  { today, openings, openingOfNew }: { today: string; openings: ReadonlyMap<string, bigint>; openingOfNew: number },
): Promise<void> {
  const books = booksOf(records);
  for (const [from = '', to = ''] of [
    ['2026-01-01', '2026-12-31'],
    [today, today],
  ]) {
    await expectSalesAsBooks(company, books, from, to);
    await expectResultsAsBooks(company, books, from, to);
    await expectBreakdownsToAddUp(company, { fecha_inicio: from, fecha_fin: to });
  }
  await expectBreakdownsToAddUp(company, {});
  expectNothingBeyond(records);
  await expectStock(company, records, openings, units(openingOfNew));
  await expectDocuments(company, records);
  await expectTreasury(company, records, today);
  await expectReservations(company, records);
}

/** Stock is what it opened with and what moved, and documents moved what they say. DLV-03, PRO-01 */
async function expectStock(
  company: Company,
  records: Records,
  openings: ReadonlyMap<string, bigint>,
  openingOfNew: bigint,
) {
  const articles = of(records, 'articulos');
  const moved = movedOf(records);
  const expected = articles.map(({ ref = '', descripcion }) => {
    const stock = (openings.get(ref) ?? openingOfNew) + (moved.get(ref) ?? 0n);
    return [descripcion, Number(stock) / 1e12];
  });
  expect(articles.map(({ descripcion, stock }) => [descripcion, stock])).toEqual(expected);
  const { total_articulos, articulos } = await answered(company, '/products', { por_pagina: 500 });
  expect(total_articulos).toBe(articles.length);
  const answers = articulos.map(({ descripcion, stock }: FileRecord) => [descripcion, stock]);
  expect(answers.toSorted()).toEqual(expected.toSorted());
  expect((await answered(company, '/projects')).total_proyectos).toBe(of(records, 'proyectos').length);

  const unitsOfLine = unitsOf(records);
  const goods = new Set(articles.flatMap(({ modo, ref }) => (modo === 'venta' ? [ref] : [])));
  const movements = of(records, 'movimientos_stock');
  const sums = (field: string, documents: Records, sign: bigint, counts: (line: FileRecord) => boolean) => {
    const lines = documents.flatMap((document) =>
      listOf(document.lineas)
        .filter((line) => goods.has(line.articulo as string) && counts(line))
        .map((line) => ({ of: `${document.ref} ${line.articulo}`, units: sign * unitsOfLine(line) })),
    );
    const named = new Set(documents.map(({ ref }) => ref));
    const own = movements.filter((movement) => named.has(movement[field] as string));
    const present = (all: Map<string, bigint>) => new Map([...all].filter(([, amount]) => amount !== 0n).toSorted());
    return [
      present(
        sumBy(
          own,
          ({ [field]: document, articulo }) => `${document} ${articulo}`,
          (one) => units(one.cantidad),
        ),
      ),
      present(
        sumBy(
          lines,
          (line) => line.of,
          (line) => line.units,
        ),
      ),
    ];
  };
  const alive = (coleccion: string) => of(records, coleccion).filter((document) => !isAnnulled(document));
  const made = (documents: Records) => documents.filter(({ ref = '' }) => ref.startsWith('@'));
  const own = (line: FileRecord) => line.proviene_albaranes !== true;
  const invoices = made(of(records, 'facturas'));
  for (const [found, expected] of [
    sums('albaran', made(alive('albaranes')), -1n, () => true),
    sums('albaran_compra', made(alive('albaranes_compra')), 1n, () => true),
    sums(
      'factura',
      invoices.filter((invoice) => invoice.rectifica === null && !isAnnulled(invoice)),
      -1n,
      own,
    ),
  ]) {
    expect(found).toEqual(expected);
  }
  // A rectifying invoice brings back all of its goods, but for those of freed notes, or none.
  for (const invoice of invoices.filter((one) => one.rectifica !== null && !isAnnulled(one))) {
    const [found, expected] = sums('factura', [invoice], -1n, own);
    if (found?.size) expect(found).toEqual(expected);
  }
  for (const [coleccion, field] of [
    ['albaranes', 'albaran'],
    ['albaranes_compra', 'albaran_compra'],
    ['facturas', 'factura'],
  ] as const) {
    for (const annulled of of(records, coleccion).filter(isAnnulled)) {
      const all = movements.filter((movement) => movement[field] === annulled.ref);
      expect(plus(all.map(({ cantidad }) => units(cantidad)))).toBe(0n);
    }
  }
}

/** Lists of documents: each with its sums, and the sums of all that count. */
async function expectDocuments(company: Company, records: Records) {
  const invoiced = new Set(
    of(records, 'facturas').flatMap((invoice) =>
      isAnnulled(invoice)
        ? []
        : listOf(invoice.lineas).flatMap(({ albaran, albaran_liberado }) => (albaran_liberado ? [] : [albaran])),
    ),
  );
  const paidOf = ({ vencimientos }: FileRecord) =>
    plus(listOf(vencimientos).map(({ cobrado, pagado }) => cents(cobrado ?? pagado)));
  const leftToPay = (bill: FileRecord) => amountsOf(bill).total - cents(bill.pagado);
  const lists: [path: string, coleccion: string, rows: string, shownOf: (record: FileRecord) => object][] = [
    ['/estimates', 'presupuestos', 'presupuestos', ({ estado }) => ({ estado })],
    [
      '/delivery-notes',
      'albaranes',
      'documentos',
      (note) => ({ anulado: isAnnulled(note), facturado: invoiced.has(note.ref) }),
    ],
    [
      '/invoices',
      'facturas',
      'facturas',
      (invoice) => {
        const { total } = amountsOf(invoice);
        const anulada = isAnnulled(invoice);
        return { total_con_iva: shown(total), anulada, saldo: shown(anulada ? 0n : total - paidOf(invoice)) };
      },
    ],
    ['/purchase-delivery-notes', 'albaranes_compra', 'documentos', (note) => ({ anulado: isAnnulled(note) })],
    [
      '/purchase-invoices',
      'facturas_compra',
      'facturas',
      (bill) => ({ anulado: isAnnulled(bill), saldo: shown(isAnnulled(bill) ? 0n : leftToPay(bill)) }),
    ],
  ];
  for (const [path, coleccion, rows, shownOf] of lists) {
    const documents = of(records, coleccion);
    const answer = await answered(company, path, { por_pagina: 500 });
    const expected = documents.map((document) => ({
      numero: document.numero ?? '',
      fecha: document.fecha,
      base_imponible: shown(amountsOf(document).base),
      ...shownOf(document),
    }));
    const found: FileRecord[] = answer[rows];
    const fields = Object.keys(expected[0] ?? {});
    const texts = (list: readonly object[]) =>
      list
        .map((row) => JSON.stringify(Object.fromEntries(fields.map((name) => [name, Reflect.get(row, name)]))))
        .sort();
    expect(texts(found), path).toEqual(texts(expected));
    const counted = documents.filter((document) => !document.anulado_el);
    expect(answer.suma_base, path).toBe(shown(plus(counted.map((document) => amountsOf(document).base))));
    if (path === '/purchase-invoices') expect(answer.suma_saldo).toBe(shown(plus(counted.map(leftToPay))));
    if (path !== '/invoices') continue;
    const totals = counted.map((document) => amountsOf(document).total);
    expect(answer.suma_con_iva).toBe(shown(plus(totals)));
    expect(answer.suma_saldo).toBe(shown(plus(totals) - plus(counted.map(paidOf))));
  }
  const year = { fecha_inicio: '2026-01-01', fecha_fin: '2026-12-31' };
  const bills = of(records, 'facturas_compra').filter((bill) => !isAnnulled(bill));
  expect((await answered(company, '/reports/purchases', year)).total_compras).toBe(
    shown(plus(bills.map((bill) => amountsOf(bill).base))),
  );
}

/** Due dates add up to their invoices, settlements to what is paid, movements to the balances. */
async function expectTreasury(company: Company, records: Records, today: string) {
  const settled = sumBy(
    of(records, 'liquidaciones'),
    ({ factura, factura_compra, vencimiento }) =>
      factura === null ? `facturas_compra ${factura_compra} ${vencimiento}` : `facturas ${factura} ${vencimiento}`,
    ({ importe }) => cents(importe),
  );
  for (const [tipo, coleccion] of [
    ['cobro', 'facturas'],
    ['pago', 'facturas_compra'],
  ] as const) {
    const invoices = of(records, coleccion).filter((invoice) => !isAnnulled(invoice));
    for (const invoice of invoices) {
      const due = plus(listOf(invoice.vencimientos).map(({ importe }) => cents(importe)));
      if (invoice.ref?.startsWith('@')) expect(due).toBe(amountsOf(invoice).total);
    }
    const all = invoices.flatMap(({ ref, vencimientos }) =>
      listOf(vencimientos).map(({ fecha, importe, cobrado, pagado }, index) => {
        const [amount, paid] = [cents(importe), cents(cobrado ?? pagado)];
        expect(settled.get(`${coleccion} ${ref} ${index + 1}`) ?? 0n).toBe(paid);
        return { fecha: String(fecha), amount, left: amount - paid };
      }),
    );
    const answer = await answered(company, '/treasury/due-dates', { tipo, por_pagina: 500 });
    const expected = all.map(({ fecha, amount, left }) => ({
      ...{ fecha, importe: shown(amount), pendiente: shown(left) },
      vencido: left > 0n && fecha < today,
    }));
    const texts = (list: readonly (typeof expected)[number][]) =>
      list.map(({ fecha, importe, pendiente, vencido }) => JSON.stringify([fecha, importe, pendiente, vencido])).sort();
    expect(texts(answer.vencimientos)).toEqual(texts(expected));
    expect(answer).toMatchObject({
      total_vencimientos: all.length,
      suma_importe: shown(plus(all.map(({ amount }) => amount))),
      suma_pendiente: shown(plus(all.map(({ left }) => left))),
    });
    const forecast = await answered(company, '/treasury/forecast', { fecha_inicio: today, fecha_fin: '2027-12-31' });
    const expectedFlow: number[] = forecast.periodos.map((period: Record<string, number>) =>
      Number(tipo === 'cobro' ? period.cobros : period.pagos),
    );
    const within = all.filter(({ fecha }) => fecha <= '2027-12-31');
    expect(plus(expectedFlow.map(cents))).toBe(plus(within.map(({ left }) => left)));
  }
  const { cuentas, saldo_total } = await answered(company, '/treasury/accounts');
  const moved = sumBy(
    of(records, 'movimientos_tesoreria').filter(({ fecha }) => String(fecha) <= today),
    ({ cuenta }) => String(cuenta),
    ({ importe }) => cents(importe),
  );
  const balances = of(records, 'cuentas_tesoreria').map(({ ref = '', titulo, saldo_inicial }) => {
    return { titulo, saldo: cents(saldo_inicial) + (moved.get(ref) ?? 0n) };
  });
  expect(cuentas).toMatchObject(balances.map(({ titulo, saldo }) => ({ titulo, saldo: shown(saldo) })));
  expect(saldo_total).toBe(shown(plus(balances.map(({ saldo }) => saldo))));
}

/** What is reserved of each rented article on each day. DLV-06 */
async function expectReservations(company: Company, records: Records) {
  const unitsOfLine = unitsOf(records);
  const dates = { fecha_inicio: '2026-03-01', fecha_fin: '2026-06-30' };
  const lines = [...of(records, 'albaranes'), ...of(records, 'facturas')].flatMap((document) =>
    isAnnulled(document) ? [] : listOf(document.lineas).filter(({ proviene_albaranes }) => proviene_albaranes !== true),
  );
  for (const { ref, id } of of(records, 'articulos').filter(({ modo }) => modo === 'alquiler')) {
    const { stock, dias } = await answered(company, `/products/${id}/availability`, dates);
    const own = lines.filter(({ articulo, startDate }) => articulo === ref && startDate !== null);
    expect(dias).toHaveLength(122);
    for (const { fecha, reservado, disponible } of dias) {
      const taken = own.filter(({ startDate, endDate }) => String(startDate) <= fecha && fecha <= String(endDate));
      const expected = Number(plus(taken.map(unitsOfLine))) / 1e12;
      expect([fecha, reservado, disponible]).toEqual([fecha, expected, stock - expected]);
    }
  }
}

/** Nothing was converted, rectified, settled or invoiced beyond what there was. W-04 */
function expectNothingBeyond(records: Records) {
  const beyond: string[] = [];
  const check = (what: string, taken: bigint, whole: unknown) => {
    const all = millionths(whole);
    if (abs(taken) > abs(all) || taken * all < 0n) beyond.push(`${what}: ${taken} of ${all}`);
  };
  const alive = (coleccion: string) => of(records, coleccion).filter((document) => !isAnnulled(document));
  const documents = [...alive('albaranes'), ...alive('facturas')];
  const converted = sumBy(
    documents.flatMap(({ lineas }) => listOf(lineas).filter(({ linea_presupuesto }) => linea_presupuesto !== null)),
    ({ presupuesto, linea_presupuesto }) => `${presupuesto} ${linea_presupuesto}`,
    ({ cantidad }) => millionths(cantidad),
  );
  for (const { ref, lineas } of of(records, 'presupuestos')) {
    for (const line of listOf(lineas)) {
      const name = `${ref} ${line.ref ?? `@${line.id}`}`;
      check(`converted of ${name}`, converted.get(name) ?? 0n, line.cantidad);
    }
  }
  const rectified = sumBy(
    alive('facturas').flatMap(({ rectifica, lineas }) =>
      rectifica === null ? [] : listOf(lineas).map((line) => ({ ...line, rectifica })),
    ),
    ({ rectifica, linea_rectificada }: FileRecord) => `${rectifica} ${linea_rectificada}`,
    ({ cantidad }: FileRecord) => -millionths(cantidad),
  );
  const places = alive('facturas').flatMap(({ ref, lineas }) =>
    listOf(lineas).map((line, index): [string, unknown] => [`${ref} ${index + 1}`, line.cantidad]),
  );
  for (const [name, whole] of places) check(`rectified of ${name}`, rectified.get(name) ?? 0n, whole);
  for (const { ref, vencimientos } of [...of(records, 'facturas'), ...of(records, 'facturas_compra')]) {
    for (const [index, { importe, cobrado, pagado }] of listOf(vencimientos).entries()) {
      check(`settled of ${ref} ${index + 1}`, millionths(cobrado ?? pagado), importe);
    }
  }
  for (const [coleccion, field] of [
    ['facturas', 'albaran'],
    ['facturas_compra', 'albaran_compra'],
  ] as const) {
    const invoices = alive(coleccion).flatMap(({ ref, lineas }) => {
      const standing = listOf(lineas).filter(({ albaran_liberado }) => albaran_liberado !== true);
      return [...new Set(standing.flatMap(({ [field]: note }) => (note ? [note] : [])))].map((note) => ({ ref, note }));
    });
    for (const [note, twice] of Map.groupBy(invoices, (one) => one.note)) {
      if (twice.length > 1) beyond.push(`${note} is invoiced by ${twice.map(({ ref }) => ref)}`);
    }
  }
  const cycles = alive('albaranes').flatMap(({ recurrente, ciclo_recurrente }) =>
    ciclo_recurrente === null ? [] : [`${recurrente} ${ciclo_recurrente}`],
  );
  expect(beyond).toEqual([]);
  expect(cycles).toHaveLength(new Set(cycles).size);
}
