// The rules of `npm run prove:input` for an answer: no server error, its interface's shape, and refusals that state what is wrong.
import { isUtf8 } from 'node:buffer';
import { operations } from '../../../bridges/operations.ts';
import { places } from '../../helpers/places.ts';
import { resultOf } from '../doors.ts';
import type { FuzzRequest, Shape } from './requests.ts';
import type { Response } from './send.ts';

/** Bytes of address and headers that Node reads, roughly. */
const MOST_HEAD = 16_000;

/** Texts of a 400 about no single parameter: what is malformed, or a limit that is reached. */
const MALFORMED = new RegExp(
  `^(${[
    'El cuerpo de la petición (no es (JSON|UTF-8) válido|tiene que ser un objeto JSON|no mide lo que dice Content-Length)',
    'Los datos de entrada tienen (demasiados niveles|que ser un objeto JSON)',
    'La petición lleva demasiados valores',
    'La petición no (lleva JSON válido|es HTTP válido|llegó entera)',
    'Las cabeceras de la petición son demasiado largas$',
    'La dirección no está bien codificada$',
    'Un lote ',
    '(Ya hay|El documento ya tiene) .*, el máximo$',
  ].join('|')})`,
);
/** Texts about a tool that is not available or takes no arguments. */
const OF_THE_CALL = /^(Esta herramienta|Hay argumentos)/;
/** Refusals that name no parameter, by text, for the report. */
export const unnamed = new Map<string, number>();

function isMalformed(message: string): boolean {
  if (!MALFORMED.test(message)) return false;
  const [line = ''] = message.split('\n');
  const text = line.length > 120 ? `${line.slice(0, 119)}…` : line;
  unnamed.set(text, (unnamed.get(text) ?? 0) + 1);
  return true;
}

/** Texts that neither an answer nor a request contains. */
const INSIDE =
  /node_modules|\.ts:\d|\bat \w+ \(|violates|syntax error at or near|invalid input syntax|SQLSTATE|ECONN|kysely/i;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const namesFields = (fields: unknown): boolean =>
  Array.isArray(fields) &&
  fields.length > 0 &&
  fields.every((field) => isObject(field) && typeof field.campo === 'string' && field.campo !== '');

/** The faults of an answer; empty if it is right. */
export function problemOf(request: FuzzRequest, { status, text }: Response): string | undefined {
  if (status >= 500) return `a ${status}`;
  if (INSIDE.test(text)) return 'tells of the inside';
  if (request.method === 'HEAD') return text === '' ? undefined : 'HEAD with a body';
  if (status === 304) {
    const asked = request.headers.some(([name]) => name.toLowerCase() === 'if-none-match');
    return asked && text === '' ? undefined : 'a 304 that nobody asked for, or with a body';
  }
  if (status === 200 && holdsNoText(request)) return 'took bytes that are no UTF-8, or half a character';
  const unread = status === 400 && isTooLong(request) && text.includes('demasiado largas');
  return SHAPES[unread ? 'envelope' : request.shape](status, text, request);
}

/** Whether every interface must refuse its body. W-10 */
function holdsNoText({ method, shape, body }: FuzzRequest): boolean {
  if (!body || shape === 'any' || (method !== 'POST' && method !== 'PUT')) return false;
  if (!isUtf8(body)) return true;
  let whole = true;
  try {
    JSON.parse(body.toString(), (name, value: unknown) => {
      whole &&= name.isWellFormed() && (typeof value !== 'string' || value.isWellFormed());
      return value;
    });
  } catch {
    return false;
  }
  return !whole;
}

/** Whether address and headers are too long: Node refuses such a request. */
export const isTooLong = ({ path, headers }: FuzzRequest) =>
  headers.reduce((length, [name, value]) => length + name.length + value.length + 4, path.length) > MOST_HEAD;

/** The names that a refusal of this operation may mention. */
const namesIn = new Map(
  operations.map(({ path, input }) => [
    path,
    [...places(input)].flatMap(({ path: steps }) => steps.filter((step) => typeof step === 'string')),
  ]),
);

const SHAPES: Record<Shape, (status: number, text: string, request: FuzzRequest) => string | undefined> = {
  any: () => undefined,
  envelope(status, text) {
    const body = parsed(text);
    if (!isObject(body) || Object.keys(body).join() !== 'errorCode,errorMsg,data') return 'no envelope';
    const { errorCode, errorMsg, data } = body;
    if (errorCode !== status || typeof errorMsg !== 'string') return 'an envelope that says otherwise';
    if (status === 200 ? errorMsg !== '' : errorMsg === '') return 'a message that does not fit';
    if (status === 400 && !namesFields(data) && !isMalformed(errorMsg)) return 'a 400 that names nothing';
    return undefined;
  },
  tRPC(_status, text) {
    const body = parsed(text);
    for (const one of [body].flat()) {
      if (!isObject(one) || !('result' in one || 'error' in one)) return 'no answer of tRPC';
      if (!isObject(one.error)) continue;
      const { json } = one.error;
      const { message, data } = isObject(json) ? json : {};
      if (!isObject(data) || typeof message !== 'string' || message === '')
        return 'an error of tRPC without its fields';
      if (data.httpStatus === 400 && !namesFields(data.fields) && !isMalformed(message))
        return 'a 400 that names nothing';
    }
    return undefined;
  },
  MCP(status, text, { about: [path = ''] }) {
    if (text === '') return status === 202 ? undefined : 'no answer of the connector';
    const lines = [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => data);
    for (const body of lines.length > 0 ? lines : [text]) {
      for (const one of [parsed(body)].flat()) {
        if (!isObject(one) || one.jsonrpc !== '2.0') return 'no answer of JSON-RPC';
        if ('error' in one) {
          if (!isObject(one.error) || typeof one.error.message !== 'string')
            return 'an error of JSON-RPC without its message';
        } else {
          const { isError, content = [] } = resultOf(JSON.stringify(one)) ?? {};
          const told = content[0]?.text ?? '';
          if (!isError) continue;
          if (told.startsWith('Error interno')) return 'an error of ours';
          const names = [...(namesIn.get(path) ?? []), 'clave_idempotencia', 'X-Max-Lag'];
          const says = names.some((name) => told.includes(name)) || OF_THE_CALL.test(told) || isMalformed(told);
          if (!says) return 'a refusal that names nothing';
        }
      }
    }
    return undefined;
  },
};
