// Every operation as plain requests, one for each interface that offers it, and the outcomes of the proofs' requests.

import type { Operation } from '../../bridges/operations.ts';
import type { Input } from '../helpers/places.ts';
import { toolCall } from '../oauth/application.ts';

export type DoorName = 'v1' | 'v1, other path' | 'v0' | 'tRPC' | 'MCP, key' | 'MCP, token';

export interface Call {
  door: DoorName;
  method: string;
  path: string;
  /** JSON. */
  body?: string;
}

/** Credentials as headers: two for an API key, one for an access token. */
export interface Caller {
  key: Record<string, string>;
  token?: string | undefined;
}

/** In an address, a list is one with commas. */
const text = (value: unknown) =>
  Array.isArray(value) ? value.join() : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** REST by one of its paths, with the rest of the input in the query or the body. */
export function routeCall({ method, path, parameters }: Operation['routes'][number], input: Input): Omit<Call, 'door'> {
  const url = `/api/v1${path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(text(input[name]).toWellFormed()))}`;
  const rest = Object.entries(input).filter(([name, value]) => !parameters.includes(name) && value !== undefined);
  if (method !== 'GET') return { method, path: url, body: JSON.stringify(Object.fromEntries(rest)) };
  const query = new URLSearchParams(rest.map(([name, value]) => [name, text(value)])).toString();
  return { method, path: query ? `${url}?${query}` : url };
}

export function trpcCall({ path, write }: Operation, input: unknown): Omit<Call, 'door'> {
  const json = JSON.stringify({ json: input });
  return write
    ? { method: 'POST', path: `/trpc/${path}`, body: json }
    : { method: 'GET', path: `/trpc/${path}?input=${encodeURIComponent(json)}` };
}

/** The operation with this input through every interface; the connector with a token if it accepts one. */
export function callsOf(operation: Operation, input: Input): Call[] {
  const rpc = { method: 'POST', path: '/mcp', body: JSON.stringify(toolCall(operation.tool, input)) };
  return [
    ...operation.routes.map(
      (route, index): Call => ({
        door: index === 0 ? 'v1' : 'v1, other path',
        ...routeCall(route, input),
      }),
    ),
    { door: 'v0', method: 'POST', path: `/${operation.alias}`, body: JSON.stringify(input) },
    { door: 'tRPC', ...trpcCall(operation, input) },
    { door: 'MCP, key', ...rpc },
    ...(operation.write && !operation.oauthWrite ? [] : [{ door: 'MCP, token', ...rpc } as const]),
  ];
}

export const headersOf = ({ door, body }: Call, { key, token }: Caller): Record<string, string> => ({
  ...(door === 'MCP, token' ? { authorization: `Bearer ${token}` } : key),
  ...(door.startsWith('MCP') && { accept: 'application/json, text/event-stream' }),
  ...(body !== undefined && { 'content-type': 'application/json' }),
});

export interface Outcome {
  /** The status of the operation: the connector gives failures as text only. */
  status: number;
  /** The answer without what differs between calls. */
  told: string;
  /** The complete response with headers. */
  everything: string;
}

/** Sends a call and reads its outcome. */
export async function send(url: string, call: Call, caller: Caller): Promise<Outcome> {
  const { method, path, body } = call;
  const response = await fetch(url + path, {
    method,
    headers: headersOf(call, caller),
    ...(body !== undefined && { body }),
  });
  const answer = await response.text();
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  const everything = `${headers}\n\n${answer}`;
  if (!call.door.startsWith('MCP')) return { status: response.status, told: withoutRequestId(answer), everything };
  const result = resultOf(answer);
  return { status: result ? statusOf(result) : response.status, told: withoutRequestId(answer), everything };
}

const withoutRequestId = (answer: string) => answer.replaceAll(/"requestId":"[^"]*"/g, '');

export interface ToolResult {
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
  content: { text: string }[];
}

/** The result of a `tools/call`, as JSON or as an event of a stream. */
export function resultOf(answer: string): ToolResult | undefined {
  const json = answer.startsWith('event:') ? (/^data: (.+)$/m.exec(answer)?.[1] ?? '') : answer;
  return json === '' ? undefined : JSON.parse(json).result;
}

/** Messages of the connector's failures and their statuses. */
const STATUS_IN_WORDS: readonly [RegExp, number][] = [
  [/^No existe el registro indicado en/, 404],
  [/ con esta clave de idempotencia sigue en curso/, 409],
  [/^Error interno/, 500],
  [/^El servicio .*\(petición /, 503],
];

/** The status that another interface would have given. */
export function statusOf({ isError, content: [first] }: ToolResult): number {
  if (!isError) return 200;
  return STATUS_IN_WORDS.find(([words]) => words.test(first?.text ?? ''))?.[1] ?? 400;
}
