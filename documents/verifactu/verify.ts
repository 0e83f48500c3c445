// Checks an export of registers by itself: every hash anew from the texts in the XML, and the chain from one to the next. Nothing else is
// needed, neither the database nor the schemas. An export is one of
//
// - NDJSON: a line for each register, oldest first, {"registro": "<sf:RegistroAlta ...>...</sf:RegistroAlta>"}; other fields are not read.
// - XML: the elements RegistroAlta and RegistroAnulacion, oldest first, in any element around them, as a RegFactuSistemaFacturacion.
//
// Several chains may alternate in it: each installation of a system (SistemaInformatico) has its own. DOC-02
import { elementsOf, readXml, XmlError, type XmlNode } from '../xml-reader.ts';
import { hashOfAlta, hashOfAnulacion, type InvoiceKey } from './hash.ts';

/** A register of an export, or why it can't be read. */
export type Read = XmlNode | XmlError;

const isRecord = (name: string) => name === 'RegistroAlta' || name === 'RegistroAnulacion';

/** The registers of an export, NDJSON or XML by its first character. Where it can't be read any further, the last is the error. */
export async function* recordsOf(pieces: AsyncIterable<string>): AsyncGenerator<Read> {
  const all = withoutStart(pieces);
  const { value: start = '' } = await all.next();
  async function* whole() {
    yield start;
    yield* all;
  }
  try {
    if (start.startsWith('<')) yield* elementsOf(whole(), isRecord);
    else for await (const line of linesOf(whole())) if (line.trim() !== '') yield recordOfLine(line);
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    yield error;
  }
}

/** Without a byte order mark and blanks at the start. */
async function* withoutStart(pieces: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  let started = false;
  for await (const piece of pieces) {
    const rest: string = started ? piece : piece.replace(/^[\uFEFF\s]+/, '');
    started ||= rest !== '';
    if (started) yield rest;
  }
}

/** In characters. A register with a thousand recipients has less than a megabyte. */
const LONGEST_LINE = 16 * 1024 ** 2;

async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let begun = '';
  for await (const piece of pieces) {
    begun += piece;
    if (piece.includes('\n')) {
      const lines = begun.split('\n');
      begun = lines.pop() ?? '';
      yield* lines;
    }
    if (begun.length > LONGEST_LINE) throw new XmlError('una línea es demasiado larga');
  }
  yield begun;
}

function recordOfLine(line: string): Read {
  try {
    const value: unknown = JSON.parse(line);
    const xml = typeof value === 'object' && value !== null && 'registro' in value ? value.registro : undefined;
    if (typeof xml !== 'string') return new XmlError('la línea no tiene "registro" con el XML');
    const node = readXml(xml);
    return isRecord(node.name) ? node : new XmlError(`${node.name} no es RegistroAlta ni RegistroAnulacion`);
  } catch (error) {
    if (error instanceof XmlError) return error;
    if (error instanceof SyntaxError) return new XmlError('la línea no es JSON');
    throw error;
  }
}

export interface RegisterFailure {
  /** Its place in the export, from 1 on. */
  registro: number;
  tipo: 'alta' | 'anulacion' | null;
  /** Of its invoice. Both are null for a register that can't be read. */
  numero: string | null;
  motivo: string;
}

export interface Verified {
  registros: number;
  correctos: number;
  /** The chains whose earlier registers the export does not have: the place of their first one, and the hash that it follows. */
  continuaciones: { registro: number; huella: string }[];
  /** The wrong registers, each once with what is wrong in it first: the first hundred. */
  fallos: RegisterFailure[];
}

const NAMED = 100;

interface Link extends InvoiceKey {
  huella: string;
}

/** What a register says, all as it is written. */
interface Said extends Link {
  tipo: 'alta' | 'anulacion';
  /** Of its own texts. */
  computed: string;
  /** Null for one that says it is the first. */
  previous: Link | null;
  /** The installation that made it. */
  chain: string;
}

/** Follows the chains through the registers of an export. */
export async function verify(records: AsyncIterable<Read>): Promise<Verified> {
  const verified: Verified = { registros: 0, correctos: 0, continuaciones: [], fallos: [] };
  const { continuaciones, fallos } = verified;
  const last = new Map<string, Link>();
  for await (const record of records) {
    const registro = ++verified.registros;
    let said: Said;
    try {
      if (record instanceof XmlError) throw record;
      said = readingOf(record);
    } catch (error) {
      if (!(error instanceof XmlError)) throw error;
      if (fallos.length < NAMED) fallos.push({ registro, tipo: null, numero: null, motivo: error.message });
      continue;
    }
    const before = last.get(said.chain);
    const motivo = wrongIn(said, before);
    if (!motivo) verified.correctos++;
    else if (fallos.length < NAMED) fallos.push({ registro, tipo: said.tipo, numero: said.numero, motivo });
    if (!before && said.previous && continuaciones.length < NAMED)
      continuaciones.push({ registro, huella: said.previous.huella });
    last.set(said.chain, said);
  }
  return verified;
}

/** What is wrong first: its own hash, then how it follows the register before. */
function wrongIn({ huella, computed, previous }: Said, before: Link | undefined): string | undefined {
  if (huella !== computed) return `su huella es ${huella}, y la de su contenido ${computed}`;
  if (!before) return undefined;
  if (!previous) return `dice ser el primero, pero sigue a ${nameOf(before)}`;
  if (previous.huella !== before.huella)
    return `sigue a ${nameOf(previous)} con la huella ${previous.huella}, y el anterior es ${nameOf(before)} con ${before.huella}`;
  const same = (['emisor', 'numero', 'fecha'] as const).every((name) => previous[name] === before[name]);
  return same ? undefined : `sigue a ${nameOf(previous)}, y el anterior es ${nameOf(before)}`;
}

const nameOf = ({ emisor, numero, fecha }: InvoiceKey) => `${numero} (${emisor}, ${fecha})`;

/** Throws an XmlError if something is missing. */
function readingOf(record: XmlNode): Said {
  const text = (...path: readonly string[]) => textOf(record, ...path);
  const tipo = record.name === 'RegistroAlta' ? 'alta' : 'anulacion';
  const key = keyOf(elementOf(record, 'IDFactura'), tipo === 'alta' ? '' : 'Anulada');
  const link = record.find('Encadenamiento', 'RegistroAnterior');
  if (!link && text('Encadenamiento', 'PrimerRegistro') !== 'S') throw new XmlError('PrimerRegistro no es S');
  const previous = link ? { ...keyOf(link), huella: textOf(link, 'Huella') } : null;
  if (text('TipoHuella') !== '01') throw new XmlError('TipoHuella no es 01 (SHA-256)');
  const hashed = { ...key, huellaAnterior: previous?.huella ?? '', momento: text('FechaHoraHusoGenRegistro') };
  const computed =
    tipo === 'anulacion'
      ? hashOfAnulacion(hashed)
      : hashOfAlta({
          ...hashed,
          tipoFactura: text('TipoFactura'),
          cuotaTotal: text('CuotaTotal'),
          importeTotal: text('ImporteTotal'),
        });
  const system = elementOf(record, 'SistemaInformatico');
  const made = [['NIF'], ['IDOtro', 'ID'], ['IdSistemaInformatico'], ['NumeroInstalacion']];
  const chain = JSON.stringify(made.map((path) => system.textOf(...path) ?? ''));
  return { tipo, ...key, huella: text('Huella'), computed, previous, chain };
}

const keyOf = (node: XmlNode, suffix = ''): InvoiceKey => ({
  emisor: textOf(node, `IDEmisorFactura${suffix}`),
  numero: textOf(node, `NumSerieFactura${suffix}`),
  fecha: textOf(node, `FechaExpedicionFactura${suffix}`),
});

function elementOf(node: XmlNode, ...path: readonly string[]): XmlNode {
  const found = node.find(...path);
  if (!found) throw new XmlError(`falta ${path.join('/')} en ${node.name}`);
  return found;
}

const textOf = (node: XmlNode, ...path: readonly string[]) => elementOf(node, ...path).text.trim();
