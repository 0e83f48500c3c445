// Contents of issued invoices, with sums that are right: readable ones to change, and arbitrary ones.
import fc from 'fast-check';
import type { ContentLine, ContentRate, DocumentContent } from '../../documents/content.ts';
import { decimal, literal, negated, percentOf, rounded, sum, times } from '../../platform/decimal.ts';

export const issuer = {
  nombre_fiscal: 'Bodegas del Turia, S.L.',
  cif: 'B12345674',
  email: 'facturas@bodegas.example',
  direccion: 'Calle de la Paz, 12',
  cp: '46003',
  poblacion: 'València',
  provincia: 'Valencia',
  pais: '',
  iban: 'ES91 2100 0418 4502 0005 1332',
};

export const client = {
  nombre_fiscal: 'María José Pérez Gómez',
  cif: '12345678Z',
  email: 'maria@example.com',
  direccion: 'Gran Vía, 1',
  cp: '28013',
  poblacion: 'Madrid',
  provincia: 'Madrid',
  pais: 'España',
};

type LineSaid = Omit<ContentLine, 'importe'>;

export const line = (change: Partial<LineSaid> = {}): LineSaid => ({
  descripcion: 'Vino tinto',
  descripcion_ampliada: null,
  cantidad: '10',
  importe_unitario: '12.5',
  descuento: '0',
  iva: '21',
  recargo: '0',
  exencion: null,
  fecha_inicio: null,
  fecha_fin: null,
  ...change,
});

const cents = (value: Parameters<typeof literal>[0]) => literal(rounded(value, 2), 2, 2);

type Said = Partial<Omit<DocumentContent, 'lineas' | 'desglose' | 'base' | 'total' | 'a_pagar'>> & {
  lineas?: LineSaid[];
};

/** An invoice that says this; its sums follow from its lines. */
export function invoice({ lineas: said = [line()], ...change }: Said = {}): DocumentContent {
  const lineas = said.map((one) => {
    const left = sum([{ units: 1n, scale: 0 }, negated(percentOf({ units: 1n, scale: 0 }, decimal(one.descuento)))]);
    return { ...one, importe: cents(times(times(decimal(one.cantidad), decimal(one.importe_unitario)), left)) };
  });
  const keyOf = ({ iva, recargo, exencion }: Pick<ContentLine, 'iva' | 'recargo' | 'exencion'>) =>
    JSON.stringify([literal(decimal(iva), 0, 8), literal(decimal(recargo), 0, 8), exencion]);
  const desglose: ContentRate[] = [...Map.groupBy(lineas, keyOf).values()].flatMap((ofRate) => {
    const [first] = ofRate;
    if (!first) return [];
    const base = sum(ofRate.map(({ importe }) => decimal(importe)));
    const { iva, recargo, exencion } = first;
    const cuotas = {
      cuota: cents(percentOf(base, decimal(iva))),
      cuota_recargo: cents(percentOf(base, decimal(recargo))),
    };
    return { iva, recargo, exencion, base: cents(base), ...cuotas };
  });
  const base = sum(desglose.map((rate) => decimal(rate.base)));
  const taxes = desglose.flatMap(({ cuota, cuota_recargo }) => [decimal(cuota), decimal(cuota_recargo)]);
  const total = sum([base, ...taxes]);
  const withheld = rounded(percentOf(base, decimal(change.retencion ?? '0')), 2);
  return {
    tipo: 'factura',
    numero: 'F2026/00042',
    fecha: '2026-11-22',
    concepto: 'Vinos de noviembre',
    observaciones: '',
    promo_code: null,
    emisor: issuer,
    cliente: client,
    lineas,
    desglose,
    base: cents(base),
    total: cents(total),
    valido_hasta: null,
    tipo_factura: 'F1',
    retencion: null,
    a_pagar: cents(sum([total, negated(withheld)])),
    vencimientos: [],
    rectifica: null,
    ...change,
  };
}

/** Texts that break what is written without care. */
const text = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    ']]>',
    '<b>negrita</b> & <script>alert("1")</script>',
    '\u0000\u0008\u000b\u001f\ud800\udc00\uffff',
    'a\ud800b',
    '<!-- -- --><![CDATA[ x ]]>',
    '🍷'.repeat(3000),
    'Descripción larga. '.repeat(280),
    '&amp;&#0;&#xD800;&lt;br&gt;',
    '\r\n\t \u0085\u2028\u00a0',
    '',
  ),
);
/** With at least something to read. */
const named = text.map((one) => `N${one}`);

const decimalOf = (most: number, places: number) =>
  fc
    .tuple(fc.integer({ min: -most, max: most }), fc.integer({ min: 0, max: 10 ** places - 1 }))
    .map(([whole, part]) => `${whole}.${String(part).padStart(places, '0')}`);

const day = fc
  .integer({ min: 0, max: 3000 })
  .map((days) => Temporal.PlainDate.from('2020-01-01').add({ days }).toString());

const rates: Pick<ContentLine, 'iva' | 'recargo' | 'exencion'>[] = [
  { iva: '21', recargo: '0', exencion: null },
  { iva: '21.00', recargo: '5.2', exencion: null },
  { iva: '10', recargo: '1.4', exencion: null },
  { iva: '4', recargo: '0.50', exencion: null },
  { iva: '26.2', recargo: '0', exencion: null },
  { iva: '0', recargo: '0', exencion: null },
  ...(['E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'N1', 'N2', 'S2'] as const).map((exencion) => ({
    iva: '0',
    recargo: '0',
    exencion,
  })),
];

const lines = fc.array(
  fc
    .record({
      descripcion: text,
      descripcion_ampliada: fc.option(text),
      cantidad: fc.oneof(fc.constantFrom('1', '-1', '0', '12.5'), decimalOf(5000, 3)),
      importe_unitario: fc.oneof(fc.constantFrom('0', '9.99', '0.000000001', '-3.5'), decimalOf(5000, 6)),
      descuento: fc.constantFrom('0', '0', '10', '33.333333', '100', '-5'),
      fecha_inicio: fc.option(fc.constant('2026-03-01')),
      fecha_fin: fc.option(fc.constant('2026-03-31')),
    })
    .chain((one) => fc.constantFrom(...rates).map((rate) => ({ ...one, ...rate }))),
  { minLength: 1, maxLength: 6 },
);

/** Without VAT on any line, as the law puts no other beside one that is not subject. */
const notSubject = lines.map((all) => all.map((one) => ({ ...one, iva: '0', recargo: '0', exencion: 'N2' as const })));

const party = fc
  .record({
    nombre_fiscal: named,
    email: fc.oneof(text, fc.constant('a@example.com')),
    direccion: named,
    poblacion: named,
    cp: fc.constantFrom('46001', '28080', '01005'),
    provincia: fc.oneof(named, fc.constant('Santa Cruz de Tenerife')),
  })
  .chain((all) =>
    fc
      .constantFrom(
        { cif: 'B12345674', pais: '' },
        { cif: 'ES-12.345.678 z', pais: 'España' },
        { cif: 'X1234567L', pais: 'France' },
        { cif: 'FR40303265045', pais: 'FR' },
        { cif: '303265045', pais: 'Portugal' },
        { cif: '094014201', pais: 'Grecia' },
        { cif: '12-3456789', pais: 'Estados Unidos' },
        { cif: 'GB123456789', pais: 'UK' },
      )
      .map((from) => ({ ...all, ...from })),
  );

/** Invoices that both formats can write, whatever their texts. */
export const invoices: fc.Arbitrary<DocumentContent> = fc
  .record({
    numero: fc.oneof(
      named.map((one) => [...one].slice(0, 40).join('')),
      fc.constant('F2026/000001'),
    ),
    fecha: day,
    concepto: text,
    observaciones: text,
    emisor: party.map((one) => ({ ...one, cif: 'B12345674', pais: '', iban: issuer.iban })),
    iban: fc.constantFrom('', issuer.iban, 'no'),
    regimen: fc.constantFrom({}, { regimen_iva: 'caja' as const }),
    cliente: party,
    lineas: fc.oneof({ weight: 5, arbitrary: lines }, { weight: 1, arbitrary: notSubject }),
    tipo_factura: fc.constantFrom('F1', 'F2', 'R1', 'R2', 'R3', 'R4', 'R5'),
    retencion: fc.option(fc.constantFrom('15', '7', '19.00')),
    vencimientos: fc.array(fc.record({ fecha: day, importe: decimalOf(10_000, 2) }), { maxLength: 3 }),
    rectificada: fc.record({ numero: fc.option(named), fecha: day, motivo: text }),
  })
  .map(({ iban, regimen, rectificada, emisor, ...said }) =>
    invoice({
      ...said,
      emisor: { ...emisor, iban, ...regimen },
      rectifica: said.tipo_factura.startsWith('R') ? rectificada : null,
    }),
  );
