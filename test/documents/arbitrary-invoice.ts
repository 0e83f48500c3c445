// Arbitrary invoices that the agency would take, as they are when they were issued: for property tests and for `npm run prove:verifactu`.
import fc from 'fast-check';
import type { ContentLine, ContentParty, ContentRate, DocumentContent } from '../../documents/content.ts';
import { INVOICE_TYPES } from '../../documents/content.ts';

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', minLength: 100, maxLength: 700 }),
  fc.constantFrom('', ' ', 'Peñas & Cía <"S.L.">', ']]>', '\u0000\u0007\r\n\t', '😀'.repeat(600), '\uFFFE', '\uD800'),
);
const name = text.map((some) => `Ñ${some}`);
/** Printable ASCII without quotes, `<`, `=`, `>`, and no blanks at the ends. */
const numero = fc
  .stringMatching(/^[!#-&(-;?-~][ !#-&(-;?-~]{0,57}[!#-&(-;?-~]$/)
  .map((some) => some.slice(0, 60).trim());
const NIFS = ['A28015865', 'Q2826000H', '89890001K', 'X1234567L', 'B12345674', 'ES-B.12345674', ' b12345674 '];
const issuerIds = fc.constantFrom('89890001K', 'A00000000', 'B72877814');
const clientIds = fc.oneof(
  fc.constantFrom(...NIFS).map((cif) => ({ cif, pais: '', kind: 'nif' as const })),
  fc.constantFrom(...NIFS).map((cif) => ({ cif, pais: 'España', kind: 'nif' as const })),
  fc.constantFrom(
    { cif: 'PT501442600', pais: '', kind: 'vat' as const },
    { cif: 'FR 40 303 265 045', pais: 'Francia', kind: 'vat' as const },
    { cif: 'EL094019245', pais: 'Grecia', kind: 'vat' as const },
    { cif: '12-3456789', pais: 'Estados Unidos', kind: 'other' as const },
    { cif: '501442600', pais: 'PT', kind: 'other' as const },
    { cif: 'ΑΒΓ 123', pais: 'Greece', kind: 'other' as const },
    { cif: '10259033P', pais: 'CY', kind: 'other' as const },
  ),
);
const cents = fc.oneof(
  fc.integer({ min: 0, max: 300_000 }),
  fc.integer({ min: -100_000, max: 100_000 }),
  fc.integer({ min: 0, max: 10 ** 11 }),
);
const TAXED: readonly [string, readonly string[]][] = [
  ['21', ['0', '5.2', '1.75']],
  ['10', ['0', '1.4']],
  ['4', ['0', '0.5']],
];
const COMBINATIONS: readonly Pick<ContentRate, 'iva' | 'recargo' | 'exencion'>[] = [
  ...TAXED.flatMap(([iva, surcharges]) => surcharges.map((recargo) => ({ iva, recargo, exencion: null }))),
  ...(['E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'N1', 'N2', 'S2'] as const).map((exencion) => ({
    iva: '0',
    recargo: '0',
    exencion,
  })),
];

export const decimal = (value: bigint): string => {
  const digits = String(value < 0n ? -value : value).padStart(3, '0');
  return `${value < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
};
/** `percent` of an amount in cents, rounded half away from zero. */
const part = (base: bigint, percent: string): bigint => {
  const [whole = '0', rest = ''] = percent.split('.');
  const units = base * BigInt(whole + rest.padEnd(2, '0'));
  return (units + (units < 0n ? -5_000n : 5_000n)) / 10_000n;
};

export const rateOf = (of: Pick<ContentRate, 'iva' | 'recargo' | 'exencion'>, base: bigint): ContentRate => ({
  ...of,
  base: decimal(base),
  cuota: decimal(part(base, of.iva)),
  cuota_recargo: decimal(part(base, of.recargo)),
});

const centsOf = (amount: string) => BigInt(amount.replace('.', ''));
const sum = (amounts: readonly string[]) => decimal(amounts.reduce((total, amount) => total + centsOf(amount), 0n));

const party = (nombre_fiscal: string, cif: string, pais: string): ContentParty => ({
  nombre_fiscal,
  cif,
  email: '',
  direccion: '',
  cp: '',
  poblacion: '',
  provincia: '',
  pais,
});

/** An invoice with what is given of it; its sums are those of `desglose`. */
export function invoice(given: Partial<DocumentContent> = {}): DocumentContent {
  const desglose = given.desglose ?? [rateOf({ iva: '21', recargo: '0', exencion: null }, 100_00n)];
  const base = sum(desglose.map((rate) => rate.base));
  const total = sum(desglose.flatMap((rate) => [rate.base, rate.cuota, rate.cuota_recargo]));
  const lineas = desglose.map(
    (rate, index): ContentLine => ({
      descripcion: `Línea ${index + 1}`,
      descripcion_ampliada: null,
      cantidad: '1',
      importe_unitario: rate.base,
      descuento: '0',
      iva: rate.iva,
      recargo: rate.recargo,
      exencion: rate.exencion,
      importe: rate.base,
      fecha_inicio: null,
      fecha_fin: null,
    }),
  );
  return {
    tipo: 'factura',
    numero: '26/1',
    fecha: '2026-11-02',
    concepto: 'Trabajos',
    observaciones: '',
    promo_code: null,
    emisor: { ...party('Talleres Ejemplo SL', '89890001K', 'España'), iban: '' },
    cliente: party('Cliente SA', 'A28015865', 'España'),
    lineas,
    desglose,
    base,
    total,
    valido_hasta: null,
    tipo_factura: 'F1',
    retencion: null,
    a_pagar: total,
    vencimientos: [],
    rectifica: null,
    ...given,
  };
}

/** Invoices of a company, whose tax id stays. */
export const arbitraryInvoice = fc.gen().map((gen): DocumentContent => {
  const type = gen(fc.constantFrom, ...INVOICE_TYPES);
  const simplified = type === 'F2' || type === 'R5';
  const rectifies = type.startsWith('R');
  const day = () =>
    Temporal.PlainDate.from('2024-10-28')
      .add({ days: gen(fc.integer, { min: 70, max: 700 }) })
      .toString();
  const fecha = day();
  const client = gen(() =>
    clientIds.filter(({ kind }) => (type === 'R3' ? kind === 'nif' : type === 'R2' ? kind !== 'other' : true)),
  );
  const allowed = COMBINATIONS.filter(
    ({ exencion }) => !(exencion === 'S2' && simplified) && !(exencion === 'E5' && client.kind !== 'vat'),
  );
  const combinations = gen(() => fc.uniqueArray(fc.constantFrom(...allowed), { minLength: 1, maxLength: 12 }));
  const amount = () => BigInt(gen(() => (type === 'F2' ? fc.integer({ min: -20_000, max: 20_000 }) : cents)));
  const signed = () => (rectifies ? -amount() : amount());
  const rectified = gen(fc.boolean) ? gen(() => numero) : null;
  return invoice({
    numero: gen(() => numero),
    fecha,
    concepto: gen(() => text),
    emisor: {
      ...party(
        gen(() => name),
        gen(() => issuerIds),
        'España',
      ),
      iban: '',
      ...(gen(fc.boolean) && { regimen_iva: 'caja' as const }),
    },
    cliente: simplified
      ? party('', '', '')
      : party(
          gen(() => name),
          client.cif,
          client.pais,
        ),
    tipo_factura: type,
    desglose: combinations.map((combination) => rateOf(combination, signed())),
    rectifica: rectifies ? { numero: rectified, fecha: '2024-01-31', motivo: 'Devolución' } : null,
  });
});
