// Every operation as plain requests, one for each door that it can be called by: what the proofs send, and what came of it.

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

/** The headers that a caller is known by: an API key's two, and an access token's one. */
export interface Caller {
  key: Record<string, string>;
  token?: string | undefined;
}

const text = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** Below /api/v1 by one of its paths, the rest of the input in the query or the body. */
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

/** The operation with this input by every door; by the connector with a token where a token may call it. */
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
  /** The operation's: the connector tells failures by their text alone. */
  status: number;
  /** The answer without what differs from one call to the next. */
  told: string;
  /** All that came back, headers included. */
  everything: string;
}

/** Sends a call and reads what came of it. */
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

/** The result of a `tools/call`, told as JSON or as an event of a stream. */
export function resultOf(answer: string): ToolResult | undefined {
  const json = answer.startsWith('event:') ? (/^data: (.+)$/m.exec(answer)?.[1] ?? '') : answer;
  return json === '' ? undefined : JSON.parse(json).result;
}

/** The connector tells what failed in words alone. */
const STATUS_IN_WORDS: readonly [RegExp, number][] = [
  [/^No existe el registro indicado en/, 404],
  [/ con esta clave de idempotencia sigue en curso/, 409],
  [/^Error interno/, 500],
  [/^El servicio .*\(petición /, 503],
];

/** The status that the operation would have had by another door. */
export function statusOf({ isError, content: [first] }: ToolResult): number {
  if (!isError) return 200;
  return STATUS_IN_WORDS.find(([words]) => words.test(first?.text ?? ''))?.[1] ?? 400;
}
