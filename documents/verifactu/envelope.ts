// What is sent to the agency, registers in a SOAP envelope, and what it answers. DOC-02
import { element, Xml, xmlDocument } from '../xml.ts';
import { readXml, XmlError, type XmlNode } from '../xml-reader.ts';
import type { InvoiceKey } from './hash.ts';
import { nameOf, RECORD_NAMESPACE } from './record.ts';

const SOAP_NAMESPACE = 'http://schemas.xmlsoap.org/soap/envelope/';
export const SENDING_NAMESPACE = RECORD_NAMESPACE.replace('SuministroInformacion', 'SuministroLR');
/** Of one envelope. */
export const MAX_RECORDS = 1000;

/** Whose registers they are. */
export interface Heading {
  nombre: string;
  nif: string;
  /** They are late, since the system or its connection failed. */
  incidencia?: boolean;
  /** The last day with VERI*FACTU of a company that leaves it. */
  fechaFin?: Temporal.PlainDate;
}

/** The registers of one company, oldest first, in a SOAP envelope. They are sent as they were made. */
export function envelopeOf(heading: Heading, records: readonly { xml: string }[]): string {
  if (records.length === 0 || records.length > MAX_RECORDS)
    throw new Error(`An envelope takes 1 to ${MAX_RECORDS} registers, not ${records.length}`);
  const { nombre, nif, incidencia, fechaFin } = heading;
  const end = fechaFin?.toString().split('-').reverse().join('-');
  const message = element('lr:RegFactuSistemaFacturacion', [
    element('lr:Cabecera', [
      element('sf:ObligadoEmision', [element('sf:NombreRazon', nameOf(nombre)), element('sf:NIF', nif)]),
      element('sf:RemisionVoluntaria', [
        element('sf:FechaFinVeriFactu', end),
        element('sf:Incidencia', incidencia ? 'S' : undefined),
      ]),
    ]),
    ...records.map(({ xml }) => element('lr:RegistroFactura', new Xml(xml))),
  ]);
  const namespaces = { 'xmlns:soapenv': SOAP_NAMESPACE, 'xmlns:lr': SENDING_NAMESPACE, 'xmlns:sf': RECORD_NAMESPACE };
  return xmlDocument(element('soapenv:Envelope', element('soapenv:Body', message), namespaces));
}

/** The answer is not what the agency documents: it is as good as none. */
export class AnswerError extends Error {}

export interface AgencyError {
  codigo: number;
  descripcion: string;
}

/** What became of one register. */
export interface AnswerLine extends InvoiceKey {
  tipo: 'alta' | 'anulacion';
  estado: 'Correcto' | 'AceptadoConErrores' | 'Incorrecto';
  error: AgencyError | null;
  /** What the agency has already of this invoice, where it refuses a duplicate (3000). */
  duplicado: { estado: 'Correcta' | 'AceptadaConErrores' | 'Anulada'; error: AgencyError | null } | null;
}

export interface Answer {
  /** Of a sending of which something was accepted; it is not to be had later. */
  csv: string | null;
  /** When it was presented, as the agency writes it, and by whom. */
  presentacion: { nif: string; momento: string } | null;
  /** Seconds until the next sending. */
  espera: number;
  estado: 'Correcto' | 'ParcialmenteCorrecto' | 'Incorrecto';
  lineas: AnswerLine[];
}

/** Refused as a whole: nothing of it was registered. */
export interface Fault {
  /** Whether the same may be sent again: the failure is the agency's own. */
  repetir: boolean;
  /** The agency's code; null if it says none. */
  codigo: number | null;
  descripcion: string;
}

/** What the agency answers to an envelope. Throws an AnswerError at anything else. */
export function readAnswer(text: string): { respuesta: Answer } | { fallo: Fault } {
  const body = bodyOf(text);
  const fault = body.find('Fault');
  if (fault) return { fallo: faultOf(fault) };
  const answer = body.find('RespuestaRegFactuSistemaFacturacion');
  if (!answer) throw new AnswerError('no es una respuesta de la Agencia Tributaria');
  const presentacion = answer.find('DatosPresentacion');
  return {
    respuesta: {
      csv: answer.textOf('CSV') || null,
      presentacion: presentacion
        ? { nif: textOf(presentacion, 'NIFPresentador'), momento: textOf(presentacion, 'TimestampPresentacion') }
        : null,
      espera: numberOf(textOf(answer, 'TiempoEsperaEnvio')),
      estado: oneOf(textOf(answer, 'EstadoEnvio'), ['Correcto', 'ParcialmenteCorrecto', 'Incorrecto']),
      lineas: answer.all('RespuestaLinea').map(lineOf),
    },
  };
}

function bodyOf(text: string): XmlNode {
  try {
    const envelope = readXml(text);
    const body = envelope.name === 'Envelope' ? envelope.find('Body') : undefined;
    if (body) return body;
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    throw new AnswerError(error.message, { cause: error });
  }
  throw new AnswerError('no es un sobre SOAP');
}

function faultOf(fault: XmlNode): Fault {
  const descripcion = fault.textOf('faultstring') ?? '';
  const codigo = /^Codigo\[(\d+)\]/.exec(descripcion)?.[1];
  return {
    repetir: !/(^|:)Client$/.test(fault.textOf('faultcode') ?? ''),
    codigo: codigo === undefined ? null : Number(codigo),
    descripcion,
  };
}

function lineOf(line: XmlNode): AnswerLine {
  const duplicate = line.find('RegistroDuplicado');
  return {
    emisor: textOf(line, 'IDFactura', 'IDEmisorFactura'),
    numero: textOf(line, 'IDFactura', 'NumSerieFactura'),
    fecha: textOf(line, 'IDFactura', 'FechaExpedicionFactura'),
    tipo: oneOf(textOf(line, 'Operacion', 'TipoOperacion').toLowerCase(), ['alta', 'anulacion']),
    estado: oneOf(textOf(line, 'EstadoRegistro'), ['Correcto', 'AceptadoConErrores', 'Incorrecto']),
    error: errorOf(line),
    duplicado: duplicate
      ? {
          estado: oneOf(textOf(duplicate, 'EstadoRegistroDuplicado'), ['Correcta', 'AceptadaConErrores', 'Anulada']),
          error: errorOf(duplicate),
        }
      : null,
  };
}

function errorOf(node: XmlNode): AgencyError | null {
  const codigo = node.textOf('CodigoErrorRegistro');
  if (!codigo) return null;
  return { codigo: numberOf(codigo), descripcion: node.textOf('DescripcionErrorRegistro') ?? '' };
}

function textOf(node: XmlNode, ...path: readonly string[]): string {
  const text = node.textOf(...path);
  if (!text) throw new AnswerError(`falta ${path.join('/')} en ${node.name}`);
  return text;
}

function numberOf(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new AnswerError(`${text} no es un número`);
  return Number(text);
}

function oneOf<const T extends string>(text: string, values: readonly T[]): T {
  const found = values.find((value) => value === text);
  if (found === undefined) throw new AnswerError(`${text} no es ninguno de ${values.join(', ')}`);
  return found;
}
