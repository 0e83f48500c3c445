// UBL 2.1 as EN 16931 has it: an Invoice, or for a rectifying one a CreditNote, whose amounts have the opposite sign. DOC-04
//
// EN 16931 has one VAT rate a line and no other tax, so the equivalence surcharge is part of the rate (26.2 for 21 and 5.2), and a note
// tells the two apart. It has no withheld tax: what is payable is the total, and a note and the payment terms tell what is withheld.
import { type Decimal, decimal, literal, negated, rounded, sum, times } from '../../platform/decimal.ts';
import type { ContentLine, ContentRate, DocumentContent, Exemption } from '../content.ts';
import { isInUnion } from '../countries.ts';
import { REASONS } from '../exemptions.ts';
import { schemeOf } from '../pdf/words.ts';
import { element, type Xml, xmlDocument } from '../xml.ts';
import {
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

const NAMESPACE = 'urn:oasis:names:specification:ubl:schema:xsd:';

/** UNTDID 5305: standard, zero, exempt, not subject, reverse charge, within the Union, exported. */
type Category = 'S' | 'Z' | 'E' | 'O' | 'AE' | 'K' | 'G';

const CATEGORIES: Readonly<Record<Exemption, Category>> = {
  E1: 'E',
  E2: 'G',
  E3: 'E',
  E4: 'E',
  E5: 'K',
  E6: 'E',
  N1: 'O',
  N2: 'O',
  S2: 'AE',
};

/** Codes of reasons, where the category has but one. */
const REASON_CODES: Partial<Record<Category, string>> = {
  O: 'VATEX-EU-O',
  AE: 'VATEX-EU-AE',
  K: 'VATEX-EU-IC',
  G: 'VATEX-EU-G',
};

type Taxed = Pick<ContentLine, 'iva' | 'recargo' | 'exencion'>;

/** A row of the VAT breakdown. */
interface Group {
  category: Category;
  percent: Decimal;
  base: Decimal;
  tax: Decimal;
  reasons: Set<string>;
}

export function ubl(content: DocumentContent): EInvoice {
  const needs = new Needs('UBL');
  const number = needs.invoice(content);
  const seller = needs.party('emisor', content.emisor);
  const buyer = needs.party('cliente', content.cliente);
  needs.need('emisor.cif', seller.taxId);
  const categoryOf = categories(content, buyer);
  if (buyer.taxId === '' && content.lineas.some((line) => categoryOf(line) === 'AE'))
    needs.add('cliente.cif', 'UBL lo exige con inversión del sujeto pasivo, y no consta en la factura');
  if (needs.problems.length > 0) return { problems: needs.problems };

  const isCredit = isRectifying(content);
  const signed = (amount: string) => (isCredit ? negated(decimal(amount)) : decimal(amount));
  const groups = groupsOf(content.desglose, categoryOf, signed);
  const hasVatIds = !groups.some(({ category }) => category === 'O');
  const [base, total] = [signed(content.base), signed(content.total)];
  const [first, ...later] = content.vencimientos;
  const dueDate = isCredit || later.length > 0 ? undefined : first?.fecha;
  const name = isCredit ? 'CreditNote' : 'Invoice';
  return {
    xml: xmlDocument(
      element(
        name,
        [
          element('cbc:CustomizationID', 'urn:cen.eu:en16931:2017'),
          element('cbc:ID', number),
          element('cbc:IssueDate', content.fecha),
          element('cbc:DueDate', dueDate),
          element(`cbc:${name}TypeCode`, isCredit ? '381' : '380'),
          ...notesOf(content).map((note) => element('cbc:Note', note)),
          element('cbc:DocumentCurrencyCode', 'EUR'),
          rectifiedBy(content),
          element('cac:AccountingSupplierParty', partyOf(seller, hasVatIds)),
          element('cac:AccountingCustomerParty', partyOf(buyer, hasVatIds && hasVatId(buyer))),
          groups.some(({ category }) => category === 'K') ? deliveryOf(content, buyer) : undefined,
          isCredit ? undefined : meansOf(content, number),
          element('cac:PaymentTerms', element('cbc:Note', termsOf(content, dueDate !== undefined, signed))),
          element('cac:TaxTotal', [
            amount('cbc:TaxAmount', sum(groups.map(({ tax }) => tax))),
            ...groups.map(subtotalOf),
          ]),
          element('cac:LegalMonetaryTotal', [
            amount('cbc:LineExtensionAmount', base),
            amount('cbc:TaxExclusiveAmount', base),
            amount('cbc:TaxInclusiveAmount', total),
            amount('cbc:PayableAmount', total),
          ]),
          ...content.lineas.map((line, index) =>
            element(`cac:${name}Line`, [
              element('cbc:ID', String(index + 1)),
              ...lineOf(line, { isCredit, category: categoryOf(line) }),
            ]),
          ),
        ],
        {
          xmlns: `${NAMESPACE}${name}-2`,
          'xmlns:cac': `${NAMESPACE}CommonAggregateComponents-2`,
          'xmlns:cbc': `${NAMESPACE}CommonBasicComponents-2`,
        },
      ),
    ),
  };
}

const rateOf = ({ iva, recargo }: Taxed) => sum([decimal(iva), decimal(recargo)]);

/** The category of a line or rate. */
function categories({ lineas }: DocumentContent, buyer: Party): (of: Taxed) => Category {
  const ofOne = (of: Taxed): Category => {
    if (rateOf(of).units !== 0n) return 'S';
    if (!of.exencion) return 'Z';
    const category = CATEGORIES[of.exencion];
    // Nothing goes to another country of the Union without its client's VAT number: such a line is just exempt.
    const isWithinUnion = hasVatId(buyer) && buyer.country !== 'ES';
    return category === 'K' && !isWithinUnion ? 'E' : category;
  };
  // An invoice may have no other lines beside those that are not subject: BR-O-11. Beside others, they are exempt for the reason given.
  const isMixed = lineas.some((line) => ofOne(line) !== 'O');
  return (of) => {
    const category = ofOne(of);
    return category === 'O' && isMixed ? 'E' : category;
  };
}

/** One group a category and rate: BR-S-08, BR-E-01. */
function groupsOf(
  rates: readonly ContentRate[],
  categoryOf: (of: Taxed) => Category,
  signed: (amount: string) => Decimal,
): Group[] {
  const groups = new Map<string, Group>();
  for (const rate of rates) {
    const [category, percent] = [categoryOf(rate), rateOf(rate)];
    const key = `${category} ${percentText(percent)}`;
    const group = groups.get(key) ?? { category, percent, base: decimal('0'), tax: decimal('0'), reasons: new Set() };
    group.base = sum([group.base, signed(rate.base)]);
    group.tax = sum([group.tax, signed(rate.cuota), signed(rate.cuota_recargo)]);
    if (rate.exencion && category !== 'S') group.reasons.add(REASONS[rate.exencion]);
    groups.set(key, group);
  }
  return [...groups.values()];
}

const subtotalOf = ({ category, percent, base, tax, reasons }: Group) =>
  element('cac:TaxSubtotal', [
    amount('cbc:TaxableAmount', base),
    amount('cbc:TaxAmount', tax),
    element('cac:TaxCategory', [
      ...rateElements(category, percent),
      element('cbc:TaxExemptionReasonCode', REASON_CODES[category]),
      element('cbc:TaxExemptionReason', [...reasons].join(' ') || undefined),
      VAT,
    ]),
  ]);

const VAT = element('cac:TaxScheme', element('cbc:ID', 'VAT'));

const rateElements = (category: Category, percent: Decimal) => [
  element('cbc:ID', category),
  category === 'O' ? undefined : element('cbc:Percent', percentText(percent)),
];

const hasVatId = ({ taxId, country }: Party) => taxId !== '' && isInUnion(country);

/** Where something is not subject to VAT, nobody has a VAT number: BR-O-02. */
function partyOf(party: Party, withVatId: boolean) {
  return element('cac:Party', [
    element('cac:PostalAddress', [
      written('cbc:StreetName', party.street),
      written('cbc:CityName', party.town),
      written('cbc:PostalZone', party.postcode),
      written('cbc:CountrySubentity', party.province),
      countryElement(party),
    ]),
    withVatId ? element('cac:PartyTaxScheme', [element('cbc:CompanyID', vatId(party)), VAT]) : undefined,
    element('cac:PartyLegalEntity', [
      element('cbc:RegistrationName', party.name),
      written('cbc:CompanyID', party.taxId),
    ]),
    element('cac:Contact', written('cbc:ElectronicMail', party.email)),
  ]);
}

const countryElement = ({ country }: Party) => element('cac:Country', element('cbc:IdentificationCode', country));

/** What goes to another country of the Union says when and where to: BR-IC-11, BR-IC-12. */
const deliveryOf = ({ fecha }: DocumentContent, buyer: Party) =>
  element('cac:Delivery', [
    element('cbc:ActualDeliveryDate', fecha),
    element('cac:DeliveryLocation', element('cac:Address', countryElement(buyer))),
  ]);

function rectifiedBy({ rectifica }: DocumentContent) {
  const number = oneLine(rectifica?.numero ?? null);
  if (!rectifica || number === '') return undefined;
  return element(
    'cac:BillingReference',
    element('cac:InvoiceDocumentReference', [element('cbc:ID', number), element('cbc:IssueDate', rectifica.fecha)]),
  );
}

/** By transfer, if there is an account to pay into. */
function meansOf(content: DocumentContent, number: string) {
  const iban = ibanOf(content);
  if (iban === '') return undefined;
  return element('cac:PaymentMeans', [
    element('cbc:PaymentMeansCode', '30'),
    element('cbc:PaymentID', number),
    element('cac:PayeeFinancialAccount', element('cbc:ID', iban)),
  ]);
}

/** Text of three characters between two `#` would be the code of a note's subject: BR-CL-08. */
function notesOf(content: DocumentContent): string[] {
  const { concepto, observaciones, desglose, rectifica } = content;
  const surcharges = desglose
    .filter(({ recargo }) => decimal(recargo).units !== 0n)
    .map(({ base, iva, cuota, recargo, cuota_recargo }) => {
      const vat = `IVA del ${spanish(iva, 0)} %, ${spanish(cuota)} EUR`;
      return `Sobre ${spanish(base)} EUR: ${vat}; recargo de equivalencia del ${spanish(recargo, 0)} %, ${spanish(cuota_recargo)} EUR.`;
    });
  const rectified = rectifica
    ? `Rectifica la factura ${rectifica.numero ?? ''} de ${rectifica.fecha}. ${rectifica.motivo}`
    : '';
  return [
    oneLine(concepto),
    plainText(observaciones),
    oneLine(rectified),
    surcharges.join(' '),
    withholding(content),
    schemeOf(content),
  ].flatMap((note) => (/#[^#]{3}#/u.test(note) ? note.replaceAll('#', '＃') : note || []));
}

function withholding(content: DocumentContent): string {
  const { retencion, base, total, a_pagar } = content;
  if (retencion === null) return '';
  const withheld = `Retención de IRPF del ${spanish(retencion, 0)} % sobre ${spanish(base)} EUR`;
  return `${withheld}: ${literal(withheldOf(content), 2, 2).replace('.', ',')} EUR. A pagar: ${spanish(a_pagar ?? total)} EUR.`;
}

/** When to pay, where that is not one date, and how much. */
function termsOf(content: DocumentContent, hasDueDate: boolean, signed: (amount: string) => Decimal) {
  const dates = content.vencimientos.map(
    ({ fecha, importe }) => `${fecha}, ${literal(signed(importe), 2, 2).replace('.', ',')} EUR`,
  );
  const due = dates.length > 0 ? `Vencimientos: ${dates.join('; ')}.` : 'Sin vencimiento pactado.';
  return [hasDueDate ? '' : due, withholding(content)].filter((part) => part !== '').join(' ') || undefined;
}

/** A price is never negative: the sign is that of the quantity. BR-27 */
function lineOf(line: ContentLine, { isCredit, category }: { isCredit: boolean; category: Category }) {
  const price = decimal(line.importe_unitario);
  const turned = isCredit !== price.units < 0n;
  const quantity = turned ? negated(decimal(line.cantidad)) : decimal(line.cantidad);
  const net = isCredit ? negated(decimal(line.importe)) : decimal(line.importe);
  const unitPrice = price.units < 0n ? negated(price) : price;
  const start = line.fecha_inicio ?? line.fecha_fin;
  return [
    element(isCredit ? 'cbc:CreditedQuantity' : 'cbc:InvoicedQuantity', literal(quantity, 0, quantity.scale), {
      unitCode: 'C62',
    }),
    amount('cbc:LineExtensionAmount', net),
    start
      ? element('cac:InvoicePeriod', [element('cbc:StartDate', start), element('cbc:EndDate', line.fecha_fin ?? start)])
      : undefined,
    discountOf(decimal(line.descuento), rounded(times(quantity, unitPrice), 2), net),
    element('cac:Item', [
      written('cbc:Description', oneLine(line.descripcion_ampliada)),
      element('cbc:Name', oneLine(line.descripcion) || '-'),
      element('cac:ClassifiedTaxCategory', [...rateElements(category, rateOf(line)), VAT]),
    ]),
    element('cac:Price', element('cbc:PriceAmount', literal(unitPrice, 2, unitPrice.scale), EUR)),
  ];
}

/** What a line of `gross` is reduced by, to `net`: of the same sign as these. */
function discountOf(percent: Decimal, gross: Decimal, net: Decimal): Xml | undefined {
  if (percent.units === 0n) return undefined;
  return element('cac:AllowanceCharge', [
    element('cbc:ChargeIndicator', 'false'),
    element('cbc:AllowanceChargeReason', 'Descuento'),
    element('cbc:MultiplierFactorNumeric', percentText(percent)),
    amount('cbc:Amount', sum([gross, negated(net)])),
    amount('cbc:BaseAmount', gross),
  ]);
}

const EUR = { currencyID: 'EUR' };
const amount = (name: string, value: Decimal) => element(name, literal(value, 2, 2), EUR);
const percentText = (value: Decimal) => literal(value, 0, value.scale);
/** Left out where there is no text. */
const written = (name: string, text: string) => element(name, text || undefined);
const spanish = (value: string, least = 2) => literal(decimal(value), least, 8).replace('.', ',');
