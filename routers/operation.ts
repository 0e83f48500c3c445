// The builder that every operation is made with: a tRPC procedure, and the function behind it that all doors call. Around a handler
// it puts, in this order: the caller (401), the scope (403), the quota (429), the input's form (400), its ids (404), and the company's
// transaction with idempotency and audit (ENV-09). What a handler gets is numbers and rows; what a caller gets is sealed.
import { initTRPC, type TRPCMutationProcedure, type TRPCQueryProcedure } from '@trpc/server';
import { z } from 'zod';
import type { CallContext, OperationContext } from '../platform/context.ts';
import { AnswerTooLong, ApiError, badField } from '../platform/errors.ts';
import { type JsonText, notTooLong } from '../platform/json-text.ts';
import type { Scope } from '../platform/principal.ts';
import { traced } from '../platform/tracing.ts';
import { type Admission, admit, revalidate } from './shared/calls/admission.ts';
import { type Executed, execute, executionOf } from './shared/calls/execution.ts';
import { given, type InputSpec, inputSchema, narrowable, wrongInput } from './shared/calls/input.ts';
import { sealer } from './shared/calls/sealing.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** What an operation states of itself; every door follows from it. */
export interface OperationMeta {
  title: string;
  /** When to use it, and which tools supply its ids: also the MCP tool's description. */
  description: string;
  /** `GET /employees/{empleadoId}/times`, under /api/v1; the first is the main one. */
  rest: readonly [`${Method} /${string}`, ...`${Method} /${string}`[]];
  /** Name of the v0 alias; the MCP tool's is the same in snake_case. */
  alias: string;
  scope: Scope;
  /** A write that an application with an access token may call too; every other is for API keys alone. MCP-02 */
  oauthWrite: boolean;
  /** A write that replaces what was there, rather than adding to it. */
  destructive: boolean;
  /** The text parameter that REST also takes as a body of its own, `application/x-ndjson`. */
  lines?: string | undefined;
  /** A read whose answer has an entity tag, with which an unchanged one is 304. JRN-04 */
  lasts: boolean;
  /** The media type of the file that it answers about: REST gives the file itself to whom accepts that type rather than JSON. */
  file?: string | undefined;
  /** What it asks for may no longer be kept: 410. */
  gone?: boolean | undefined;
  /** A creation that answers the record there is, with the header `X-Existing: true`, where its natural key is known. W-03 */
  existing: boolean;
  input: z.ZodObject;
  output: z.ZodType;
  /** What `existing` is about stands in the headers alone. */
  run: Run;
}

/** Answers a call as its schema says, in text. `read` gives the input as it was sent, once the caller is admitted. */
export type Run = (call: CallContext, read: () => unknown) => Promise<JsonText>;

interface OperationSpec<Shape extends z.ZodRawShape, Output extends z.ZodType, Made>
  extends Omit<OperationMeta, 'input' | 'output' | 'run' | 'oauthWrite' | 'destructive' | 'existing' | 'lasts'>,
    Omit<InputSpec, 'input'>,
    Executed<z.output<z.ZodObject<Shape>>, Made> {
  oauthWrite?: boolean;
  destructive?: boolean;
  existing?: boolean;
  input: Shape;
  output: Output;
  handler(
    call: OperationContext & { input: z.output<z.ZodObject<Shape>>; made: Made | undefined },
  ): Promise<z.input<Output> | JsonText<z.input<Output>>>;
}

/** An operation's types as tRPC's callers see them: an input can be left out where none of it is required. */
interface Wire<Shape extends z.ZodRawShape, Output> {
  input: z.input<z.ZodObject<Shape>> | (Record<never, never> extends z.input<z.ZodObject<Shape>> ? undefined : never);
  output: Output;
  meta: unknown;
}

export type Procedure =
  | TRPCQueryProcedure<{ input: unknown; output: unknown; meta: unknown }>
  | TRPCMutationProcedure<{ input: unknown; output: unknown; meta: unknown }>;

const t = initTRPC.context<CallContext>().create({
  // Superjson's wire format, of which inputs and answers need `json` alone: they are plain JSON by schema. What `meta` could
  // add (dates, cycles, one value in many places) no operation takes, and `undefined` has its null in `json`.
  transformer: {
    serialize: (json: unknown) => ({ json }),
    deserialize(wire: unknown) {
      if (typeof wire === 'object' && wire !== null && 'json' in wire) return wire.json;
      throw badField('input', 'los datos van dentro de json: {"json": {...}}');
    },
  },
});

export const router = t.router;

const metas = new WeakMap<object, OperationMeta>();

/** What an operation states of itself. */
export function metaOf(procedure: Procedure): OperationMeta {
  const meta = metas.get(procedure);
  if (!meta) throw new Error('Not made with operation()');
  return meta;
}

/** Makes one operation. See any file beside this one's folders for how it reads. */
export function operation<Shape extends z.ZodRawShape, Output extends z.ZodType, Made>(
  spec: OperationSpec<Shape, Output, Made> & { scope: 'svc.read' },
): TRPCQueryProcedure<Wire<Shape, z.output<Output>>>;
export function operation<Shape extends z.ZodRawShape, Output extends z.ZodType, Made>(
  spec: OperationSpec<Shape, Output, Made> & { scope: 'svc.write'; existing?: false },
): TRPCMutationProcedure<Wire<Shape, z.output<Output>>>;
export function operation<Shape extends z.ZodRawShape, Output extends z.ZodType, Made>(
  spec: OperationSpec<Shape, Output, Made> & { scope: 'svc.write'; existing: true },
): TRPCMutationProcedure<Wire<Shape, { data: z.output<Output>; existente: boolean }>>;
export function operation<Shape extends z.ZodRawShape, Output extends z.ZodType, Made>(
  spec: OperationSpec<Shape, Output, Made>,
): Procedure {
  const { title, description, rest, alias, scope, output } = spec;
  const { oauthWrite = false, destructive = false, existing = false, lines, file, gone } = spec;
  const input = inputSchema(spec.input);
  const execution = executionOf(spec, input);
  const sealed = sealer(output);

  const run: Run = async (call, read) => {
    const principal = call.principal ?? (await admit(call, scope));
    const admission: Admission = { principal, progress: { formed: false } };
    return traced(alias, { attributes: { 'albaran.door': call.door } }, async () => {
      try {
        if (call.malformed) throw call.malformed;
        const parsed = input.parse(given(spec, input, await read()));
        return await execute(execution, call, admission, parsed, async (work) => {
          const { ids, checkOutputs } = call.service;
          const text = notTooLong(await sealed(ids, principal.accountId, await spec.handler(work)));
          if (checkOutputs) check(alias, output, text);
          return text;
        });
      } catch (error) {
        throw await refusal(spec, call, admission, error);
      }
    });
  };
  const called = t.procedure.input((raw: unknown) => raw);
  const resolve = ({ ctx, input: raw }: { ctx: CallContext; input: unknown }) => run(ctx, () => raw);
  const procedure = scope === 'svc.write' ? called.mutation(resolve) : called.query(resolve);
  // Where tRPC's tools look for the schema by which `run` reads the input.
  Object.assign(procedure._def, { inputs: [input] });
  metas.set(procedure, {
    title,
    description,
    rest,
    alias,
    scope,
    oauthWrite,
    destructive,
    existing,
    lasts: execution.lasts,
    file,
    gone,
    lines,
    input,
    output,
    run,
  });
  return procedure;
}

/** What a failed call is told: of a wrong form only who calls with a key that still lives. */
async function refusal(
  spec: InputSpec,
  { service, credentials }: CallContext,
  { principal, progress }: Admission,
  error: unknown,
): Promise<unknown> {
  const told = progress.formed
    ? error
    : await revalidate(service, principal).then(
        () => wrongInput(spec, error),
        (gone: unknown) => gone,
      );
  if (told instanceof ApiError && told.kind === 'unauthorized') service.keys.forget(credentials);
  return told instanceof AnswerTooLong ? narrowable(spec.input) : told;
}

/** Throws where an answer is not as its schema says: inside its transaction, so that a wrong one leaves nothing behind (CHECK_OUTPUTS). */
function check(alias: string, schema: z.ZodType, answer: JsonText): void {
  const { success, error } = schema.safeParse(answer.parse());
  if (!success) throw new Error(`${alias} answered against its schema: ${z.prettifyError(error)}`);
}
