// Record ids on the wire: one AES-256 block of kind, company and number. The same record always has the same id, and an id can't be
// forged, altered or used for another company or kind (ID-01, ID-02). Opening one needs no table and no query.
import { type Cipheriv, createCipheriv, createDecipheriv, createHash, type Decipheriv } from 'node:crypto';
import { JsonText } from './json-text.ts';
import { inSlices } from './slices.ts';

/** Kinds of records, each with its code inside ids (never reused) and its table. */
export const KINDS = {
  employee: { code: 1, table: 'employees' },
  department: { code: 2, table: 'departments' },
  contractType: { code: 3, table: 'contract_types' },
  shift: { code: 4, table: 'shifts' },
  contract: { code: 5, table: 'contracts' },
  calendarEntry: { code: 6, table: 'calendar_entries' },
  absence: { code: 7, table: 'absences' },
  timeEntry: { code: 8, table: 'time_entries' },
  machine: { code: 9, table: 'machines' },
  client: { code: 10, table: 'clients' },
  supplier: { code: 11, table: 'suppliers' },
  contact: { code: 12, table: 'contacts' },
  funnel: { code: 13, table: 'funnels' },
  stage: { code: 14, table: 'funnel_stages' },
  channel: { code: 15, table: 'channels' },
  lossReason: { code: 16, table: 'loss_reasons' },
  opportunity: { code: 17, table: 'opportunities' },
  product: { code: 18, table: 'products' },
  variation: { code: 19, table: 'product_variations' },
  format: { code: 20, table: 'product_formats' },
  family: { code: 21, table: 'product_families' },
  projectState: { code: 22, table: 'project_states' },
  project: { code: 23, table: 'projects' },
  taskState: { code: 24, table: 'task_states' },
  task: { code: 25, table: 'tasks' },
  estimate: { code: 26, table: 'estimates' },
  estimateLine: { code: 27, table: 'estimate_lines' },
  attachment: { code: 28, table: 'attachments' },
  recurring: { code: 29, table: 'recurrings' },
  deliveryNote: { code: 30, table: 'delivery_notes' },
  deliveryNoteLine: { code: 31, table: 'delivery_note_lines' },
  invoice: { code: 32, table: 'invoices' },
  invoiceLine: { code: 33, table: 'invoice_lines' },
  dueDate: { code: 34, table: 'invoice_due_dates' },
  purchaseDueDate: { code: 35, table: 'purchase_invoice_due_dates' },
  purchaseDeliveryNote: { code: 36, table: 'purchase_delivery_notes' },
  purchaseInvoice: { code: 37, table: 'purchase_invoices' },
  treasuryAccount: { code: 38, table: 'treasury_accounts' },
  treasuryMovement: { code: 39, table: 'treasury_movements' },
  stockMovement: { code: 40, table: 'stock_movements' },
  purchaseDeliveryNoteLine: { code: 41, table: 'purchase_delivery_note_lines' },
  purchaseInvoiceLine: { code: 42, table: 'purchase_invoice_lines' },
  priceList: { code: 43, table: 'price_lists' },
  webhook: { code: 44, table: 'webhooks' },
  documentLink: { code: 45, table: 'document_links' },
} as const;

/** A kind of record. */
export type Kind = keyof typeof KINDS;

const BLOCK = 16;
const SPACED_BLOCK = 18;
const LENGTH = 23;

interface Key {
  /** The first letter of every id made with this key; tells keys apart after a rotation. */
  version: string;
  cipher: Cipheriv;
  decipher: Decipheriv;
}

function expandKey(secret: string): Key {
  const key = createHash('sha256').update('albaran id key\0').update(secret).digest();
  const versionByte = createHash('sha256').update('albaran id version\0').update(key).digest()[0] ?? 0;
  return {
    version: String.fromCharCode(97 + (versionByte % 26)),
    cipher: createCipheriv('aes-256-ecb', key, null).setAutoPadding(false),
    decipher: createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false),
  };
}

const WORD = 2 ** 32;

/** Two bytes for the kind, six for the company, eight for the number. */
function writeBlock(block: DataView, offset: number, code: number, account: number, number: number) {
  block.setUint16(offset, code);
  block.setUint16(offset + 2, Math.floor(account / WORD));
  block.setUint32(offset + 4, account % WORD);
  block.setUint32(offset + 8, Math.floor(number / WORD));
  block.setUint32(offset + 12, number % WORD);
}

const viewOf = ({ buffer, byteOffset, length }: Buffer) => new DataView(buffer, byteOffset, length);

/**
 * Encloses each id, `<code of its kind>:<number>`, in JSON text that the database writes. JSON escapes tabs in strings, so stored
 * texts can't be mistaken for ids.
 */
export const ID_MARK = '\t';

/** An id in that form. */
export const markedId = (kind: Kind, number: number): JsonText<number> =>
  new JsonText(`${ID_MARK}${KINDS[kind].code}:${number}${ID_MARK}`);

/** The whole number that stands here in decimal digits, and where they end. */
function digitsAt(text: string, from: number): { value: number; end: number } {
  let value = 0;
  let end = from;
  for (let digit = text.charCodeAt(end) - 48; digit >= 0 && digit <= 9; digit = text.charCodeAt(++end) - 48) {
    value = value * 10 + digit;
  }
  return { value, end };
}

/** About how many characters are sealed at a time. */
const PART = 2 ** 16;

/** Splits marked text into parts, never inside an id. */
function* partsOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const mark = text.indexOf(ID_MARK, from + PART);
    // A digit follows an opening mark, never a closing one.
    const to = mark < 0 ? text.length : /\d/.test(text.charAt(mark + 1)) ? mark : mark + 1;
    yield text.slice(from, to);
    from = to;
  }
}

/** Seals and opens the ids of every company. */
export class Ids {
  readonly #newest: Key;
  readonly #keys: Key[];

  /** `secrets`: at least one, newest first. Ids are sealed with the first and opened with any (rotation, ID-02). */
  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map(expandKey);
    const [newest] = this.#keys;
    if (!newest) throw new Error('Ids need at least one key');
    this.#newest = newest;
  }

  /** Seals many at once. */
  sealAll(account: number, records: readonly { kind: Kind; number: number }[]): string[] {
    return this.#seal(
      account,
      records.map(({ kind }) => KINDS[kind].code),
      records.map(({ number }) => number),
    );
  }

  /** Seals every marked id in JSON text; long text in slices. */
  async sealMarked(account: number, text: string): Promise<string> {
    if (text.length <= PART) return this.#sealPart(account, text);
    const sealed: string[] = [];
    await inSlices(partsOf(text), (part) => sealed.push(this.#sealPart(account, part)));
    return sealed.join('');
  }

  #sealPart(account: number, text: string): string {
    const codes: number[] = [];
    const numbers: number[] = [];
    /** Where each id begins, and where it ends. */
    const places: number[] = [];
    // Read digit by digit: cutting the text at every mark costs twice as much.
    for (let at = text.indexOf(ID_MARK); at >= 0; at = text.indexOf(ID_MARK, at)) {
      places.push(at);
      const code = digitsAt(text, at + 1);
      const number = digitsAt(text, code.end + 1);
      at = number.end + 1;
      if (text[code.end] !== ':' || text[number.end] !== ID_MARK) throw new Error('An id is not closed');
      places.push(at);
      codes.push(code.value);
      numbers.push(number.value);
    }
    const sealed = this.#seal(account, codes, numbers);
    let answer = '';
    let from = 0;
    for (let index = 0; index < sealed.length; index++) {
      answer += `${text.slice(from, places[2 * index])}"${sealed[index]}"`;
      from = places[2 * index + 1] ?? from;
    }
    return answer + text.slice(from);
  }

  #seal(account: number, codes: readonly number[], numbers: readonly number[]): string[] {
    const { cipher, version } = this.#newest;
    const plain = Buffer.allocUnsafe(codes.length * BLOCK);
    const blocks = viewOf(plain);
    for (let index = 0; index < codes.length; index++) {
      writeBlock(blocks, index * BLOCK, codes[index] ?? 0, account, numbers[index] ?? 0);
    }
    const sealed = cipher.update(plain);
    // Base64 encodes groups of three bytes. Two padding bytes after each 16-byte block let one call encode all blocks.
    const spaced = Buffer.alloc(codes.length * SPACED_BLOCK);
    for (let from = 0, to = 0; from < sealed.length; to += SPACED_BLOCK - BLOCK) {
      for (const end = from + BLOCK; from < end; from++, to++) spaced[to] = sealed[from] ?? 0;
    }
    const text = spaced.toString('base64url');
    const size = (SPACED_BLOCK * 4) / 3;
    return codes.map((_, index) => version + text.slice(index * size, index * size + LENGTH - 1));
  }

  seal(account: number, kind: Kind, number: number): string {
    return this.sealAll(account, [{ kind, number }])[0] ?? '';
  }

  /**
   * The number of a sealed id or of a legacy numeric one (a number or its digits; ID-03). Undefined for anything else: altered,
   * truncated, of another company or another kind. It does not check that the record exists.
   */
  open(account: number, kind: Kind, value: string | number): number | undefined {
    if (typeof value === 'number' || /^\d{1,16}$/.test(value)) {
      const number = Number(value);
      return Number.isSafeInteger(number) && number > 0 ? number : undefined;
    }
    if (value.length !== LENGTH) return undefined;
    const sealed = Buffer.from(value.slice(1), 'base64url');
    if (sealed.length !== BLOCK || sealed.toString('base64url') !== value.slice(1)) return undefined;
    const head = Buffer.allocUnsafe(BLOCK);
    writeBlock(viewOf(head), 0, KINDS[kind].code, account, 0);
    for (const key of this.#keys) {
      if (key.version !== value[0]) continue;
      const plain = key.decipher.update(sealed);
      if (plain.compare(head, 0, 8, 0, 8) !== 0) continue;
      const number = Number(plain.readBigUInt64BE(8));
      if (Number.isSafeInteger(number) && number > 0) return number;
    }
    return undefined;
  }
}
