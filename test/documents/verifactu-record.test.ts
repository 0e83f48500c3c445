// Registers of invoices: official hashes, what the agency checks, and what is told before it would refuse.
import fc from 'fast-check';
import { XmlDocument } from 'libxml2-wasm';
import { describe, expect, test } from 'vitest';
import type { DocumentContent } from '../../documents/content.ts';
import { hashOfAlta, hashOfAnulacion } from '../../documents/verifactu/hash.ts';
import { qrAddress } from '../../documents/verifactu/qr.ts';
import {
  type Alta,
  type AltaAgain,
  type Anulacion,
  altaOf,
  anulacionOf,
  type Link,
  type Making,
} from '../../documents/verifactu/record.ts';
import { countryOf, isNif } from '../../documents/verifactu/tax-ids.ts';
import { brokenRules } from '../helpers/agency-rules.ts';
import { elementsIn, secondHash, textIn } from '../helpers/second-hash.ts';
import { arbitraryInvoice, invoice, rateOf } from './arbitrary-invoice.ts';
import { making, recordOf, system } from './registers.ts';
import { altas, anulaciones, vectorXml } from './verifactu-vectors.ts';

const alta = (given: Partial<DocumentContent> = {}, more: Partial<Making> = {}): Alta =>
  recordOf(altaOf(invoice(given), { ...making, ...more }));
const problemsOf = (given: Partial<DocumentContent>, more: Partial<Making> = {}) => {
  const outcome = altaOf(invoice(given), { ...making, ...more });
  return 'problems' in outcome ? outcome.problems : [];
};
const client = (cif: string, pais = '') => ({ ...invoice().cliente, cif, pais });
const rate = (iva: string, exencion: 'E2' | 'E5' | 'N1' | 'S2' | null = null, recargo = '0', base = 100_00n) =>
  rateOf({ iva, recargo, exencion }, base);

test.each(altas)('[DOC-02] the hash of an alta is the published one: $of.numero of $source', async ({ of, hash }) => {
  expect(hashOfAlta(of)).toBe(hash);
  expect(await secondHash(vectorXml(of, hash))).toBe(hash);
});

test.each(anulaciones)('[DOC-02] the hash of an annulment is the published one: $source', async ({ of, hash }) => {
  expect(hashOfAnulacion(of)).toBe(hash);
  expect(await secondHash(vectorXml(of, hash))).toBe(hash);
});

test('[DOC-02] blanks at the ends of a value do not count in its hash', () => {
  for (const { of, hash } of altas) expect(hashOfAlta({ ...of, numero: ` ${of.numero}\n` })).toBe(hash);
});

test('[DOC-02] any invoice has a register that keeps the rules of the agency, chained to the one before', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryInvoice, { minLength: 1, maxLength: 4 }), async (contents) => {
      let previous: Link | null = null;
      for (const content of contents) {
        for (const make of [altaOf, anulacionOf]) {
          const { xml, ...record }: Alta | Anulacion = recordOf<Alta | Anulacion>(
            make(content, { ...making, previous }),
          );
          using _ = XmlDocument.fromString(xml);
          expect(await brokenRules(xml)).toEqual([]);
          expect(await secondHash(xml)).toBe(record.huella);
          expect(textIn(elementsIn(xml, 'RegistroAnterior')[0] ?? '', 'Huella') ?? '').toBe(record.huellaAnterior);
          expect(textIn(xml, 'PrimerRegistro')).toBe(previous ? undefined : 'S');
          previous = record;
        }
      }
    }),
    // Shrinking texts of every kind takes minutes and gigabytes.
    { numRuns: 100, endOnFailure: true },
  );
});

test('[DOC-02] what is said is written once: XML, hash and QR hold the same text', () => {
  const { xml, cuotaTotal, importeTotal, momento, fecha, ...record } = alta({
    numero: 'A&B 1/+',
    desglose: [rate('21.00', null, '0', 1n)],
  });
  expect({ cuotaTotal, importeTotal, momento, fecha }).toEqual({
    cuotaTotal: '0.00',
    importeTotal: '0.01',
    momento: '2026-11-22T23:30:15+01:00',
    fecha: '02-11-2026',
  });
  expect(textIn(xml, 'FechaHoraHusoGenRegistro')).toBe(momento);
  expect(textIn(xml, 'CuotaTotal')).toBe(cuotaTotal);
  expect(textIn(xml, 'NumSerieFactura')).toBe('A&B 1/+');
  expect(qrAddress({ ...record, fecha, importeTotal }, 'produccion')).toBe(
    'https://www2.agenciatributaria.gob.es/wlpl/TIKE-CONT/ValidarQR?nif=89890001K&numserie=A%26B%201%2F%2B&fecha=02-11-2026&importe=0.01',
  );
});

test('[DOC-02] the address of the QR is the one of the published example', () => {
  const of = { emisor: '89890001K', numero: '12345678&G33', fecha: '01-01-2024', importeTotal: '241.4' };
  expect(qrAddress(of, 'pruebas')).toBe(
    'https://prewww2.aeat.es/wlpl/TIKE-CONT/ValidarQR?nif=89890001K&numserie=12345678%26G33&fecha=01-01-2024&importe=241.4',
  );
});

test('[DOC-02] the zone is that of the place of issue, and numeric', () => {
  expect(alta({}, { timeZone: 'Atlantic/Canary' }).momento).toBe('2026-11-22T22:30:15+00:00');
  expect(alta({}, { timeZone: 'UTC' }).momento).toBe('2026-11-22T22:30:15+00:00');
});

test('[DOC-02] rectifying, exempt, not subject, reversed and surcharged', () => {
  const { xml } = alta({
    tipo_factura: 'R1',
    rectifica: { numero: '26/0', fecha: '2026-10-31', motivo: 'Devolución' },
    cliente: client('IE6388047V'),
    desglose: [rate('21', null, '5.2', -100_00n), rate('0', 'E2'), rate('0', 'E5'), rate('0', 'N1'), rate('0', 'S2')],
  });
  expect(textIn(xml, 'TipoRectificativa')).toBe('I');
  expect(elementsIn(xml, 'IDFacturaRectificada')).toEqual([
    '<sf:IDEmisorFactura>89890001K</sf:IDEmisorFactura><sf:NumSerieFactura>26/0</sf:NumSerieFactura><sf:FechaExpedicionFactura>31-10-2026</sf:FechaExpedicionFactura>',
  ]);
  expect(
    elementsIn(xml, 'DetalleDesglose').map((detail) => detail.replace(/<\/[^>]+>|sf:/g, ' ').replaceAll('< ', ' <')),
  ).toEqual([
    ' <Impuesto>01  <ClaveRegimen>18  <CalificacionOperacion>S1  <TipoImpositivo>21.00  <BaseImponibleOimporteNoSujeto>-100.00  <CuotaRepercutida>-21.00  <TipoRecargoEquivalencia>5.20  <CuotaRecargoEquivalencia>-5.20 ',
    ' <Impuesto>01  <ClaveRegimen>02  <OperacionExenta>E2  <BaseImponibleOimporteNoSujeto>100.00 ',
    ' <Impuesto>01  <ClaveRegimen>01  <OperacionExenta>E5  <BaseImponibleOimporteNoSujeto>100.00 ',
    ' <Impuesto>01  <ClaveRegimen>01  <CalificacionOperacion>N1  <BaseImponibleOimporteNoSujeto>100.00 ',
    ' <Impuesto>01  <ClaveRegimen>01  <CalificacionOperacion>S2  <TipoImpositivo>0.00  <BaseImponibleOimporteNoSujeto>100.00  <CuotaRepercutida>0.00 ',
  ]);
});

test('[DOC-02] under the cash scheme, what is taxed without surcharge is of scheme 07, and nothing else', () => {
  const caja = { ...invoice().emisor, regimen_iva: 'caja' as const };
  const cliente = client('IE6388047V');
  const desglose = [rate('21'), rate('10'), rate('21', null, '5.2'), rate('0', 'E2'), rate('0', 'E5')];
  desglose.push(rate('0', 'N1'), rate('0', 'S2'));
  const schemes = (more: Partial<DocumentContent>) =>
    elementsIn(alta({ cliente, desglose, ...more }).xml, 'ClaveRegimen').join(' ');
  expect(schemes({ emisor: caja })).toBe('07 07 18 02 01 01 01');
  expect(schemes({})).toBe('01 01 18 02 01 01 01');
  for (const tipo_factura of ['F2', 'R5'] as const) {
    expect(textIn(alta({ emisor: caja, tipo_factura }).xml, 'ClaveRegimen')).toBe('07');
  }
  expect(alta({ cliente, desglose, emisor: caja }).xml.replaceAll('>07<', '>01<')).toBe(
    alta({ cliente, desglose }).xml,
  );
});

test.each([
  ['a NIF', client('b-12345674'), '<sf:NIF>B12345674</sf:NIF>'],
  ['a NIF of somebody abroad', client('12345678Z', 'Alemania'), '<sf:NIF>12345678Z</sf:NIF>'],
  ['a NIF with the prefix of Spain', client('ESB12345674'), '<sf:NIF>B12345674</sf:NIF>'],
  [
    'a VAT number',
    client('PT 501 442 600'),
    '<sf:IDOtro><sf:IDType>02</sf:IDType><sf:ID>PT501442600</sf:ID></sf:IDOtro>',
  ],
  [
    'another id',
    client('12-3456789', 'Estados Unidos'),
    '<sf:IDOtro><sf:CodigoPais>US</sf:CodigoPais><sf:IDType>04</sf:IDType><sf:ID>12-3456789</sf:ID></sf:IDOtro>',
  ],
  [
    'an id of Cyprus, which looks like a NIF',
    client('12345678Z', 'Chipre'),
    '<sf:IDOtro><sf:CodigoPais>CY</sf:CodigoPais><sf:IDType>04</sf:IDType><sf:ID>12345678Z</sf:ID></sf:IDOtro>',
  ],
  [
    'a number of a member state without prefix',
    client('501442600', 'Portugal'),
    '<sf:IDOtro><sf:CodigoPais>PT</sf:CodigoPais><sf:IDType>04</sf:IDType><sf:ID>501442600</sf:ID></sf:IDOtro>',
  ],
])('[DOC-02] the client is identified by %s', (_, cliente, written) => {
  expect(elementsIn(alta({ cliente }).xml, 'IDDestinatario')[0]).toBe(
    `<sf:NombreRazon>Cliente SA</sf:NombreRazon>${written}`,
  );
});

test('[DOC-02] an intra-community delivery names the client by VAT number, though it is stored without prefix', () => {
  const { xml } = alta({ cliente: client('094019245', 'Grecia'), desglose: [rate('0', 'E5')] });
  expect(textIn(xml, 'ID')).toBe('EL094019245');
});

test('[DOC-02] simplified invoices name nobody', () => {
  for (const tipo_factura of ['F2', 'R5'] as const) expect(alta({ tipo_factura }).xml).not.toContain('Destinatarios');
});

test('[DOC-02] long texts are cut by characters, and there is always a description', () => {
  const long = alta({ concepto: '😀'.repeat(501), emisor: { ...invoice().emisor, nombre_fiscal: '𝔸'.repeat(121) } });
  expect([...(textIn(long.xml, 'DescripcionOperacion') ?? '')]).toHaveLength(500);
  expect([...(textIn(long.xml, 'NombreRazonEmisor') ?? '')]).toHaveLength(120);
  expect(textIn(alta({ concepto: ' \u0000\n' }).xml, 'DescripcionOperacion')).toBe('Línea 1');
  expect(textIn(alta({ concepto: '', lineas: [] }).xml, 'DescripcionOperacion')).toBe('Factura 26/1');
});

test('[DOC-02] an amount of 100 millions or more is marked', () => {
  const big = (base: bigint) => textIn(alta({ desglose: [rate('0', 'N1', '0', base)] }).xml, 'Macrodato');
  expect([big(99_999_999_99n), big(100_000_000_00n), big(-100_000_000_00n)]).toEqual([undefined, 'S', 'S']);
});

test('[DOC-02] a correction and a repetition say so', () => {
  const again = (as?: AltaAgain) => {
    const { xml } = recordOf(altaOf(invoice(), making, as));
    return [textIn(xml, 'Subsanacion'), textIn(xml, 'RechazoPrevio')];
  };
  expect(again()).toEqual([undefined, undefined]);
  expect(again({ subsanacion: true })).toEqual(['S', undefined]);
  expect(again({ subsanacion: true, rechazoPrevio: 'X' })).toEqual(['S', 'X']);
  const { xml } = recordOf(anulacionOf(invoice(), making, { sinRegistroPrevio: true, rechazoPrevio: true }));
  expect([textIn(xml, 'SinRegistroPrevio'), textIn(xml, 'RechazoPrevio')]).toEqual(['S', 'S']);
});

describe('[DOC-02] what the agency would refuse is told by its field', () => {
  const issuer = (cif: string, nombre_fiscal = 'Talleres') => ({ ...invoice().emisor, cif, nombre_fiscal });
  test.each<[string, Partial<DocumentContent>, [string, RegExp][]]>([
    ['the issuer’s NIF is missing', { emisor: issuer('') }, [['emisor.cif', /^Falta el NIF/]]],
    ['it is wrong', { emisor: issuer('B12345678') }, [['emisor.cif', /^B12345678 no es un NIF válido/]]],
    ['the issuer has no name', { emisor: issuer('89890001K', ' ') }, [['emisor.nombre_fiscal', /razón social/]]],
    ['no number', { numero: null }, [['numero', /no tiene número/]]],
    ['a number with other characters', { numero: 'Ñ-1' }, [['numero', /^El número Ñ-1 no se admite/]]],
    ['a number with a quote', { numero: "26'1" }, [['numero', /no se admite/]]],
    ['a number that ends in a blank', { numero: '26/1 ' }, [['numero', /espacios en los extremos/]]],
    ['a number of 61 characters', { numero: '1'.repeat(61) }, [['numero', /hasta 60/]]],
    ['it is no invoice', { tipo_factura: null }, [['tipo_factura', /Solo las facturas/]]],
    ['before the order', { fecha: '2024-10-27' }, [['fecha', /anterior al 28-10-2024/]]],
    ['in the future', { fecha: '2026-11-23' }, [['fecha', /posterior a hoy/]]],
    ['a client without NIF', { cliente: client('') }, [['cliente.cif', /^Falta el NIF del cliente/]]],
    ['a client with a wrong one', { cliente: client('12345678A', 'España') }, [['cliente.cif', /carácter de control/]]],
    ['an id of nowhere', { cliente: client('12-3456789') }, [['cliente.cif', /de otro país/]]],
    ['an unknown country', { cliente: client('12-3456789', 'Narnia') }, [['cliente.pais', /Narnia/]]],
    ['a long id', { cliente: client('1'.repeat(21), 'US') }, [['cliente.cif', /más de 20/]]],
    [
      'a client without name',
      { cliente: { ...client('A28015865'), nombre_fiscal: '' } },
      [['cliente.nombre_fiscal', /^Falta/]],
    ],
    ['a delivery E5 to a NIF', { desglose: [rate('0', 'E5')] }, [['cliente.cif', /NIF-IVA/]]],
    ['R2 of a foreigner', { tipo_factura: 'R2', cliente: client('1', 'US') }, [['cliente.cif', /R2/]]],
    ['R3 of a VAT number', { tipo_factura: 'R3', cliente: client('PT501442600') }, [['cliente.cif', /R3/]]],
    [
      'a rectified number of 61',
      { tipo_factura: 'R1', rectifica: { numero: 'x'.repeat(61), fecha: '2024-01-01', motivo: '' } },
      [['rectifica.numero', /más de 60/]],
    ],
    ['nothing in it', { desglose: [] }, [['desglose', /no tiene líneas/]]],
    ['VAT of 0 without a reason', { desglose: [rate('0')] }, [['exencion', /iva 0 necesita exencion/]]],
    ['VAT that is none', { desglose: [rate('13')] }, [['iva', /^El IVA del 13 % .*: 21, 10, 4$/]]],
    ['VAT that ended', { desglose: [rate('7.5')] }, [['iva', /7.5/]]],
    [
      'another rate’s surcharge',
      { desglose: [rate('10', null, '5.2')] },
      [['recargo', /10 % no hay recargo .* 5.2 %: 1.4$/]],
    ],
    ['an exemption with VAT', { desglose: [rate('21', 'E2')] }, [['exencion', /E2 no lleva IVA/]]],
    ['reverse charge in F2', { tipo_factura: 'F2', desglose: [rate('0', 'S2')] }, [['exencion', /S2/]]],
    ['fractions of cents', { total: '1.001' }, [['total', /dos decimales/]]],
    [
      'F2 above 3,000 EUR',
      { tipo_factura: 'F2', desglose: [rate('0', 'N1', '0', 3_000_01n)] },
      [['total', /3.000 EUR/]],
    ],
  ])('%s', (_, given, expected) => {
    const told = problemsOf(given);
    expect(told.map(({ campo }) => campo)).toEqual(expected.map(([campo]) => campo));
    for (const [index, [, message]] of expected.entries()) expect(told[index]?.mensaje).toMatch(message);
  });

  test('more than twelve combinations', () => {
    const many = Array.from({ length: 13 }, () => rate('21'));
    expect(problemsOf({ desglose: many })).toEqual([
      { campo: 'desglose', mensaje: expect.stringContaining('tiene 13') },
    ]);
    expect(problemsOf({ desglose: many.slice(1) })).toEqual([]);
  });

  test('all of them at once', () => {
    const told = problemsOf({ emisor: issuer(''), cliente: client(''), desglose: [rate('13'), rate('0')] });
    expect(told.map(({ campo }) => campo)).toEqual(['emisor.cif', 'cliente.cif', 'iva', 'exencion']);
  });

  test('the limits themselves are right', () => {
    expect(problemsOf({ fecha: '2024-10-28', desglose: [rate('7.5', null, '1'), rate('2', null, '0.26')] })).toEqual(
      [],
    );
    expect(problemsOf({ fecha: '2026-11-22' })).toEqual([]);
    expect(problemsOf({ tipo_factura: 'F2', desglose: [rate('0', 'N1', '0', 3_000_00n)] })).toEqual([]);
  });

  test('the operator’s settings', () => {
    const none = {
      ...system,
      producerName: '',
      producerNif: '',
      systemName: '',
      systemId: 'a1',
      systemVersion: '',
      installation: '',
    };
    const fields = [
      'VERIFACTU_PRODUCER_NAME',
      'VERIFACTU_PRODUCER_NIF',
      'VERIFACTU_SYSTEM_NAME',
      'VERIFACTU_SYSTEM_ID',
      'VERIFACTU_SYSTEM_VERSION',
      'numero_instalacion',
    ];
    expect(problemsOf({}, { system: none }).map(({ campo }) => campo)).toEqual(fields);
  });

  test('an annulment names its invoice', () => {
    expect(anulacionOf(invoice({ numero: 'Ñ' }), making)).toMatchObject({ problems: [{ campo: 'numero' }] });
  });
});

test('[DOC-02] a NIF has its control character', () => {
  for (const nif of ['89890001K', '12345678Z', 'X1234567L', 'A28015865', 'Q2826000H', 'A00000000', 'P2807900B'])
    expect(isNif(nif), nif).toBe(true);
  for (const nif of ['12345678A', 'X1234567M', 'A28015866', 'Q2826000A', '1234567Z', 'A2801586', ''])
    expect(isNif(nif), nif).toBe(false);
});

test('[DOC-02] a country is known by code or name', () => {
  expect(['es', ' España ', 'ESPANA', 'Spain', 'México', 'Países Bajos', 'X', 'EU'].map(countryOf)).toEqual([
    'ES',
    'ES',
    'ES',
    'ES',
    'MX',
    'NL',
    undefined,
    undefined,
  ]);
});
