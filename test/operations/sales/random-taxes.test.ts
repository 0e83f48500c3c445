// Random invoices with every tax: what they amount to is what exact arithmetic makes of their lines, whoever says it.
import fc from 'fast-check';
import { XmlDocument } from 'libxml2-wasm';
import { afterAll, expect, test } from 'vitest';
import type { DocumentContent } from '../../../documents/content.ts';
import { altaOf } from '../../../documents/verifactu/record.ts';
import { making, recordOf } from '../../documents/registers.ts';
import { brokenRules } from '../../helpers/agency-rules.ts';
import { startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-03-10T09:00:00Z'), quotaPerMinute: 1_000_000 });
afterAll(() => server.stop());

const place = { direccion: 'Calle Mayor, 1', cp: '46001', poblacion: 'Valencia', provincia: 'Valencia' };
const acme = await server.company(
  [{ coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'B12345674', ...place }],
  { cuenta: { razon_social: 'Cuadra Obras, S.L.', cif: 'A58818501', ...place } },
);

interface Taxes {
  iva?: number;
  recargo?: number;
  exencion?: string;
}
interface Line extends Taxes {
  /** In thousandths. */
  cantidad: number;
  precio: number;
  /** Whole percent. */
  descuento: number;
}

/** What the agency takes; the last are of a NIF of here. */
const VALID: readonly Taxes[] = [
  ...[0, 5.2, 1.75].map((recargo) => ({ iva: 21, recargo })),
  ...[0, 1.4].map((recargo) => ({ iva: 10, recargo })),
  ...[0, 0.5].map((recargo) => ({ iva: 4, recargo })),
  { iva: 21 },
  {},
  ...['E1', 'E2', 'E3', 'E4', 'E6', 'N1', 'N2', 'S2'].map((exencion) => ({ exencion })),
];
const percent = fc.integer({ min: 0, max: 10_000 }).map((hundredths) => hundredths / 100);
const lines = (taxes: fc.Arbitrary<Taxes>): fc.Arbitrary<Line[]> =>
  fc.array(
    fc
      .record({
        cantidad: fc.integer({ min: -3_000, max: 9_000 }).filter((quantity) => quantity !== 0),
        precio: fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: -10_000, max: 900_000 })),
        descuento: fc.constantFrom(0, 0, 15, 33),
        taxes,
      })
      .map(({ taxes: own, ...line }) => ({ ...line, ...own })),
    { minLength: 1, maxLength: 8 },
  );
const withheld = fc.oneof(fc.constantFrom(0, 15, 7, 19, 1), percent);

/** `value` / `by`, half away from zero. */
const divided = (value: bigint, by: bigint) => (value < 0n ? value - by / 2n : value + by / 2n) / by;
/** Of cents, by hundredths of a percent. */
const part = (cents: bigint, of: number) => divided(cents * BigInt(Math.round(of * 100)), 10_000n);
const total = (amounts: Iterable<bigint>) => [...amounts].reduce((sum, amount) => sum + amount, 0n);

interface Rate {
  iva: number | string;
  recargo: number | string;
  exencion: string | null;
  base: bigint | number | string;
  cuota: bigint | number | string;
  cuota_recargo: bigint | number | string;
}
/** Their amounts in cents, in an order of their own. */
const ratesOf = (rates: readonly Rate[]) =>
  rates
    .map(({ iva, recargo, exencion, base, cuota, cuota_recargo }) =>
      [Number(iva), Number(recargo), exencion, centsOf(base), centsOf(cuota), centsOf(cuota_recargo)].join(' '),
    )
    .toSorted();
const centsOf = (amount: bigint | number | string) =>
  typeof amount === 'bigint' ? amount : BigInt(Number(amount).toFixed(2).replace('.', ''));

/** What lines amount to, in cents; with `sign` -1, what rectifying all of them does. */
function expected(lines: readonly Line[], retencion: number, sign: 1n | -1n = 1n) {
  const amountOf = ({ cantidad, precio, descuento }: Line) =>
    sign * divided(BigInt(cantidad) * BigInt(precio) * BigInt(100 - descuento), 1_000_000n);
  const taxes = lines.map(({ exencion = null, iva = exencion ? 0 : 21, recargo = 0, ...line }) => ({
    ...{ iva, recargo, exencion },
    amount: amountOf(line),
  }));
  const rates = [...Map.groupBy(taxes, ({ amount, ...own }) => JSON.stringify(own)).values()].flatMap((own) => {
    const [first] = own;
    const base = total(own.map(({ amount }) => amount));
    return first ? { ...first, base, cuota: part(base, first.iva), cuota_recargo: part(base, first.recargo) } : [];
  });
  const base = total(rates.map((rate) => rate.base));
  const whole = base + total(rates.flatMap(({ cuota, cuota_recargo }) => [cuota, cuota_recargo]));
  const payable = whole - part(base, retencion);
  return { base, total: whole, payable, due: payable, retencion, rates: ratesOf(rates) };
}

async function created(path: string, body: object): Promise<string> {
  const { status, body: answer } = await acme.post(path, body);
  expect([status, answer.errorMsg]).toEqual([200, '']);
  return answer.data;
}
const issued = (lines: readonly Line[], retencion: number) =>
  created('/invoices', {
    cliente: { id: 1 },
    pedido: { obra: 'Obra' },
    detalles: lines.map(({ cantidad, precio, ...line }) => ({
      ...line,
      descripcion: 'Pieza',
      cantidad: cantidad / 1000,
      importe_unitario: precio / 1000,
    })),
    retencion,
  });

/** What the seal of an invoice says that was just issued. */
async function sealed(): Promise<DocumentContent> {
  const { rows } = await server.service.database.pool.query<{ content: string }>(
    `select content from seals where account_id = $1 and record_table = 'invoices' and action = 'issue' order by n desc limit 1`,
    [acme.id],
  );
  return JSON.parse(rows[0]?.content ?? '');
}

/** What an invoice that was just issued amounts to, as it is read and as it is sealed. */
async function told(facturaId: string) {
  const { body } = await acme.get(`/invoices/${facturaId}`);
  const [read, seal] = [body.data, await sealed()];
  const dueOf = ({ vencimientos }: { vencimientos: readonly { importe: number | string }[] }) =>
    total(vencimientos.map(({ importe }) => centsOf(importe)));
  return [
    [read, read.base_imponible, read.total_con_iva, read.desglose_iva],
    [seal, seal.base, seal.total, seal.desglose],
  ].map(([document, base, sum, rates]) => ({
    base: centsOf(base),
    total: centsOf(sum),
    payable: centsOf(document.a_pagar),
    due: dueOf(document),
    retencion: Number(document.retencion ?? 0),
    rates: ratesOf(rates),
  }));
}

test('[W-05] [W-08] an invoice of any lines amounts to what they do, read and sealed, and rectifying all of it to as much less', async () => {
  const any = fc.oneof(
    fc.constantFrom(...VALID),
    fc.record({ iva: percent, recargo: percent }),
    fc.record({ iva: percent }),
  );
  await fc.assert(
    fc.asyncProperty(lines(any), withheld, async (sent, retencion) => {
      const id = await issued(sent, retencion);
      const want = expected(sent, retencion);
      expect(await told(id)).toEqual([want, want]);

      const rectifying = await created(`/invoices/${id}/rectify`, { motivo: 'Devuelto' });
      const back = expected(sent, retencion, -1n);
      expect(await told(rectifying)).toEqual([back, back]);
      for (const field of ['base', 'total', 'payable', 'due'] as const) expect(want[field] + back[field]).toBe(0n);
      const { body } = await acme.get(`/invoices/${id}`);
      expect(body.data.saldo).toBe(0);
    }),
    { numRuns: 60 },
  );
  const { body } = await acme.get('/documents/verify');
  expect(body.data).toMatchObject({ documentos: 120, correctos: 120, fallos: [] });
});

test('[DOC-02] [DOC-03] [DOC-04] of such an invoice there are a PDF, e-invoices and a register that the agency takes', async () => {
  await fc.assert(
    fc.asyncProperty(lines(fc.constantFrom(...VALID)), withheld, async (sent, retencion) => {
      const id = await issued(sent, retencion);
      const { xml } = recordOf(altaOf(await sealed(), making));
      expect(await brokenRules(xml)).toEqual([]);
      for (const format of ['pdf', 'facturae', 'ubl']) {
        const Accept = format === 'pdf' ? 'application/pdf' : 'application/xml';
        const answer = await fetch(`${server.url}/api/v1/invoices/${id}/${format}`, {
          headers: { ...acme.headers, Accept },
        });
        const bytes = Buffer.from(await answer.arrayBuffer());
        expect([answer.status, answer.headers.get('content-type')], bytes.toString()).toEqual([200, Accept]);
        if (format === 'pdf') expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
        else XmlDocument.fromBuffer(bytes).dispose();
      }
    }),
    { numRuns: 15 },
  );
});
