// Facturae and UBL of what invoices say. That both are valid against the published schemas is `npm run prove:e-invoices`.
import fc from 'fast-check';
import { XmlDocument } from 'libxml2-wasm';
import { describe, expect, test } from 'vitest';
import type { ContentParty, DocumentContent } from '../../documents/content.ts';
import { facturae } from '../../documents/e-invoices/facturae.ts';
import type { EInvoice } from '../../documents/e-invoices/parts.ts';
import { ubl } from '../../documents/e-invoices/ubl.ts';
import { client, invoice, invoices, line } from './arbitrary-content.ts';

const NAMESPACES = {
  cac: 'urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2',
  cbc: 'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2',
};

/** The texts of what an XPath finds in the XML. */
type Read = (xpath: string) => string[];

function readXml(xml: string): Read {
  const document = XmlDocument.fromString(xml);
  return (xpath) => document.find(xpath, NAMESPACES).map(({ content }) => content);
}

function xmlOf(made: EInvoice): string {
  if ('problems' in made) throw new Error(JSON.stringify(made.problems));
  return made.xml;
}
const readFacturae = (content: DocumentContent) => readXml(xmlOf(facturae(content)));
const readUbl = (content: DocumentContent) => readXml(xmlOf(ubl(content)));

/** Exact, in units of 10^-8. */
const units = (text: string) => {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  expect(whole).not.toBe('');
  return BigInt(`${sign}${whole}${fraction.padEnd(8, '0')}`);
};
const total = (texts: readonly string[]) => texts.reduce((all, text) => all + units(text), 0n);
const of = (read: Read, xpath: string) => total(read(xpath));

const mixed = invoice({
  observaciones: '<p>Gracias por su compra &amp; <b>hasta pronto</b></p><script>alert(1)</script><p>Portes pagados</p>',
  lineas: [
    line({ descuento: '10', recargo: '5.2', descripcion_ampliada: 'Crianza de 2023' }),
    line({ descripcion: 'Curso', cantidad: '1', importe_unitario: '200', iva: '0', exencion: 'E1' }),
    line({
      descripcion: 'Alquiler',
      cantidad: '3',
      importe_unitario: '0.33333',
      fecha_inicio: '2026-11-01',
      fecha_fin: '2026-11-03',
    }),
  ],
  retencion: '15',
  vencimientos: [
    { fecha: '2026-12-22', importe: '150' },
    { fecha: '2027-01-22', importe: '146.16' },
  ],
});

const credit = invoice({
  numero: 'R2026/00003',
  tipo_factura: 'R1',
  rectifica: { numero: 'F2026/00042', fecha: '2026-02-10', motivo: 'Botellas rotas' },
  lineas: [line({ cantidad: '-2', descuento: '10' }), line({ cantidad: '1', importe_unitario: '5' })],
});

test('[DOC-04] both say that an invoice is of the cash scheme, and nothing else changes', () => {
  const emisor = { ...mixed.emisor, regimen_iva: 'caja' as const };
  const words = 'Régimen especial del criterio de caja';
  for (const content of [mixed, credit]) {
    const own = { ...content, emisor };
    expect(readFacturae(own)('//LegalReference').at(-1)).toBe(words);
    expect(readUbl(own)('/*/cbc:Note').at(-1)).toBe(words);
    for (const write of [facturae, ubl]) {
      const written = xmlOf(write(own));
      const without = written.replace(new RegExp(`<(cbc:Note|LegalReference)>${words}</\\1>`), '');
      expect(without.replace('<LegalLiterals></LegalLiterals>', '')).toBe(xmlOf(write(content)));
    }
  }
});

describe('Facturae', () => {
  test('[DOC-04] tells the lines with their discounts and taxes, and the sums of the content', () => {
    const read = readFacturae(mixed);
    expect([mixed.base, mixed.total, mixed.a_pagar]).toEqual(['313.50', '343.19', '296.16']);
    expect(read('//InvoiceHeader/*')).toEqual(['F2026/00042', 'FC', 'OO']);
    expect(read('/*/Invoices/Invoice/TaxesOutputs/Tax/TaxRate')).toEqual(['21.00', '0.00', '21.00']);
    expect(read('/*/Invoices/Invoice/TaxesOutputs/Tax[1]//*[not(*)]')).toEqual([
      '01',
      '21.00',
      '112.50',
      '23.63',
      '5.20',
      '5.85',
    ]);
    expect(read('/*/Invoices/Invoice/TaxesWithheld//*[not(*)]')).toEqual(['04', '15.00', '313.50', '47.03']);
    expect(read('//InvoiceTotals/*')).toEqual(['313.50', '313.50', '29.69', '47.03', '296.16', '296.16', '296.16']);
    const first = '//InvoiceLine[1]';
    expect(
      read(`${first}/ItemDescription | ${first}/Quantity | ${first}/UnitPriceWithoutTax | ${first}/TotalCost`),
    ).toEqual(['Vino tinto', '10', '12.50', '125.00']);
    expect(read(`${first}/DiscountsAndRebates/Discount/*`)).toEqual(['Descuento', '10.00', '12.50']);
    expect(read(`${first}/GrossAmount | ${first}/AdditionalLineItemInformation`)).toEqual([
      '112.50',
      'Crianza de 2023',
    ]);
    expect(read('//InvoiceLine[2]/SpecialTaxableEvent/*')).toEqual(['01', expect.stringContaining('artículo 20')]);
    expect(read('//InvoiceLine[3]/UnitPriceWithoutTax | //InvoiceLine[3]/TotalCost')).toEqual(['0.33333', '1.00']);
    expect(read('//InvoiceLine[3]/LineItemPeriod/*')).toEqual(['2026-11-01', '2026-11-03']);
    expect(read('//Installment/*')).toEqual([
      '2026-12-22',
      '150.00',
      '04',
      'ES9121000418450200051332',
      '2027-01-22',
      '146.16',
      '04',
      'ES9121000418450200051332',
    ]);
    expect(read('//LegalReference')).toEqual([expect.stringContaining('exenta de IVA')]);
    expect(read('//InvoiceAdditionalInformation')).toEqual(['Gracias por su compra & hasta pronto\nPortes pagados']);
  });

  test('[DOC-04] what a line costs is told in cents, and what is taken off it, so that they meet what is charged', () => {
    const lineas = [line({ cantidad: '3.001', importe_unitario: '0.33333', descuento: '10' })];
    const read = readFacturae(invoice({ lineas }));
    expect(read('//TotalCost | //DiscountAmount | //GrossAmount')).toEqual(['1.00', '0.10', '0.90']);
  });

  test('[DOC-04] a rectifying invoice names the one that it rectifies, by differences', () => {
    const read = readFacturae(credit);
    expect(read('//InvoiceClass | //Corrective//*[not(*)]')).toEqual([
      'OR',
      'F2026/00042',
      '16',
      'Base imponible',
      '2026-02-01',
      '2026-02-28',
      '02',
      'Rectificación por diferencias',
      'Botellas rotas',
      '2026-02-10',
    ]);
    expect(read('//InvoiceTotal')).toEqual([credit.total]);
    expect(readFacturae({ ...credit, tipo_factura: 'R3' })('//ReasonCode')).toEqual(['85']);
    expect(read('//Installment')).toEqual([]);
  });

  test.each<[Partial<ContentParty>, string[]]>([
    [{}, ['F', 'R', '12345678Z', 'María José', 'Pérez', 'Gómez', 'ESP']],
    [{ nombre_fiscal: 'Ana Ruiz' }, ['F', 'R', '12345678Z', 'Ana', 'Ruiz', 'ESP']],
    [{ nombre_fiscal: 'Ana' }, ['F', 'R', '12345678Z', 'Ana', '-', 'ESP']],
    [{ cif: 'es b-12.345.674', nombre_fiscal: 'Vinos SL' }, ['J', 'R', 'B12345674', 'Vinos SL', 'ESP']],
    [
      { cif: 'FR 40 303265045', pais: 'Francia', nombre_fiscal: 'Vins SA' },
      ['J', 'U', 'FR40303265045', 'Vins SA', 'FRA'],
    ],
    [{ cif: '094014201', pais: 'Grecia', nombre_fiscal: 'Οίνος' }, ['J', 'U', 'EL094014201', 'Οίνος', 'GRC']],
    [
      { cif: 'X1234567L', pais: 'FR', nombre_fiscal: 'Jean Dupont' },
      ['F', 'U', 'ESX1234567L', 'Jean', 'Dupont', 'FRA'],
    ],
    [{ cif: '12-3456789', pais: 'EE. UU.', nombre_fiscal: 'Wines Inc.' }, ['J', 'E', '123456789', 'Wines Inc.', 'USA']],
    [{ cif: 'GB1', pais: 'England, UK' }, []],
  ])('[DOC-04] a client %o', (change, expected) => {
    const made = facturae(invoice({ cliente: { ...client, ...change } }));
    if (expected.length === 0)
      return expect('problems' in made && made.problems.map(({ campo }) => campo)).toEqual(['cliente.pais']);
    const buyer = '//BuyerParty';
    const name = ['CorporateName', 'Name', 'FirstSurname', 'SecondSurname']
      .map((tag) => `${buyer}//${tag}`)
      .join(' | ');
    expect(readXml(xmlOf(made))(`${buyer}/TaxIdentification/* | ${name} | ${buyer}//CountryCode`)).toEqual(expected);
  });

  test('[DOC-04] abroad, the province may be missing; between two countries of the Union the issuer has its prefix too', () => {
    const abroad = {
      ...client,
      cif: '303265045',
      pais: 'Portugal',
      cp: '1100-148',
      poblacion: 'Lisboa',
      provincia: '',
    };
    const read = readFacturae(invoice({ cliente: abroad }));
    expect(read('//OverseasAddress/*')).toEqual(['Gran Vía, 1', '1100-148 Lisboa', 'Lisboa', 'PRT']);
    expect(read('//SellerParty/TaxIdentification/TaxIdentificationNumber')).toEqual(['ESB12345674']);
  });

  test.each([
    ['01001', ['Álava'], []],
    ['11001', ['Cádiz'], []],
    ['20001', ['Gipuzkoa'], []],
    ['28013', ['Madrid'], []],
    ['38001', ['Santa Cruz de Teneri'], []],
    ['46003', ['Valencia'], []],
    ['48001', ['Bizkaia'], []],
    ['50001', ['Zaragoza'], []],
    ['52001', ['Melilla'], []],
    ['00001', [], ['cliente.provincia']],
    ['53001', [], ['cliente.provincia']],
    ['280', [], ['cliente.provincia', 'cliente.cp']],
  ])('[DOC-04] without a province, it is that of the postal code %s: %o', (cp, provinces, missing) => {
    const made = facturae(invoice({ cliente: { ...client, cp, provincia: '' } }));
    if ('problems' in made) expect(made.problems.map(({ campo }) => campo)).toEqual(missing);
    else expect(readXml(made.xml)('//BuyerParty//Province')).toEqual(provinces);
    expect('problems' in made).toBe(missing.length > 0);
  });

  test('[DOC-04] a province that is said stays; a postal code abroad has no Spanish one', () => {
    const said = { ...client, cp: '28013', provincia: 'Toledo' };
    expect(readFacturae(invoice({ cliente: said }))('//BuyerParty//Province')).toEqual(['Toledo']);
    const abroad = { ...client, cp: '75001', poblacion: 'Paris', provincia: '', cif: 'FR40303265045', pais: 'FR' };
    for (const cp of ['75001', '28013'])
      expect(readFacturae(invoice({ cliente: { ...abroad, cp } }))('//BuyerParty//Province')).toEqual(['Paris']);
  });

  test('[DOC-04] everything that is missing is named at once', () => {
    const nobody = {
      nombre_fiscal: ' ',
      cif: '',
      email: '',
      direccion: '',
      cp: '',
      poblacion: '',
      provincia: '',
      pais: '',
    };
    const problems = (content: DocumentContent, of = facturae) => {
      const made = of(content);
      return 'problems' in made ? made.problems.map(({ campo }) => campo).toSorted() : [];
    };
    const fields = ['cif', 'cp', 'direccion', 'nombre_fiscal', 'poblacion', 'provincia'];
    const empty = invoice({
      numero: null,
      emisor: { ...nobody, iban: '' },
      cliente: { ...nobody, pais: 'Atlántida' },
      lineas: [],
    });
    expect(problems(empty)).toEqual([
      ...['cif', 'direccion', 'nombre_fiscal', 'pais', 'poblacion'].map((field) => `cliente.${field}`),
      ...fields.map((field) => `emisor.${field}`),
      'lineas',
      'numero',
    ]);
    expect(problems(empty, ubl)).toEqual([
      'cliente.nombre_fiscal',
      'cliente.pais',
      'emisor.cif',
      'emisor.nombre_fiscal',
      'lineas',
      'numero',
    ]);
    expect(problems(invoice({ cliente: { ...client, cp: '2801' } }))).toEqual(['cliente.cp']);
    expect(problems({ ...invoice(), tipo: 'albaran' })).toEqual(['tipo']);
    expect(problems(invoice({ numero: 'F'.repeat(41) }))).toEqual(['numero']);
    expect(problems(invoice({ cliente: { ...client, pais: 'Antártida' } }))).toEqual(['cliente.pais']);
    const reversed = [line({ iva: '0', exencion: 'S2' })];
    expect(problems(invoice({ cliente: { ...client, cif: '' }, lineas: reversed }), ubl)).toEqual(['cliente.cif']);
  });

  test('[DOC-04] what is longer than the schema allows is cut; a long number begins with its series', () => {
    const long = { ...client, cif: 'B12345674', provincia: 'Santa Cruz de Tenerife', nombre_fiscal: '🍷'.repeat(90) };
    const read = readFacturae(
      invoice({
        numero: 'DEPARTAMENTO-EXPORT-2026-000123',
        cliente: long,
        lineas: [line({ descripcion: 'Descripción '.repeat(500) })],
      }),
    );
    expect(read('//InvoiceHeader/InvoiceNumber | //InvoiceSeriesCode')).toEqual([
      'O-EXPORT-2026-000123',
      'DEPARTAMENT',
    ]);
    expect(read('//BuyerParty//Province | //BuyerParty//CorporateName')).toEqual([
      '🍷'.repeat(80),
      'Santa Cruz de Teneri',
    ]);
    expect(read('//ItemDescription')[0]).toHaveLength(2500);
  });

  test('[DOC-04] of any invoice the sums are those of its parts, exactly', () => {
    fc.assert(
      fc.property(invoices, (content) => {
        const read = readFacturae(content);
        const outputs = '/*/Invoices/Invoice/TaxesOutputs/Tax';
        expect(of(read, '//GrossAmount')).toBe(of(read, '//TotalGrossAmount'));
        expect(of(read, '//TotalCost') - of(read, '//DiscountAmount')).toBe(of(read, '//GrossAmount'));
        expect(of(read, `${outputs}/TaxableBase`)).toBe(of(read, '//TotalGrossAmountBeforeTaxes'));
        const taxes = of(read, `${outputs}/TaxAmount`) + of(read, `${outputs}/EquivalenceSurchargeAmount`);
        expect(taxes).toBe(of(read, '//TotalTaxOutputs'));
        expect(of(read, '/*/Invoices/Invoice/TaxesWithheld/Tax/TaxAmount')).toBe(of(read, '//TotalTaxesWithheld'));
        expect(of(read, '//InvoiceTotal')).toBe(
          of(read, '//TotalGrossAmountBeforeTaxes') + of(read, '//TotalTaxOutputs') - of(read, '//TotalTaxesWithheld'),
        );
        expect(read('//InvoiceTotal')).toEqual(read('//TotalInvoicesAmount'));
        for (const text of read('//ItemDescription | //AdditionalLineItemInformation | //InvoiceDescription'))
          expect([...text].length).toBeLessThanOrEqual(2500);
      }),
    );
  });
});

describe('UBL', () => {
  test('[DOC-04] is an invoice by EN 16931: the surcharge is in the rate, the withheld tax in a note', () => {
    const read = readUbl(mixed);
    expect(read('/*/cbc:*[not(self::cbc:Note)]')).toEqual([
      'urn:cen.eu:en16931:2017',
      'F2026/00042',
      '2026-11-22',
      '380',
      'EUR',
    ]);
    expect(read('//cac:TaxSubtotal[1]//*[not(*)]')).toEqual(['112.50', '29.48', 'S', '26.2', 'VAT']);
    expect(read('//cac:TaxSubtotal[2]//*[not(*)]')).toEqual([
      '200.00',
      '0.00',
      'E',
      '0',
      expect.stringContaining('artículo 20'),
      'VAT',
    ]);
    expect(read('//cac:LegalMonetaryTotal/*')).toEqual(['313.50', '313.50', '343.19', '343.19']);
    expect(read('/*/cbc:Note')).toEqual([
      'Vinos de noviembre',
      'Gracias por su compra & hasta pronto\nPortes pagados',
      'Sobre 112,50 EUR: IVA del 21 %, 23,63 EUR; recargo de equivalencia del 5,2 %, 5,85 EUR.',
      'Retención de IRPF del 15 % sobre 313,50 EUR: 47,03 EUR. A pagar: 296,16 EUR.',
    ]);
    expect(read('//cac:PaymentTerms/cbc:Note')).toEqual([
      'Vencimientos: 2026-12-22, 150,00 EUR; 2027-01-22, 146,16 EUR. Retención de IRPF del 15 % sobre 313,50 EUR: 47,03 EUR. A pagar: 296,16 EUR.',
    ]);
    expect(read('//cac:PaymentMeans//*[not(*)]')).toEqual(['30', 'F2026/00042', 'ES9121000418450200051332']);
    expect(read('//cac:InvoiceLine[1]/cac:AllowanceCharge/*')).toEqual(['false', 'Descuento', '10', '12.50', '125.00']);
    expect(read('//cac:AccountingCustomerParty//cbc:CompanyID')).toEqual(['ES12345678Z', '12345678Z']);
  });

  test('[DOC-04] a rectifying invoice is a credit note: what it takes off is positive', () => {
    const read = readUbl(credit);
    expect(read('/*/cbc:CreditNoteTypeCode')).toEqual(['381']);
    expect(read('//cac:BillingReference//*[not(*)]')).toEqual(['F2026/00042', '2026-02-10']);
    expect(read('//cbc:CreditedQuantity')).toEqual(['2', '-1']);
    expect(read('//cac:CreditNoteLine/cbc:LineExtensionAmount')).toEqual(['22.50', '-5.00']);
    expect(read('//cbc:PayableAmount')).toEqual(['21.18']);
    expect(read('/*/cbc:Note')).toContain('Rectifica la factura F2026/00042 de 2026-02-10. Botellas rotas');
    const withoutNumber = readUbl({ ...credit, rectifica: { numero: null, fecha: '2026-02-10', motivo: '' } });
    expect(withoutNumber('//cac:BillingReference')).toEqual([]);
    expect(withoutNumber('/*/cbc:Note')).toContain('Rectifica la factura de 2026-02-10.');
  });

  test('[DOC-04] one due date has its own element; prices are positive', () => {
    const read = readUbl(
      invoice({
        vencimientos: [{ fecha: '2026-12-01', importe: '1' }],
        lineas: [line({ importe_unitario: '-2.5', cantidad: '2' }), line()],
      }),
    );
    expect(read('/*/cbc:DueDate')).toEqual(['2026-12-01']);
    expect(read('//cac:PaymentTerms')).toEqual([]);
    expect(read('//cbc:InvoicedQuantity | //cbc:PriceAmount')).toEqual(['-2', '2.50', '10', '12.50']);
  });

  test.each<[DocumentContent['lineas'][number]['exencion'], Partial<ContentParty>, string]>([
    ['E1', {}, 'E'],
    ['E2', { cif: '12-3456789', pais: 'US' }, 'G'],
    ['E5', { cif: '303265045', pais: 'PT' }, 'K'],
    ['E5', {}, 'E'],
    ['S2', {}, 'AE'],
    ['N1', {}, 'O'],
    [null, {}, 'Z'],
  ])('[DOC-04] %s of a client %o is category %s', (exencion, change, category) => {
    const lineas = [line({ iva: '0', exencion })];
    const read = readUbl(invoice({ lineas, cliente: { ...client, ...change } }));
    expect(read('//cac:TaxCategory/cbc:ID | //cac:ClassifiedTaxCategory/cbc:ID')).toEqual([category, category]);
    expect(read('//cac:PartyTaxScheme')).toHaveLength(category === 'O' ? 0 : category === 'G' ? 1 : 2);
    expect(read('//cac:Delivery//*[not(*)]')).toEqual(category === 'K' ? ['2026-11-22', 'PT'] : []);
    // Beside a taxed line, one that is not subject is exempt.
    const both = readUbl(invoice({ lineas: [...lineas, line()], cliente: { ...client, ...change } }));
    expect(both('//cac:InvoiceLine[1]//cac:ClassifiedTaxCategory/cbc:ID')).toEqual([category === 'O' ? 'E' : category]);
  });

  test('[DOC-04] of any invoice the rules of EN 16931 about sums and categories hold', () => {
    fc.assert(
      fc.property(invoices, (content) => {
        const read = readUbl(content);
        const lines = '/*/*[self::cac:InvoiceLine or self::cac:CreditNoteLine]';
        // BR-CO-10, 13 to 16
        expect(of(read, '//cac:LegalMonetaryTotal/cbc:LineExtensionAmount')).toBe(
          of(read, `${lines}/cbc:LineExtensionAmount`),
        );
        expect(read('//cbc:TaxExclusiveAmount')).toEqual(read('//cac:LegalMonetaryTotal/cbc:LineExtensionAmount'));
        expect(of(read, '/*/cac:TaxTotal/cbc:TaxAmount')).toBe(of(read, '//cac:TaxSubtotal/cbc:TaxAmount'));
        expect(of(read, '//cbc:TaxInclusiveAmount')).toBe(
          of(read, '//cbc:TaxExclusiveAmount') + of(read, '/*/cac:TaxTotal/cbc:TaxAmount'),
        );
        expect(read('//cbc:PayableAmount')).toEqual(read('//cbc:TaxInclusiveAmount'));
        // BR-CO-17, and BR-S-08 and the like: each category and rate once, its base the sum of its lines.
        const categories = read('//cac:TaxSubtotal/cac:TaxCategory/cbc:ID');
        const seen = new Set<string>();
        for (const [index, category] of categories.entries()) {
          const at = `//cac:TaxSubtotal[${index + 1}]`;
          const [percent = ''] = read(`${at}//cbc:Percent`);
          const rate = category === 'O' ? 'not(cbc:Percent)' : `cbc:Percent='${percent}'`;
          const own = `${lines}[cac:Item/cac:ClassifiedTaxCategory[cbc:ID='${category}' and ${rate}]]`;
          const [base, tax] = [of(read, `${at}/cbc:TaxableAmount`), of(read, `${at}/cbc:TaxAmount`)];
          expect(base).toBe(of(read, `${own}/cbc:LineExtensionAmount`));
          const off = tax - (category === 'O' ? 0n : (base * units(percent)) / 10_000_000_000n);
          expect(off > -2_000_000n && off < 2_000_000n, `${category} ${percent}: off by ${off}`).toBe(true);
          expect(category === 'S' ? units(percent) > 0n : category === 'O' || percent === '0').toBe(true);
          // BR-E-10 and the like, BR-S-10
          expect(read(`${at}//cbc:TaxExemptionReason`)).toHaveLength(category === 'S' || category === 'Z' ? 0 : 1);
          seen.add(`${category} ${percent}`);
        }
        expect(seen.size).toBe(categories.length);
        // BR-O-02, 11
        if (categories.includes('O')) {
          expect(categories).toEqual(['O']);
          expect(read('//cac:PartyTaxScheme')).toEqual([]);
        }
        // BR-27
        for (const price of read('//cbc:PriceAmount')) expect(price).not.toContain('-');
        expect(read('//*[not(*) and not(normalize-space())]')).toEqual([]);
      }),
    );
  });
});
