// Facturae 3.2.2, unsigned: one invoice a file. Facturae tells a discount and each tax of a line; the amounts are those of the content. DOC-04
import { type Decimal, decimal, literal, negated, percentOf, rounded, sum, times } from '../../platform/decimal.ts';
import type { ContentLine, DocumentContent, InvoiceType } from '../content.ts';
import { isInUnion, threeLetters } from '../countries.ts';
import { REASONS } from '../exemptions.ts';
import { schemeOf } from '../pdf/words.ts';
import { element, type Xml, xmlDocument } from '../xml.ts';
import {
  cut,
  type EInvoice,
  ibanOf,
  isRectifying,
  Needs,
  oneLine,
  type Party,
  plainText,
  vatId,
  withheldOf,
} from './parts.ts';

const NAMESPACE = 'http://www.facturae.gob.es/formato/Versiones/Facturaev3_2_2.xml';
const SIGNATURES = 'http://www.w3.org/2000/09/xmldsig#';

/** Countries that its schema lacks. */
const UNLISTED = new Set('AQ AX BL BQ BV CC CW CX GS HM IO MF SS SX TF UM'.split(' '));

/** Longest texts of the schema, in characters. */
const LONGEST = { line: 20, surname: 40, town: 50, address: 80, literal: 250, text: 2500 };

/** The change that a rectifying invoice makes: unpaid amounts in R2 and R3, else that of the taxable base. */
const REASON = {
  base: { code: '16', text: 'Base imponible' },
  unpaid: {
    code: '85',
    text: 'Base imponible modificada cuotas repercutidas no satisfechas. Auto de declaración de concurso',
  },
};
const reasonOf = (type: InvoiceType | null) => REASON[type === 'R2' || type === 'R3' ? 'unpaid' : 'base'];

export function facturae(content: DocumentContent): EInvoice {
  const needs = new Needs('Facturae');
  const number = needs.invoice(content);
  if ([...number].length > 2 * LONGEST.line)
    needs.add('numero', `Facturae admite hasta ${2 * LONGEST.line} caracteres`);
  const seller = partyOf(needs, 'emisor', content);
  const buyer = partyOf(needs, 'cliente', content);
  if (needs.problems.length > 0) return { problems: needs.problems };

  // Between two countries of the Union, both tax ids are written with their prefix.
  const acrossUnion = seller.country !== buyer.country && isInUnion(seller.country) && isInUnion(buyer.country);
  const toPay = decimal(content.a_pagar ?? content.total);
  const batch = ['TotalInvoicesAmount', 'TotalOutstandingAmount', 'TotalExecutableAmount'];
  return {
    xml: xmlDocument(
      element(
        'fe:Facturae',
        [
          element('FileHeader', [
            element('SchemaVersion', '3.2.2'),
            element('Modality', 'I'),
            element('InvoiceIssuerType', 'EM'),
            element('Batch', [
              element('BatchIdentifier', cut(seller.taxId + number, 70)),
              element('InvoicesCount', '1'),
              ...batch.map((name) => amount(name, toPay)),
              element('InvoiceCurrencyCode', 'EUR'),
            ]),
          ]),
          element('Parties', [
            element('SellerParty', businessOf(seller, acrossUnion)),
            element('BuyerParty', businessOf(buyer, acrossUnion)),
          ]),
          element('Invoices', element('Invoice', invoiceOf(content, number, toPay))),
        ],
        { 'xmlns:fe': NAMESPACE, 'xmlns:ds': SIGNATURES },
      ),
    ),
  };
}

function partyOf(needs: Needs, who: 'emisor' | 'cliente', content: DocumentContent): Party {
  const party = needs.party(who, content[who]);
  needs.need(`${who}.cif`, party.taxId);
  if (party.taxId !== '' && ([...party.taxId].length < 3 || [...party.taxId].length > 28))
    needs.add(`${who}.cif`, 'Facturae admite de 3 a 28 caracteres');
  if (UNLISTED.has(party.country)) needs.add(`${who}.pais`, 'Facturae no lo tiene en su lista de países');
  needs.need(`${who}.direccion`, party.street);
  needs.need(`${who}.poblacion`, party.town);
  if (party.country === 'ES') {
    needs.need(`${who}.provincia`, party.province);
    if (!/^\d{5}$/.test(party.postcode)) needs.add(`${who}.cp`, 'Facturae exige las cinco cifras de un código postal');
  }
  return party;
}

function businessOf(party: Party, acrossUnion: boolean): (Xml | undefined)[] {
  const { country } = party;
  const email = [...party.email].length <= 60 ? party.email : '';
  const contact = [addressOf(party), element('ContactDetails', email ? element('ElectronicMail', email) : undefined)];
  return [
    element('TaxIdentification', [
      element('PersonTypeCode', party.isPerson ? 'F' : 'J'),
      element('ResidenceTypeCode', country === 'ES' ? 'R' : isInUnion(country) ? 'U' : 'E'),
      element('TaxIdentificationNumber', acrossUnion ? vatId(party) : party.taxId),
    ]),
    party.isPerson
      ? element('Individual', [...nameOf(party.name), ...contact])
      : element('LegalEntity', [element('CorporateName', cut(party.name, LONGEST.address)), ...contact]),
  ];
}

/** The last two words are the surnames; of two words one is. Who has but one is named so, with `-` for the surname that must be there. */
function nameOf(name: string) {
  const words = name.split(' ');
  const surnames = words.length > 1 ? words.splice(words.length > 2 ? -2 : -1) : ['-'];
  const parts = [words.join(' '), ...surnames].map((part) => cut(part, LONGEST.surname));
  return ['Name', 'FirstSurname', 'SecondSurname'].map((tag, index) => element(tag, parts[index]));
}

function addressOf({ country, street, postcode, town, province }: Party) {
  const address = element('Address', cut(street, LONGEST.address));
  const inCountry = element('CountryCode', threeLetters(country));
  if (country !== 'ES')
    return element('OverseasAddress', [
      address,
      element('PostCodeAndTown', cut(`${postcode} ${town}`.trim(), LONGEST.town)),
      element('Province', cut(province || town, LONGEST.line)),
      inCountry,
    ]);
  return element('AddressInSpain', [
    address,
    element('PostCode', postcode),
    element('Town', cut(town, LONGEST.town)),
    element('Province', cut(province, LONGEST.line)),
    inCountry,
  ]);
}

function invoiceOf(content: DocumentContent, number: string, toPay: Decimal): (Xml | undefined)[] {
  const { tipo_factura, fecha, concepto, desglose, retencion, rectifica, lineas } = content;
  const [base, total, withheld] = [decimal(content.base), decimal(content.total), withheldOf(content)];
  const isSimplified = tipo_factura === 'F2' || tipo_factura === 'R5';
  const reasons = [...new Set(lineas.flatMap(({ exencion }) => (exencion ? REASONS[exencion] : [])))];
  const literals = [...reasons, schemeOf(content)]
    .filter(Boolean)
    .map((reason) => element('LegalReference', cut(reason, LONGEST.literal)));
  const remarks = cut(plainText(content.observaciones), LONGEST.text);
  return [
    element('InvoiceHeader', [
      ...numberOf(number),
      element('InvoiceDocumentType', isSimplified ? 'FA' : 'FC'),
      element('InvoiceClass', isRectifying(content) ? 'OR' : 'OO'),
      rectifica ? correctiveOf(rectifica, tipo_factura) : undefined,
    ]),
    element('InvoiceIssueData', [
      element('IssueDate', fecha),
      element('InvoiceCurrencyCode', 'EUR'),
      element('TaxCurrencyCode', 'EUR'),
      element('LanguageName', 'es'),
      element('InvoiceDescription', cut(oneLine(concepto), LONGEST.text) || undefined),
    ]),
    element(
      'TaxesOutputs',
      desglose.map((rate) => taxOutput(rate, decimal(rate.base), decimal(rate.cuota), decimal(rate.cuota_recargo))),
    ),
    element('TaxesWithheld', taxWithheld(retencion, base, withheld)),
    element('InvoiceTotals', [
      element('TotalGrossAmount', text(base)),
      element('TotalGrossAmountBeforeTaxes', text(base)),
      element('TotalTaxOutputs', text(sum([total, negated(base)]))),
      element('TotalTaxesWithheld', text(withheld)),
      element('InvoiceTotal', text(toPay)),
      element('TotalOutstandingAmount', text(toPay)),
      element('TotalExecutableAmount', text(toPay)),
    ]),
    element(
      'Items',
      lineas.map((line) => element('InvoiceLine', lineOf(line, retencion))),
    ),
    paymentOf(content),
    element('LegalLiterals', literals),
    element('AdditionalData', remarks ? element('InvoiceAdditionalInformation', remarks) : undefined),
  ];
}

/** A number that is longer than the format's begins with its series. */
function numberOf(number: string): (Xml | undefined)[] {
  const characters = [...number];
  const series = characters.slice(0, -LONGEST.line).join('');
  return [
    element('InvoiceNumber', characters.slice(-LONGEST.line).join('')),
    element('InvoiceSeriesCode', series || undefined),
  ];
}

function correctiveOf({ numero, fecha, motivo }: NonNullable<DocumentContent['rectifica']>, type: InvoiceType | null) {
  const reason = reasonOf(type);
  const month = Temporal.PlainDate.from(fecha).toPlainYearMonth();
  return element('Corrective', [
    ...(numero ? numberOf(cut(oneLine(numero), 2 * LONGEST.line)) : []),
    element('ReasonCode', reason.code),
    element('ReasonDescription', reason.text),
    element('TaxPeriod', [
      element('StartDate', month.toPlainDate({ day: 1 }).toString()),
      element('EndDate', month.toPlainDate({ day: month.daysInMonth }).toString()),
    ]),
    element('CorrectionMethod', '02'),
    element('CorrectionMethodDescription', 'Rectificación por diferencias'),
    element('AdditionalReasonDescription', cut(oneLine(motivo), LONGEST.text) || undefined),
    element('InvoiceIssueDate', fecha),
  ]);
}

function lineOf(line: ContentLine, retencion: string | null): (Xml | undefined)[] {
  const { exencion, fecha_inicio, fecha_fin } = line;
  const [amountOfLine, price, discount] = [
    decimal(line.importe),
    decimal(line.importe_unitario),
    decimal(line.descuento),
  ];
  const quantity = decimal(line.cantidad);
  const cost = discount.units === 0n ? amountOfLine : rounded(times(quantity, price), 2);
  const percent = (rate: string) => percentOf(amountOfLine, decimal(rate));
  const start = fecha_inicio ?? fecha_fin;
  return [
    element('ItemDescription', cut(oneLine(line.descripcion) || '-', LONGEST.text)),
    element('Quantity', literal(quantity, 0, quantity.scale)),
    element('UnitPriceWithoutTax', text(price)),
    element('TotalCost', text(cost)),
    discount.units === 0n
      ? undefined
      : element(
          'DiscountsAndRebates',
          element('Discount', [
            element('DiscountReason', 'Descuento'),
            element('DiscountRate', text(discount)),
            element('DiscountAmount', text(sum([cost, negated(amountOfLine)]))),
          ]),
        ),
    element('GrossAmount', text(amountOfLine)),
    element('TaxesWithheld', taxWithheld(retencion, amountOfLine, percent(retencion ?? '0'))),
    element('TaxesOutputs', taxOutput(line, amountOfLine, percent(line.iva), percent(line.recargo))),
    element(
      'LineItemPeriod',
      start ? [element('StartDate', start), element('EndDate', fecha_fin ?? start)] : undefined,
    ),
    element('AdditionalLineItemInformation', cut(oneLine(line.descripcion_ampliada), LONGEST.text) || undefined),
    exencion && exencion !== 'S2'
      ? element('SpecialTaxableEvent', [
          element('SpecialTaxableEventCode', exencion.startsWith('E') ? '01' : '02'),
          element('SpecialTaxableEventReason', REASONS[exencion]),
        ])
      : undefined,
  ];
}

/** An instalment for each date; without dates, one of everything if there is an account to pay into. */
function paymentOf(content: DocumentContent) {
  const iban = ibanOf(content);
  const whole = [{ fecha: content.fecha, importe: content.a_pagar ?? content.total }];
  const isOwed = decimal(content.a_pagar ?? content.total).units > 0n;
  const parts = content.vencimientos.length > 0 ? content.vencimientos : iban && isOwed ? whole : [];
  return element(
    'PaymentDetails',
    parts.map(({ fecha, importe }) =>
      element('Installment', [
        element('InstallmentDueDate', fecha),
        element('InstallmentAmount', literal(decimal(importe), 2, 2)),
        // By transfer, or in a way that isn't known.
        element('PaymentMeans', iban ? '04' : '13'),
        element('AccountToBeCredited', iban ? element('IBAN', iban) : undefined),
      ]),
    ),
  );
}

function taxOutput(
  { iva, recargo }: { iva: string; recargo: string },
  base: Decimal,
  vat: Decimal,
  surcharge: Decimal,
) {
  const rate = decimal(recargo);
  return element('Tax', [
    element('TaxTypeCode', '01'),
    element('TaxRate', text(decimal(iva))),
    amount('TaxableBase', base),
    amount('TaxAmount', vat),
    ...(rate.units === 0n
      ? []
      : [element('EquivalenceSurcharge', literal(rate, 2, 2)), amount('EquivalenceSurchargeAmount', surcharge)]),
  ]);
}

function taxWithheld(rate: string | null, base: Decimal, withheld: Decimal) {
  if (rate === null) return undefined;
  return element('Tax', [
    element('TaxTypeCode', '04'),
    element('TaxRate', text(decimal(rate))),
    amount('TaxableBase', base),
    amount('TaxAmount', withheld),
  ]);
}

const amount = (name: string, value: Decimal) => element(name, element('TotalAmount', text(value)));

/** `DoubleUpToEightDecimalType` */
const text = (value: Decimal) => literal(value, 2, 8);
