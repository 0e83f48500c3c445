// The requests of `npm run prove:input`: from the OpenAPI document, and valid calls broken in one or several ways. Each depends only
// on the seed and its number.
import { gzipSync } from 'node:zlib';
import { operations } from '../../../bridges/operations.ts';
import { examples } from '../../helpers/examples.ts';
import { type Input, places, withValue } from '../../helpers/places.ts';
import { toolCall } from '../../oauth/application.ts';
import { routeCall, trpcCall } from '../doors.ts';
import { Random } from '../random.ts';
import { BREAKS, CONTENT_TYPES, FORMS, HEADERS, METHODS, OTHERS, PATH_ENDS, RARE, RAW } from './odd.ts';
import { fromSchema, junk, type OpenApi, TEXTS, withName } from './values.ts';

/** The expected form of the answer. `any`: a page, a document or the result of a mangled address. */
export type Shape = 'envelope' | 'tRPC' | 'MCP' | 'any';

export interface FuzzRequest {
  /** What is odd about it. */
  about: string[];
  shape: Shape;
  method: string;
  path: string;
  headers: [string, string][];
  body?: Buffer;
  /** The body is sent in so many pieces with pauses. */
  pieces?: number;
  /** Raw bytes on a new connection. The service may close it instead of answering. */
  raw?: Buffer;
}

const operationsByWeight = operations.flatMap((operation) => (operation.write ? [operation, operation] : [operation]));

function inputFor(
  document: OpenApi,
  random: Random,
): { operation: (typeof operations)[number]; input: Input; about: string[] } {
  const operation = random.pick(operationsByWeight);
  const about: string[] = [operation.path];
  const { alias } = operation;
  const schema = document.components.schemas[`${alias.charAt(0).toUpperCase()}${alias.slice(1)}Parametros`];
  let input: Input = structuredClone(examples[operation.path] ?? {});
  if (schema && random.chance(0.4)) {
    const made = fromSchema(schema, random);
    about.push('from the document');
    // Path parameters must not be empty.
    if (typeof made === 'object' && made !== null && !Array.isArray(made)) {
      const path = operation.routes.flatMap(({ parameters }) => parameters);
      input = { ...Object.fromEntries(path.map((name) => [name, input[name]])), ...made };
    } else input = withName(input, 'x', made);
  }
  const where = [...places(operation.input)];
  for (let changes = random.pick([0, 1, 1, 1, 2, 3]); changes > 0 && where.length > 0; changes--) {
    const { path } = random.pick(where);
    try {
      input = withValue(input, path, junk(random));
    } catch {
      // An earlier mutation replaced its parent.
    }
    about.push(`junk at ${path.join('.')}`);
  }
  return { operation, input, about };
}

/** The request of this number. Its credentials are those of the examples' company. */
export function makeRequest(
  seed: number,
  number: number,
  document: OpenApi,
  credentials: Record<string, string>,
): FuzzRequest {
  const random = new Random(seed, number);
  const kind = random.next();
  const key: [string, string][] = Object.entries(credentials);
  if (kind < 0.01) return rawRequest(random, key);
  if (kind < 0.06) return otherRequest(random, key);

  const { operation, input, about } = inputFor(document, random);
  const request: FuzzRequest = { about, shape: 'envelope', method: 'POST', path: '', headers: [...key] };
  const door = random.next();
  let body: string | undefined;
  if (door < 0.35) {
    ({ method: request.method, path: request.path, body } = routeCall(random.pick(operation.routes), input));
  } else if (door < 0.65) {
    request.path = `/${operation.alias}`;
    body = JSON.stringify(input);
  } else if (door < 0.8) {
    request.shape = 'tRPC';
    const wrapped = random.chance(0.95) ? input : junk(random);
    ({ method: request.method, path: request.path, body } = trpcCall(operation, wrapped));
  } else {
    request.shape = 'MCP';
    request.path = '/mcp';
    request.headers.push(['Accept', 'application/json, text/event-stream']);
    body = JSON.stringify(mcpMessage(operation.tool, input, random));
  }
  if (body !== undefined) {
    request.body = Buffer.from(body);
    request.headers.push(['Content-Type', 'application/json']);
  }
  if (request.body && random.chance(0.15)) {
    const names = Object.keys(BREAKS).filter((name) => !RARE.has(name) || random.chance(0.03));
    const name = random.pick(names);
    about.push(`body: ${name}`);
    request.body = BREAKS[name]?.(request.body, random) ?? request.body;
  }
  oddHeaders(request, random);
  oddAddress(request, random);
  if (request.body && random.chance(0.004)) {
    request.pieces = random.int(2, 8);
    about.push('slowly');
  }
  return request;
}

function mcpMessage(tool: string, input: Input, random: Random): unknown {
  const message = toolCall(tool, input);
  const odd = random.next();
  if (odd < 0.8) return message;
  if (odd < 0.84) return { ...message, id: junk(random) };
  if (odd < 0.88)
    return {
      ...message,
      method: random.pick(['tools/list', 'initialize', 'ping', 'x', '__proto__', 'resources/list']),
    };
  if (odd < 0.92) return { ...message, params: junk(random) };
  if (odd < 0.94) return { ...message, params: { name: random.pick(TEXTS), arguments: input } };
  if (odd < 0.96) return [message, toolCall(tool, input, 2), junk(random)];
  if (odd < 0.98) return { ...message, jsonrpc: junk(random) };
  return junk(random);
}

function oddHeaders(request: FuzzRequest, random: Random): void {
  const { about } = request;
  const set = (name: string, value: string) => {
    request.headers = request.headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase());
    request.headers.push([name, value]);
  };
  if (random.chance(0.03)) {
    const type = random.pick(CONTENT_TYPES);
    about.push(`Content-Type: ${type}`);
    set('Content-Type', type);
  }
  if (random.chance(0.12)) {
    const [name, value] = random.pick(HEADERS);
    about.push(`${name}: ${value.slice(0, 40)}`);
    if (random.chance(0.2)) request.headers.push([name, value]);
    else set(name, value);
    if (value === 'gzip' && request.body && random.chance(0.5)) request.body = gzipSync(request.body);
  }
  if (random.chance(0.02)) {
    about.push('without credentials');
    request.headers = request.headers.filter(([name]) => !name.startsWith('x-api'));
  }
}

function oddAddress(request: FuzzRequest, random: Random): void {
  const { about } = request;
  if (random.chance(0.02)) {
    request.method = random.pick(METHODS);
    about.push(request.method);
  }
  if (random.chance(0.04)) {
    const end = random.pick(PATH_ENDS);
    about.push(`address${end.slice(0, 40)}`);
    const [path = '', query] = request.path.split('?');
    request.path = end.startsWith('?') && query ? `${path}${end}&${query}` : `${path}${end}${query ? `?${query}` : ''}`;
    if (request.shape !== 'envelope') request.shape = 'any';
    if (/\.\./.test(end)) request.shape = 'any';
  }
}

function otherRequest(random: Random, key: [string, string][]): FuzzRequest {
  const path = random.pick(OTHERS) + (random.chance(0.2) ? random.pick(PATH_ENDS) : '');
  const method = random.chance(0.7) ? random.pick(['GET', 'POST']) : random.pick(METHODS);
  const request: FuzzRequest = {
    about: ['another address'],
    shape: 'any',
    method,
    path,
    headers: random.chance(0.5) ? key : [],
  };
  if (method !== 'GET' && method !== 'HEAD') {
    const asForm = random.chance(0.6);
    request.body = Buffer.from(asForm ? random.pick(FORMS) : (JSON.stringify(junk(random)) ?? ''));
    // Expensive to parse, if it were parsed before the caller is known.
    if (!asForm && random.chance(0.2)) request.body = BREAKS['many elements']?.(request.body, random) ?? request.body;
    request.headers = [
      ...request.headers,
      ['Content-Type', asForm ? 'application/x-www-form-urlencoded' : 'application/json'],
    ];
  }
  oddHeaders(request, random);
  return request;
}

/** Bytes that are barely HTTP, or a call whose body never comes. */
function rawRequest(random: Random, key: [string, string][]): FuzzRequest {
  const request: FuzzRequest = { about: ['bytes'], shape: 'any', method: '', path: '', headers: [] };
  if (random.chance(0.6)) return { ...request, raw: Buffer.from(random.pick(RAW), 'latin1') };
  const operation = random.pick(operations);
  const body = JSON.stringify(examples[operation.path] ?? {});
  const head = [
    `POST /${operation.alias} HTTP/1.1`,
    'Host: a',
    ...key.map(([name, value]) => `${name}: ${value}`),
    'Content-Type: application/json',
    `Content-Length: ${body.length + 100}`,
  ];
  const text = `${head.join('\r\n')}\r\n\r\n${body.slice(0, random.int(0, body.length))}`;
  return { ...request, about: ['hung up in the middle of a body'], raw: Buffer.from(text) };
}
