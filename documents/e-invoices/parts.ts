// What both e-invoices need of a document's content. DOC-04
import { decodeHTML } from 'entities';
import { type Decimal, decimal, negated, sum } from '../../platform/decimal.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import { taxKey } from '../../platform/text.ts';
import type { ContentParty, DocumentContent } from '../content.ts';
import { countryOf, vatPrefix } from '../countries.ts';

/** The XML; or everything that the format needs and the content lacks, for one 400. */
export type EInvoice = { xml: string } | { problems: FieldProblem[] };

/** Text on one line, without what XML can't say. */
export const oneLine = (text: string | null) =>
  (text ?? '')
    .replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/** The text of what may hold HTML, a line for each paragraph. */
export const plainText = (html: string) =>
  decodeHTML(
    html
      .replace(/<(script|style)\b[^<]*/gi, '')
      .replace(/<br\b[^<>]*>|<\/(p|div|li|tr|h[1-6])\s*>/gi, '\n')
      .replace(/<[/!]?[a-z-][^<>]*>/gi, ''),
  )
    .split('\n')
    .flatMap((line) => oneLine(line) || [])
    .join('\n');

/** At most so many characters, as a schema counts them. */
export const cut = (text: string, most: number) =>
  text.length <= most ? text : [...text].slice(0, most).join('').trimEnd();

/** Who an e-invoice is from, or to. */
export interface Party {
  name: string;
  /** As its country writes it, without prefix in Spain; '' where it is not known. */
  taxId: string;
  /** The form of its tax id is that of a person in Spain; all others are taken for legal entities. */
  isPerson: boolean;
  /** Of two letters. */
  country: string;
  street: string;
  postcode: string;
  town: string;
  province: string;
  email: string;
}

const PERSON = /^(\d{8}|[XYZKLM]\d{7})[A-Z]$/;

/** Of Spain, in the order of the postal codes that begin with 01 to 52. */
const PROVINCES = `
  Álava, Albacete, Alicante, Almería, Ávila, Badajoz, Illes Balears, Barcelona, Burgos, Cáceres, Cádiz, Castellón, Ciudad Real,
  Córdoba, A Coruña, Cuenca, Girona, Granada, Guadalajara, Gipuzkoa, Huelva, Huesca, Jaén, León, Lleida, La Rioja, Lugo, Madrid,
  Málaga, Murcia, Navarra, Ourense, Asturias, Palencia, Las Palmas, Pontevedra, Salamanca, Santa Cruz de Tenerife, Cantabria,
  Segovia, Sevilla, Soria, Tarragona, Teruel, Toledo, Valencia, Valladolid, Bizkaia, Zamora, Zaragoza, Ceuta, Melilla
`
  .trim()
  .split(/,\s+/);

/** The province of a Spanish postal code; '' for what is none. */
const provinceOf = (postcode: string) =>
  /^\d{5}$/.test(postcode) ? (PROVINCES[Number(postcode.slice(0, 2)) - 1] ?? '') : '';

/** Collects what is missing. */
export class Needs {
  readonly problems: FieldProblem[] = [];
  readonly #format: string;
  constructor(format: string) {
    this.#format = format;
  }

  /** Notes the field if nothing is there. */
  need(campo: string, value: string): string {
    if (value === '') this.add(campo, `${this.#format} lo exige y no consta en la factura`);
    return value;
  }

  add(campo: string, mensaje: string): void {
    this.problems.push({ campo, mensaje });
  }

  party(who: 'emisor' | 'cliente', from: ContentParty): Party {
    const country = countryOf(from.pais);
    if (country === undefined) this.add(`${who}.pais`, `no es un país conocido: ${oneLine(from.pais)}`);
    const taxId = oneLine(taxKey(oneLine(from.cif)));
    const postcode = oneLine(from.cp);
    return {
      name: this.need(`${who}.nombre_fiscal`, oneLine(from.nombre_fiscal)),
      taxId,
      isPerson: PERSON.test(taxId),
      country: country ?? '',
      street: oneLine(from.direccion),
      postcode,
      town: oneLine(from.poblacion),
      province: oneLine(from.provincia) || (country === 'ES' ? provinceOf(postcode) : ''),
      email: oneLine(from.email),
    };
  }

  /** What every e-invoice needs of its invoice. */
  invoice({ tipo, numero, lineas }: DocumentContent): string {
    if (tipo !== 'factura') this.add('tipo', 'solo las facturas tienen factura electrónica');
    if (lineas.length === 0) this.add('lineas', `${this.#format} exige al menos una línea`);
    return this.need('numero', oneLine(numero));
  }
}

/** A tax id with the prefix of its country. A person's Spanish one stays Spanish wherever they live. */
export function vatId({ taxId, isPerson, country }: Party): string {
  const prefix = vatPrefix(isPerson ? 'ES' : country);
  return taxId.startsWith(prefix) ? taxId : prefix + taxId;
}

export const isRectifying = ({ tipo_factura, rectifica }: DocumentContent) =>
  rectifica !== null || (tipo_factura?.startsWith('R') ?? false);

/** The client's income tax that is not paid to the issuer. */
export const withheldOf = ({ total, a_pagar }: DocumentContent): Decimal =>
  sum([decimal(total), negated(decimal(a_pagar ?? total))]);

/** The account that is paid into; '' if there is none, or it isn't an IBAN. */
export function ibanOf({ emisor }: DocumentContent): string {
  const iban = emisor.iban.replace(/\s/g, '').toUpperCase();
  return /^[A-Z]{2}\d{2}[A-Z0-9]{1,30}$/.test(iban) ? iban : '';
}
