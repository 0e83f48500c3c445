// The registers of an invoice for the tax agency: alta when it is issued, anulacion when it is annulled. Each value is written as text once;
// XML, hash and QR hold this text. What the agency would refuse is told before, as problems. DOC-02
import { dateIn } from '../../platform/clock.ts';
import type { Producer } from '../../platform/verifactu-settings.ts';
import type { ContentRate, DocumentContent, InvoiceType } from '../content.ts';
import { element, type Xml } from '../xml.ts';
import { hashOfAlta, hashOfAnulacion, type InvoiceKey } from './hash.ts';
import { countryOf, isNif, isVatNumber, plainTaxId, vatPrefixOf } from './tax-ids.ts';

export const RECORD_NAMESPACE =
  'https://www2.agenciatributaria.gob.es/static_files/common/internet/dep/aplicaciones/es/aeat/tike/cont/ws/SuministroInformacion.xsd';

/** The system that makes the registers, and its producer. */
export interface SystemSettings extends Producer {
  /** The company's own, never another's or used again. */
  installation: string;
  /** Whether several companies work with it now. */
  multipleCompanies: boolean;
}

/** The register before, of the same company: where the next one is chained. */
export interface Link extends InvoiceKey {
  huella: string;
}

export interface Making {
  /** Null for the first. */
  previous: Link | null;
  system: SystemSettings;
  instant: Temporal.Instant;
  /** Of the place of issue. */
  timeZone: string;
}

/**
 * What an alta says of an earlier one of its invoice. Correcting one that was accepted: `subsanacion` alone. Repeating an alta that was
 * rejected, or that never went to the agency: `X`. Repeating a correction that was rejected: `S`.
 */
export interface AltaAgain {
  subsanacion: true;
  rechazoPrevio?: 'S' | 'X';
}

/** What an anulacion says: `rechazoPrevio` repeats a rejected one, `sinRegistroPrevio` is of an invoice that the agency does not have. */
export interface AnulacionAgain {
  rechazoPrevio?: boolean;
  sinRegistroPrevio?: boolean;
}

interface Made extends Link {
  /** '' for the first. */
  huellaAnterior: string;
  /** When it was made, with the numeric zone. */
  momento: string;
  /** The element, with its namespace: it stands alone, and it is what is sent. */
  xml: string;
}

export interface Alta extends Made {
  tipo: 'alta';
  tipoFactura: InvoiceType;
  cuotaTotal: string;
  importeTotal: string;
}

export interface Anulacion extends Made {
  tipo: 'anulacion';
}

/** What the agency would refuse. `campo`: the path in the content, or the operator's setting. */
export interface Problem {
  campo: string;
  mensaje: string;
}

export type Outcome<R> = { record: R } | { problems: Problem[] };

const FIRST_DAY = '2024-10-28';
const MAX_RATES = 12;
const MAX_SIMPLIFIED = 3_000_00n;
const LARGE = 100_000_000_00n;
/** The rates of VAT with their equivalence surcharges, and the last day of those that ended. */
const RATES: Record<string, { surcharges: readonly string[]; until?: string }> = {
  '21.00': { surcharges: ['5.20', '1.75'] },
  '10.00': { surcharges: ['1.40'] },
  '4.00': { surcharges: ['0.50'] },
  '7.50': { surcharges: ['1.00'], until: '2024-12-31' },
  '2.00': { surcharges: ['0.26'], until: '2024-12-31' },
};

/** The register of an issued invoice. */
export function altaOf(content: DocumentContent, making: Making, again?: AltaAgain): Outcome<Alta> {
  const problems: Problem[] = [];
  const tell = (campo: string, mensaje: string) => void problems.push({ campo, mensaje });
  const key = keyOf(content, making, tell);
  const nombre = nameOf(content.emisor.nombre_fiscal);
  if (nombre === '') tell('emisor.nombre_fiscal', 'Falta la razón social del emisor');
  const tipoFactura = content.tipo_factura;
  if (!tipoFactura) tell('tipo_factura', 'Solo las facturas tienen registro de facturación');
  if (content.fecha < FIRST_DAY) tell('fecha', 'La fecha de expedición no puede ser anterior al 28-10-2024');
  const today = dateIn(making.timeZone, making.instant).toString();
  if (content.fecha > today) tell('fecha', 'La fecha de expedición no puede ser posterior a hoy');
  const recipient = tipoFactura && namesRecipient(tipoFactura) ? recipientOf(content, tipoFactura, tell) : undefined;
  const rectified = content.rectifica?.numero;
  if (rectified && [...rectified].length > 60)
    tell('rectifica.numero', `El número ${rectified} tiene más de 60 caracteres`);
  const { rows, tax, simplified } = breakdownOf(content, tell);
  if (tipoFactura === 'F2' && simplified > MAX_SIMPLIFIED)
    tell('total', 'Una factura simplificada no puede pasar de 3.000 EUR con IVA: hace falta el NIF del cliente');
  const total = centsOf(content.total, 'total', tell);
  if (!tipoFactura || problems.length > 0) return { problems };

  const cuotaTotal = literal(tax);
  const importeTotal = literal(total);
  const { previous } = making;
  const momento = momentOf(making);
  const huellaAnterior = previous?.huella ?? '';
  const huella = hashOfAlta({ ...key, tipoFactura, cuotaTotal, importeTotal, huellaAnterior, momento });
  const rectifies = tipoFactura.startsWith('R');
  const xml = root('RegistroAlta', [
    sf('IDVersion', '1.0'),
    sf('IDFactura', ...keyElements(key)),
    sf('NombreRazonEmisor', nombre),
    sf('Subsanacion', again && 'S'),
    sf('RechazoPrevio', again?.rechazoPrevio),
    sf('TipoFactura', tipoFactura),
    rectifies && sf('TipoRectificativa', 'I'),
    rectifies &&
      content.rectifica &&
      rectified &&
      sf('FacturasRectificadas', rectifiedOf(key.emisor, rectified, content.rectifica.fecha)),
    sf('DescripcionOperacion', descriptionOf(content)),
    (total >= LARGE || total <= -LARGE) && sf('Macrodato', 'S'),
    recipient && sf('Destinatarios', sf('IDDestinatario', ...recipient)),
    sf('Desglose', ...rows),
    sf('CuotaTotal', cuotaTotal),
    sf('ImporteTotal', importeTotal),
    ...endOf(making, momento, huella),
  ]);
  return {
    record: {
      tipo: 'alta',
      ...key,
      tipoFactura,
      cuotaTotal,
      importeTotal,
      huellaAnterior,
      momento,
      huella,
      xml,
    },
  };
}

/** The register of an annulled invoice. */
export function anulacionOf(
  content: DocumentContent,
  making: Making,
  { rechazoPrevio, sinRegistroPrevio }: AnulacionAgain = {},
): Outcome<Anulacion> {
  const problems: Problem[] = [];
  const key = keyOf(content, making, (campo, mensaje) => void problems.push({ campo, mensaje }));
  if (problems.length > 0) return { problems };
  const { previous } = making;
  const momento = momentOf(making);
  const huellaAnterior = previous?.huella ?? '';
  const huella = hashOfAnulacion({ ...key, huellaAnterior, momento });
  const xml = root('RegistroAnulacion', [
    sf('IDVersion', '1.0'),
    sf('IDFactura', ...keyElements(key, 'Anulada')),
    sinRegistroPrevio && sf('SinRegistroPrevio', 'S'),
    rechazoPrevio && sf('RechazoPrevio', 'S'),
    ...endOf(making, momento, huella),
  ]);
  return { record: { tipo: 'anulacion', ...key, huellaAnterior, momento, huella, xml } };
}

/** What is missing in the operator's settings. */
export function systemProblems(system: SystemSettings): Problem[] {
  const problems: Problem[] = [];
  const filled = (campo: string, text: string, length: number) => {
    if (text.trim() !== '' && [...text].length <= length) return;
    problems.push({ campo, mensaje: `Ha de tener de 1 a ${length} caracteres` });
  };
  filled('VERIFACTU_PRODUCER_NAME', system.producerName, 120);
  if (!isNif(system.producerNif)) problems.push({ campo: 'VERIFACTU_PRODUCER_NIF', mensaje: 'No es un NIF válido' });
  filled('VERIFACTU_SYSTEM_NAME', system.systemName, 30);
  if (!/^[A-Z0-9]{2}$/.test(system.systemId))
    problems.push({ campo: 'VERIFACTU_SYSTEM_ID', mensaje: 'Ha de tener dos letras mayúsculas o cifras' });
  filled('VERIFACTU_SYSTEM_VERSION', system.systemVersion, 50);
  filled('numero_instalacion', system.installation, 100);
  return problems;
}

type Tell = (campo: string, mensaje: string) => void;
type Child = Xml | string | false | null | undefined;

/** An element of the register; children that are not there are left out. */
const sf = (name: string, ...children: readonly Child[]) => withChildren(name, children);
const root = (name: string, children: readonly Child[]) =>
  withChildren(name, children, { 'xmlns:sf': RECORD_NAMESPACE })?.text ?? '';
const withChildren = (name: string, children: readonly Child[], attributes?: Readonly<Record<string, string>>) =>
  element(
    `sf:${name}`,
    children.map((child) => child || undefined),
    attributes,
  );

const keyElements = ({ emisor, numero, fecha }: InvoiceKey, suffix = '') => [
  sf(`IDEmisorFactura${suffix}`, emisor),
  sf(`NumSerieFactura${suffix}`, numero),
  sf(`FechaExpedicionFactura${suffix}`, fecha),
];

const rectifiedOf = (emisor: string, numero: string, date: string) =>
  sf('IDFacturaRectificada', ...keyElements({ emisor, numero, fecha: dayOf(date) }));

/** `dd-mm-yyyy` */
const dayOf = (date: string) => date.split('-').reverse().join('-');

const momentOf = ({ instant, timeZone }: Making) =>
  instant.toZonedDateTimeISO(timeZone).toString({ smallestUnit: 'second', timeZoneName: 'never' });

/** A text in one line, cut to so many characters. */
const cut = (text: string, length: number) =>
  [...text.replace(/[\s\p{Cc}\p{Cs}\uFFFE\uFFFF]+/gu, ' ').trim()].slice(0, length).join('').trim();
/** A name as the agency takes it. */
export const nameOf = (name: string) => cut(name, 120);

/** What identifies the invoice; it tells what of it the agency would refuse. */
function keyOf({ emisor, numero, fecha }: DocumentContent, { system }: Making, tell: Tell): InvoiceKey {
  for (const { campo, mensaje } of systemProblems(system)) tell(campo, mensaje);
  const nif = plainTaxId(emisor.cif);
  if (nif === '') tell('emisor.cif', 'Falta el NIF del emisor');
  else if (!isNif(nif)) tell('emisor.cif', `${emisor.cif} no es un NIF válido: su carácter de control no corresponde`);
  if (!numero) tell('numero', 'La factura no tiene número');
  // Printable ASCII without quotes, < = >.
  else if (!/^(?! )[ !#-&(-;?-~]{1,60}(?<! )$/.test(numero))
    tell(
      'numero',
      `El número ${numero} no se admite: hasta 60 caracteres ASCII imprimibles, sin " ' < > = ni espacios en los extremos`,
    );
  return { emisor: nif, numero: numero ?? '', fecha: dayOf(fecha) };
}

const endOf = ({ previous, system }: Making, momento: string, huella: string) => [
  sf(
    'Encadenamiento',
    previous
      ? sf('RegistroAnterior', ...keyElements(previous), sf('Huella', previous.huella))
      : sf('PrimerRegistro', 'S'),
  ),
  sf(
    'SistemaInformatico',
    sf('NombreRazon', system.producerName),
    sf('NIF', system.producerNif),
    sf('NombreSistemaInformatico', system.systemName),
    sf('IdSistemaInformatico', system.systemId),
    sf('Version', system.systemVersion),
    sf('NumeroInstalacion', system.installation),
    // The other mode needs signatures and a log of events, which are not made here; several companies can always be.
    sf('TipoUsoPosibleSoloVerifactu', 'S'),
    sf('TipoUsoPosibleMultiOT', 'S'),
    sf('IndicadorMultiplesOT', system.multipleCompanies ? 'S' : 'N'),
  ),
  sf('FechaHoraHusoGenRegistro', momento),
  sf('TipoHuella', '01'),
  sf('Huella', huella),
];

const descriptionOf = ({ concepto, lineas, numero }: DocumentContent) =>
  Iterator.from([concepto, ...lineas.map(({ descripcion }) => descripcion), `Factura ${numero}`])
    .map((text) => cut(text, 500))
    .find((text) => text !== '');

/** Simplified invoices name nobody. */
const namesRecipient = (type: InvoiceType) => type !== 'F2' && type !== 'R5';

/**
 * The client: by NIF if the tax id is one, otherwise by NIF-IVA if it is written with its country's prefix or the delivery is
 * intra-community, otherwise as an id of its country.
 */
function recipientOf({ cliente, desglose }: DocumentContent, type: InvoiceType, tell: Tell): Child[] {
  const name = nameOf(cliente.nombre_fiscal);
  if (name === '') tell('cliente.nombre_fiscal', 'Falta el nombre o razón social del cliente');
  const id = plainTaxId(cliente.cif);
  const country = countryOf(cliente.pais);
  const intraCommunity = desglose.some(({ exencion }) => exencion === 'E5');
  // In Cyprus a tax id may look like a NIF.
  const nif = isNif(id) && country !== 'CY';
  const prefixed = `${vatPrefixOf(country ?? '')}${id}`;
  const vatNumber = isVatNumber(id) ? id : intraCommunity && isVatNumber(prefixed) ? prefixed : undefined;

  if (id === '') tell('cliente.cif', 'Falta el NIF del cliente, que una factura completa necesita');
  else if (nif && intraCommunity)
    tell('cliente.cif', 'Una entrega intracomunitaria exenta (E5) necesita el NIF-IVA del cliente, de otro Estado');
  else if (!nif && type === 'R3') tell('cliente.cif', 'Una rectificativa R3 necesita un NIF del cliente');
  else if (!nif && !vatNumber) {
    if (type === 'R2') tell('cliente.cif', 'Una rectificativa R2 necesita un NIF o NIF-IVA del cliente');
    if (cliente.pais.trim() === '' || country === 'ES')
      tell(
        'cliente.cif',
        `${cliente.cif} no es un NIF válido (su carácter de control no corresponde); si es de otro país, indíquelo en pais`,
      );
    else if (!country)
      tell('cliente.pais', `No se reconoce el país ${cliente.pais}: escriba su nombre o su código de dos letras`);
    if ([...cliente.cif.trim()].length > 20)
      tell('cliente.cif', `El identificador ${cliente.cif} tiene más de 20 caracteres`);
  }
  const identified = nif
    ? sf('NIF', id)
    : vatNumber
      ? sf('IDOtro', sf('IDType', '02'), sf('ID', vatNumber))
      : sf('IDOtro', sf('CodigoPais', country), sf('IDType', '04'), sf('ID', cut(cliente.cif, 20)));
  return [sf('NombreRazon', name), identified];
}

/** The breakdown by rate, the sum of its tax, and what the limit of simplified invoices counts. In cents. */
function breakdownOf(content: DocumentContent, tell: Tell): { rows: Child[]; tax: bigint; simplified: bigint } {
  const { desglose, emisor, tipo_factura: type, fecha } = content;
  let [tax, simplified] = [0n, 0n];
  if (desglose.length === 0) tell('desglose', 'La factura no tiene líneas');
  if (desglose.length > MAX_RATES)
    tell(
      'desglose',
      `Una factura no puede tener más de ${MAX_RATES} combinaciones de IVA, recargo y exención; esta tiene ${desglose.length}`,
    );
  const rows = desglose.map((rate) => {
    const cents = (name: 'iva' | 'recargo' | 'base' | 'cuota' | 'cuota_recargo') => centsOf(rate[name], name, tell);
    const [iva, recargo, base] = [cents('iva'), cents('recargo'), cents('base')];
    const [cuota, surcharge] = [cents('cuota'), cents('cuota_recargo')];
    tax += cuota + surcharge;
    simplified += base + cuota;
    tellRate(rate, { iva: literal(iva), recargo: literal(recargo) }, fecha, tell);
    const { exencion } = rate;
    if (exencion === 'S2' && type && !namesRecipient(type))
      tell(
        'exencion',
        `La inversión del sujeto pasivo (S2) no se admite en una factura ${type}, sin cliente identificado`,
      );
    // Exports and what is treated as such are a scheme of their own, and the surcharge is another.
    const usual = emisor.regimen_iva === 'caja' && exencion === null ? '07' : '01';
    const scheme = exencion === 'E2' || exencion === 'E3' ? '02' : recargo > 0n ? '18' : usual;
    const taxed = exencion === null || exencion === 'S2';
    return sf(
      'DetalleDesglose',
      sf('Impuesto', '01'),
      sf('ClaveRegimen', scheme),
      exencion?.startsWith('E') ? sf('OperacionExenta', exencion) : sf('CalificacionOperacion', exencion ?? 'S1'),
      taxed && sf('TipoImpositivo', literal(iva)),
      sf('BaseImponibleOimporteNoSujeto', literal(base)),
      taxed && sf('CuotaRepercutida', literal(cuota)),
      recargo > 0n && sf('TipoRecargoEquivalencia', literal(recargo)),
      recargo > 0n && sf('CuotaRecargoEquivalencia', literal(surcharge)),
    );
  });
  return { rows, tax, simplified };
}

/** What of a rate the agency would refuse. */
function tellRate(
  { exencion, cuota, cuota_recargo }: ContentRate,
  { iva, recargo }: { iva: string; recargo: string },
  day: string,
  tell: Tell,
): void {
  if (exencion) {
    if (iva !== '0.00' || recargo !== '0.00' || Number(cuota) !== 0 || Number(cuota_recargo) !== 0)
      tell('exencion', `Una línea con exencion ${exencion} no lleva IVA ni recargo`);
    return;
  }
  if (iva === '0.00') {
    tell('exencion', 'Una línea con iva 0 necesita exencion: E1 a E6, N1, N2 o S2');
    return;
  }
  const known = RATES[iva];
  if (!known || (known.until && day > known.until)) {
    const valid = Object.entries(RATES).flatMap(([rate, { until }]) => (until && day > until ? [] : Number(rate)));
    tell('iva', `El IVA del ${Number(iva)} % no es un tipo vigente en esa fecha: ${valid.join(', ')}`);
    return;
  }
  if (recargo !== '0.00' && !known.surcharges.includes(recargo))
    tell(
      'recargo',
      `Con IVA del ${Number(iva)} % no hay recargo de equivalencia del ${Number(recargo)} %: ${known.surcharges.map(Number).join(' o ')}`,
    );
}

/** Exact decimals as whole cents; more than two decimals, or twelve digits before them, are a problem. */
function centsOf(text: string, campo: string, tell: Tell): bigint {
  const amount = /^(-?)(\d{1,12})(?:\.(\d\d?)0*)?$/.exec(text);
  if (!amount) {
    tell(campo, `${text} no es un importe de hasta 12 cifras con dos decimales`);
    return 0n;
  }
  const [, sign, whole = '', decimals = ''] = amount;
  const cents = BigInt(whole + decimals.padEnd(2, '0'));
  return sign ? -cents : cents;
}

/** With two decimals and a dot. */
function literal(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
