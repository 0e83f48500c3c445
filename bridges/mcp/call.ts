// One `tools/call`: admitted and counted, its arguments checked for unknown names, run as every door runs it, and answered
// in the protocol's shape. What goes wrong is an error result that tells a model how to do better (MCP-04).
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { CallContext } from '../../platform/context.ts';
import { ApiError, asApiError, badField, badInput, fieldName } from '../../platform/errors.ts';
import { idempotencyKey } from '../../platform/idempotency.ts';
import { type JsonText, jsonObject } from '../../platform/json-text.ts';
import type { Principal } from '../../platform/principal.ts';
import { admit } from '../../routers/operation.ts';
import { unknownKeys } from '../../routers/shared/walk.ts';
import { callOperation } from '../operations.ts';
import { type Caller, isForKeysAlone } from './caller.ts';
import { IDEMPOTENCY_ARGUMENT, TOOL_PAGE_SIZE, type Tool, toolNamed } from './tools.ts';

type Arguments = Record<string, unknown>;

const FOR_KEYS_ALONE =
  'Esta herramienta solo se puede usar con una clave de API. Una aplicación autorizada puede consultar, crear contactos y ' +
  'oportunidades y mover oportunidades entre etapas.';

/** Calls a tool by name. A JSON-RPC error for an unknown one; every other failure is a result with `isError`. */
export async function callTool(caller: Caller, name: string, args: Arguments): Promise<CallToolResult> {
  const { call, principal, answers } = caller;
  const tool = toolNamed(name);
  if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${name} not found`);
  const { log } = call.service;
  const { requestId } = call;
  const started = performance.now();
  let status = 200;
  try {
    // Messages of a batch share the request, and nothing else.
    const data = await run(tool, principal, { ...call, principal, headers: {} }, args);
    caller.confirmed = true;
    const content = tool.wrapped ? jsonObject({ data }) : data;
    return {
      structuredContent: answers.value(content).parse(),
      content: [{ type: 'text', text: answers.text(content) }],
    };
  } catch (error) {
    const known = asApiError(error);
    status = known.status;
    if (status >= 500) log.error({ err: known.cause ?? error, requestId }, known.message);
    return { isError: true, content: [{ type: 'text', text: explanation(known, tool, requestId) }] };
  } finally {
    const ms = Math.round((performance.now() - started) * 10) / 10;
    const { alias } = tool.operation;
    call.service.metrics?.callAnswered({ operation: alias, door: 'mcp', status, milliseconds: ms });
    log.info(
      { tool: name, status, ms, account: principal.accountId, actor: principal.actor, requestId },
      'tool called',
    );
  }
}

/** The scope, the quota, then the arguments: ENV-09. */
async function run(tool: Tool, principal: Principal, call: CallContext, args: Arguments): Promise<JsonText> {
  const { operation } = tool;
  if (isForKeysAlone(principal, operation)) throw new ApiError('forbidden', FOR_KEYS_ALONE);
  await admit(call, operation.scope);
  const { [IDEMPOTENCY_ARGUMENT]: key, ...rest } = args;
  const input = operation.write ? rest : args;
  if (operation.write) call.idempotencyKey = givenKey(key);
  const unknown = unknownKeys(operation.input, input);
  if (unknown.length > 0) {
    const known = Object.keys(tool.definition.inputSchema.properties ?? {}).join(', ') || 'ninguno';
    throw badInput(
      unknown.map((path) => ({ campo: fieldName(path), mensaje: 'no existe' })),
      `Hay argumentos que esta herramienta no tiene; los suyos son: ${known}`,
    );
  }
  return callOperation(
    operation,
    call,
    tool.paged ? { ...input, por_pagina: input.por_pagina ?? TOOL_PAGE_SIZE } : input,
  );
}

function givenKey(key: unknown): string | undefined {
  if (key === undefined || key === null) return undefined;
  if (typeof key !== 'string') throw badField(IDEMPOTENCY_ARGUMENT, 'se esperaba un texto');
  return idempotencyKey(key, IDEMPOTENCY_ARGUMENT);
}

/** What went wrong, each argument at fault, how long to wait, and the tool that gives the identifier that was wrong. */
function explanation({ message, fields, retryAfterSeconds, status }: ApiError, tool: Tool, requestId: string): string {
  const [first] = fields;
  // A message that the specification words need not name what is at fault.
  const tellsFirst = first !== undefined && message.endsWith(first.mensaje) && message.includes(first.campo);
  const lines = [status >= 500 ? `${message} (petición ${requestId})` : message];
  if (tellsFirst && fields.length > 1) lines[0] = 'Hay argumentos que no son válidos:';
  if (!tellsFirst || fields.length > 1) lines.push(...fields.map(({ campo, mensaje }) => `- ${campo}: ${mensaje}`));
  if (retryAfterSeconds !== undefined) lines.push(`Se puede repetir la llamada dentro de ${retryAfterSeconds} s.`);
  const atFault = fields.length > 0 ? fields.map(({ campo }) => campo).join(' ') : message;
  for (const [id, source] of tool.sources) {
    if (new RegExp(`\\b${id}\\b`).test(atFault)) lines.push(`${id} se obtiene con ${source}.`);
  }
  return lines.join('\n');
}
