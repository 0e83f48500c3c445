// A stand-in for the tax agency's service: it takes envelopes of registers by mutual TLS, checks them by its rules (and its schemas, if it
// is given them) and answers as documented. It remembers what it took.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { TLSSocket } from 'node:tls';
import { brokenRules } from './agency-rules.ts';
import { selfSigned } from './certificate.ts';
import { elementsIn, textIn } from './second-hash.ts';

const BASE =
  'https://www2.agenciatributaria.gob.es/static_files/common/internet/dep/aplicaciones/es/aeat/tike/cont/ws/';

type State = 'Correcta' | 'AceptadaConErrores' | 'Anulada';
interface Verdict {
  estado: 'Correcto' | 'AceptadoConErrores' | 'Incorrecto';
  codigo?: number;
  descripcion?: string;
  /** What it has already, of a duplicate. */
  had?: State;
}

/** What it does with the next envelope: `lose` takes it and does not answer, `silent` neither takes nor answers it. */
export type Behaviour = 'lose' | 'silent' | 'server-fault' | 'client-fault' | 'page';

export interface Agency extends AsyncDisposable {
  url: string;
  /** What a sender needs. */
  certificate: { cert: string; key: string };
  ca: string;
  /** The state of each invoice, by `<nif> <number> <date>`. */
  invoices: Map<string, State>;
  /** Each register that it took, in order, as it came. */
  taken: string[];
  /** The envelopes that came, and how many. */
  envelopes: string[];
  received: number;
  /** Of the next envelopes, each once. */
  behave(...next: readonly Behaviour[]): void;
  /** Seconds that it asks to wait. */
  wait: number;
  /** NIF of clients that it does not know: accepted with errors. */
  unknownClients: Set<string>;
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const soap = (body: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><env:Envelope xmlns:env="http://schemas.xmlsoap.org/soap/envelope/"><env:Header/><env:Body>${body}</env:Body></env:Envelope>`;
const fault = (code: 'Client' | 'Server', text: string) =>
  soap(
    `<env:Fault><faultcode>env:${code}</faultcode><faultstring>${escaped(text)}</faultstring><detail><callstack>WSExcepcion</callstack></detail></env:Fault>`,
  );

/** `validate` says what is wrong with the message by the schemas. */
export async function startAgency(validate?: (message: string) => string | undefined): Promise<Agency> {
  const [own, sender] = [selfSigned('agencia'), selfSigned('empresa')];
  const behaviours: Behaviour[] = [];
  const server = createServer({ ...own, ca: sender.cert, requestCert: true, rejectUnauthorized: true });
  const state = {
    certificate: sender,
    ca: own.cert,
    invoices: new Map<string, State>(),
    taken: [] as string[],
    envelopes: [] as string[],
    received: 0,
    behave: (...next: readonly Behaviour[]) => void behaviours.push(...next),
    wait: 60,
    unknownClients: new Set<string>(),
  };

  const agency = Object.assign(state, {
    url: '',
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });

  server.on('request', async (request, response: ServerResponse) => {
    request.setEncoding('utf8');
    let text = '';
    for await (const part of request) text += part;
    agency.received++;
    agency.envelopes.push(text);
    const reply = (status: number, body: string) =>
      void response.writeHead(status, { 'content-type': 'text/xml; charset=UTF-8' }).end(body);
    if (!(request.socket instanceof TLSSocket && request.socket.authorized)) return reply(403, '');
    const behaviour = behaviours.shift();
    if (behaviour === 'silent') return;
    if (behaviour === 'page') return reply(503, '<html><body>Mantenimiento</body></html>');
    if (behaviour === 'server-fault')
      return reply(500, fault('Server', 'Codigo[4103].Se ha producido un error inesperado al parsear el XML.'));
    if (behaviour === 'client-fault')
      return reply(
        500,
        fault(
          'Client',
          'Codigo[4104].Error en la cabecera: el valor del campo NIF del bloque ObligadoEmision no está identificado.',
        ),
      );
    const answer = await answerTo(agency, text, validate);
    if (behaviour === 'lose') return request.socket.destroy();
    return reply(answer.status, answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The agency has no port');
  agency.url = `https://127.0.0.1:${address.port}/wlpl/TIKE-CONT/ws/SistemaFacturacion/VerifactuSOAP`;
  return agency;
}

async function answerTo(agency: Agency, text: string, validate: ((message: string) => string | undefined) | undefined) {
  const declared = /<soapenv:Envelope([^>]*)>/.exec(text)?.[1] ?? '';
  const message = (elementsIn(text, 'Body')[0] ?? '').replace(/^<[\w:]+/, (start) => `${start}${declared}`);
  const invalid = validate?.(message);
  if (invalid !== undefined)
    return { status: 500, body: fault('Client', `Codigo[4102].El XML no cumple el esquema. ${invalid}`) };
  const heading = elementsIn(text, 'Cabecera')[0] ?? '';
  const nif = textIn(heading, 'NIF');
  const records = elementsIn(text, 'RegistroFactura');
  if (!nif || records.length === 0 || records.length > 1000)
    return {
      status: 500,
      body: fault('Client', 'Codigo[4102].El XML no cumple el esquema. Falta informar campo obligatorio.'),
    };

  const lines: string[] = [];
  const verdicts: Verdict[] = [];
  for (const xml of records) {
    const verdict = await judge(agency, xml, nif);
    verdicts.push(verdict);
    if (verdict.estado !== 'Incorrecto') agency.taken.push(xml);
    lines.push(lineOf(xml, verdict));
  }
  const wrong = verdicts.filter(({ estado }) => estado === 'Incorrecto').length;
  const clean = verdicts.every(({ estado }) => estado === 'Correcto');
  const state = clean ? 'Correcto' : wrong === verdicts.length ? 'Incorrecto' : 'ParcialmenteCorrecto';
  const presented =
    wrong === verdicts.length
      ? ''
      : `<r:CSV>A-${agency.received}</r:CSV><r:DatosPresentacion><sf:NIFPresentador>${nif}</sf:NIFPresentador><sf:TimestampPresentacion>2026-11-22T23:31:00+01:00</sf:TimestampPresentacion></r:DatosPresentacion>`;
  const namespaces = `xmlns:r="${BASE}RespuestaSuministro.xsd" xmlns:sf="${BASE}SuministroInformacion.xsd"`;
  return {
    status: 200,
    body: soap(
      `<r:RespuestaRegFactuSistemaFacturacion ${namespaces}>${presented}<r:Cabecera>${heading}</r:Cabecera><r:TiempoEsperaEnvio>${agency.wait}</r:TiempoEsperaEnvio><r:EstadoEnvio>${state}</r:EstadoEnvio>${lines.join('')}</r:RespuestaRegFactuSistemaFacturacion>`,
    ),
  };
}

const keyIn = (xml: string) => {
  const suffix = xml.includes('RegistroAlta') ? '' : 'Anulada';
  return ['IDEmisorFactura', 'NumSerieFactura', 'FechaExpedicionFactura'].map(
    (name) => textIn(xml, `${name}${suffix}`) ?? '',
  );
};

async function judge(agency: Agency, xml: string, nif: string): Promise<Verdict> {
  const rules = await brokenRules(xml, nif);
  const hard = rules.find((rule) => !/^20\d\d/.test(rule));
  if (hard !== undefined)
    return { estado: 'Incorrecto', codigo: Number(/^\d{4}/.exec(hard)?.[0] ?? 1100), descripcion: hard };
  const key = keyIn(xml).join(' ');
  const had = agency.invoices.get(key);
  const again = textIn(xml, 'Subsanacion') === 'S';
  if (xml.includes('RegistroAlta')) {
    const absent = textIn(xml, 'RechazoPrevio') === 'X';
    if (had && (!again || absent))
      return { estado: 'Incorrecto', codigo: 3000, descripcion: 'Registro de facturación duplicado.', had };
    if (!had && again && !absent)
      return { estado: 'Incorrecto', codigo: 3002, descripcion: 'No existe el registro de facturación.' };
  } else {
    if (had === 'Anulada')
      return {
        estado: 'Incorrecto',
        codigo: 3001,
        descripcion: 'El registro de facturación ya ha sido dado de baja.',
        had,
      };
    if (!had && textIn(xml, 'SinRegistroPrevio') !== 'S')
      return { estado: 'Incorrecto', codigo: 3002, descripcion: 'No existe el registro de facturación.' };
    agency.invoices.set(key, 'Anulada');
    const wrong = rules[0];
    return wrong === undefined
      ? { estado: 'Correcto' }
      : { estado: 'AceptadoConErrores', codigo: 2000, descripcion: wrong };
  }
  const client = textIn(elementsIn(xml, 'IDDestinatario')[0] ?? '', 'NIF');
  const unknown =
    client !== undefined && agency.unknownClients.has(client)
      ? '2001: El NIF del bloque Destinatarios no está identificado en el censo de la AEAT.'
      : undefined;
  const soft = rules[0] ?? unknown;
  agency.invoices.set(key, soft === undefined ? 'Correcta' : 'AceptadaConErrores');
  if (soft === undefined) return { estado: 'Correcto' };
  return { estado: 'AceptadoConErrores', codigo: Number(soft.slice(0, 4)), descripcion: soft.slice(6) };
}

function lineOf(xml: string, { estado, codigo, descripcion = '', had }: Verdict): string {
  const [issuer = '', number = '', day = ''] = keyIn(xml);
  const operation = xml.includes('RegistroAlta') ? 'Alta' : 'Anulacion';
  const duplicate =
    had === undefined
      ? ''
      : `<r:RegistroDuplicado><sf:IdPeticionRegistroDuplicado>1</sf:IdPeticionRegistroDuplicado><sf:EstadoRegistroDuplicado>${had}</sf:EstadoRegistroDuplicado></r:RegistroDuplicado>`;
  const error =
    codigo === undefined
      ? ''
      : `<r:CodigoErrorRegistro>${codigo}</r:CodigoErrorRegistro><r:DescripcionErrorRegistro>${escaped(descripcion)}</r:DescripcionErrorRegistro>`;
  return `<r:RespuestaLinea><r:IDFactura><sf:IDEmisorFactura>${issuer}</sf:IDEmisorFactura><sf:NumSerieFactura>${escaped(number)}</sf:NumSerieFactura><sf:FechaExpedicionFactura>${day}</sf:FechaExpedicionFactura></r:IDFactura><r:Operacion><sf:TipoOperacion>${operation}</sf:TipoOperacion></r:Operacion><r:EstadoRegistro>${estado}</r:EstadoRegistro>${error}${duplicate}</r:RespuestaLinea>`;
}
