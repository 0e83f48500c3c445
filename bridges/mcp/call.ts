// Runs a `tools/call`: admits the caller, checks for unknown arguments, runs the operation and builds the result. Errors become
// error results that tell the model how to correct the call (MCP-04).
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { CallContext } from '../../platform/context.ts';
import { ApiError, asApiError, badField, badInput, fieldName, forbidden } from '../../platform/errors.ts';
import { idempotencyKey } from '../../platform/idempotency.ts';
import { type JsonText, jsonObject } from '../../platform/json-text.ts';
import { unknownKeys } from '../../routers/shared/calls/walk.ts';
import { callOperation, shownAnswer } from '../operations.ts';
import { type Caller, isForKeysAlone } from './caller.ts';
import { rowsOf } from './rows.ts';
import { IDEMPOTENCY_ARGUMENT, TOOL_PAGE_SIZE, type Tool, toolNamed } from './tools.ts';

type Arguments = Record<string, unknown>;

const FOR_KEYS_ALONE =
  'Esta herramienta solo se puede usar con una clave de API. Una aplicación autorizada puede consultar, crear contactos y ' +
  'oportunidades y mover oportunidades entre etapas.';

/** Calls a tool by name. An unknown tool is a JSON-RPC error; every other failure is a result with `isError`. */
export async function callTool(caller: Caller, name: string, args: Arguments): Promise<CallToolResult> {
  const tool = toolNamed(name);
  if (!tool) throw unknownTool(name);
  return resultOf(caller, name, tool, (headers) => run(tool, caller, headers, args));
}

/** The JSON-RPC error for a tool that does not exist. */
export const unknownTool = (name: string) =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${name} not found`);

/** Converts the answer or error of `answer` to a tool result, counts the call in the metrics (if it has a tool) and logs it. */
export async function resultOf(
  { call, principal, answers }: Caller,
  name: string,
  tool: Tool | undefined,
  answer: (headers: CallContext['headers']) => Promise<JsonText>,
): Promise<CallToolResult> {
  const { log } = call.service;
  const { requestId } = call;
  const started = performance.now();
  let status = 200;
  try {
    const headers: CallContext['headers'] = {};
    const content = await answer(headers);
    const replayed = 'Idempotent-Replayed';
    const result: CallToolResult = {
      ...(headers[replayed] && { _meta: { [replayed]: true } }),
      structuredContent: answers.value(content).parse(),
      content: [{ type: 'text', text: answers.text(content) }],
    };
    if (tool) {
      const { alias, write } = tool.operation;
      const rows = write ? null : rowsOf(content);
      call.service.activity.assistantCalled(principal, { operation: alias, requestId, rows });
    }
    return result;
  } catch (error) {
    const known = asApiError(error);
    status = known.status;
    if (status >= 500) log.error({ err: known.cause ?? error, requestId }, known.message);
    return { isError: true, content: [{ type: 'text', text: explanation(known, tool?.sources ?? [], requestId) }] };
  } finally {
    const ms = Math.round((performance.now() - started) * 10) / 10;
    if (tool) {
      const { alias } = tool.operation;
      call.service.metrics?.callAnswered({ operation: alias, door: 'mcp', status, milliseconds: ms });
      call.service.activity.answered(principal, alias, status);
    }
    log.info(
      { tool: name, status, ms, account: principal.accountId, actor: principal.actor, requestId },
      'tool called',
    );
  }
}

/** Checks the scope, the quota and then the arguments (ENV-09), and runs the operation. */
async function run(tool: Tool, caller: Caller, headers: CallContext['headers'], args: Arguments) {
  const { operation } = tool;
  const { principal, refusal } = caller;
  if (isForKeysAlone(principal, operation)) throw new ApiError('forbidden', FOR_KEYS_ALONE);
  if (!principal.scopes.has(operation.scope)) throw forbidden();
  if (refusal) throw refusal;
  // A copy for each message: the messages of a batch share the request's context.
  const call: CallContext = { ...caller.call, principal, headers };
  const { [IDEMPOTENCY_ARGUMENT]: key, ...rest } = args;
  const input = operation.write ? rest : args;
  if (operation.write) call.idempotencyKeys = givenKey(key);
  refuseUnknown(operation.input, tool.definition, input);
  const answer = await callOperation(
    operation,
    call,
    tool.paged ? { ...input, por_pagina: input.por_pagina ?? TOOL_PAGE_SIZE } : input,
  );
  caller.confirmed = true;
  const data = shownAnswer(operation, answer, headers);
  return tool.wrapped ? jsonObject({ data }) : data;
}

/** Throws 400 for unknown arguments; the message lists the known ones. ENV-06 */
export function refuseUnknown(input: z.ZodObject, { inputSchema }: Tool['definition'], args: Arguments): void {
  const unknown = unknownKeys(input, args);
  if (unknown.length === 0) return;
  const known = Object.keys(inputSchema.properties ?? {}).join(', ') || 'ninguno';
  throw badInput(
    unknown.map((path) => ({ campo: fieldName(path), mensaje: 'no existe' })),
    `Hay argumentos que esta herramienta no tiene; los suyos son: ${known}`,
  );
}

function givenKey(key: unknown): string[] {
  if (key === undefined || key === null) return [];
  if (typeof key !== 'string') throw badField(IDEMPOTENCY_ARGUMENT, 'se esperaba un texto');
  return [idempotencyKey([key], IDEMPOTENCY_ARGUMENT) ?? []].flat();
}

/** The error's text: the message, the invalid arguments, the time to wait, and which tool returns ids of the kind that was wrong. */
function explanation(
  { message, fields, retryAfterSeconds, status }: ApiError,
  sources: Tool['sources'],
  requestId: string,
): string {
  const [first] = fields;
  // Messages whose text the specification fixes may not name the argument.
  const tellsFirst = first !== undefined && message.endsWith(first.mensaje) && message.includes(first.campo);
  const lines = [status >= 500 ? `${message} (petición ${requestId})` : message];
  if (tellsFirst && fields.length > 1) lines[0] = 'Hay argumentos que no son válidos:';
  if (!tellsFirst || fields.length > 1) lines.push(...fields.map(({ campo, mensaje }) => `- ${campo}: ${mensaje}`));
  if (retryAfterSeconds !== undefined) lines.push(`Se puede repetir la llamada dentro de ${retryAfterSeconds} s.`);
  const atFault = fields.length > 0 ? fields.map(({ campo }) => campo).join(' ') : message;
  for (const { field, source } of sources) {
    const [id] = field.exec(atFault) ?? [];
    if (id) lines.push(`${id} se obtiene con ${source}.`);
  }
  return lines.join('\n');
}
