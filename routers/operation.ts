// The builder that every operation is made with. Around a handler it puts, in this order: the caller (401), the scope
// (403), the quota (429), the input's form (400), its ids (404), and the company's transaction with idempotency and
// audit (ENV-09). What a handler gets is numbers and rows; what a caller gets is sealed.
import { initTRPC } from '@trpc/server';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { sql } from 'kysely';
import { z } from 'zod';
import type { CallContext, OperationContext, Service } from '../platform/context.ts';
import { type Db, isDatabaseError, type TransactionOptions } from '../platform/database.ts';
import {
  ApiError,
  asApiError,
  badField,
  badInput,
  ERRORS,
  type FieldProblem,
  fieldName,
  forbidden,
  notFound,
  problemsOf,
} from '../platform/errors.ts';
import { claimKey, earlierAnswer, idempotencyKey, KeyTaken, keepAnswer, requestHash } from '../platform/idempotency.ts';
import { type Ids, KINDS, type Kind } from '../platform/ids.ts';
import { type JsonText, jsonObject, jsonText } from '../platform/json-text.ts';
import type { Principal, Scope } from '../platform/principal.ts';
import type { QuotaState } from '../platform/quota.ts';
import { maxLagSeconds } from '../platform/replica.ts';
import { traced } from '../platform/tracing.ts';
import { sealer } from './shared/sealing.ts';
import { type IdSite, idSites, pathOf } from './shared/walk.ts';

type Method = 'GET' | 'POST' | 'PUT';

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
  input: z.ZodObject;
  output: z.ZodType;
}

interface OperationSpec<Shape extends z.ZodRawShape, Output extends z.ZodType>
  extends Omit<OperationMeta, 'input' | 'output' | 'oauthWrite' | 'destructive'> {
  oauthWrite?: boolean;
  destructive?: boolean;
  /**
   * When its statements are planned. Writes: once. A list may be if every filter of it has an index in the list's order; one that
   * reads much of a company is better planned anew, since companies differ.
   */
  planned?: TransactionOptions['planned'];
  input: Shape;
  output: Output;
  /** The whole message of a 400 for these problems, where the specification words it. */
  badInputMessage?(problems: readonly FieldProblem[]): string | undefined;
  handler(
    call: OperationContext & { input: z.output<z.ZodObject<Shape>> },
  ): Promise<z.input<Output> | JsonText<z.input<Output>>>;
}

const t = initTRPC.context<CallContext>().create({
  // Superjson's wire format, of which inputs and answers need `json` alone: they are plain JSON by schema. What `meta` could
  // add (dates, cycles, one value in many places) no operation takes, and `undefined` has its null in `json`.
  transformer: {
    serialize: (json: unknown) => ({ json }),
    deserialize: (wire: unknown) =>
      typeof wire === 'object' && wire !== null && 'json' in wire ? wire.json : undefined,
  },
  errorFormatter({ shape, error, ctx }) {
    const { kind, status, message: text, fields, retryAfterSeconds } = asApiError(error);
    const code = ERRORS[kind].trpc;
    const requestId = ctx?.requestId ?? '';
    const message = status >= 500 ? `${text} (petición ${requestId})` : text;
    const own = { errorCode: status, errorMsg: message, fields, requestId, retryAfterSeconds };
    return {
      message,
      code: TRPC_ERROR_CODES_BY_KEY[code],
      data: { code, httpStatus: status, path: shape.data.path, ...own },
    };
  },
});

export const router = t.router;

const metas = new WeakMap<object, OperationMeta>();

/** 401, 403, 429: everything that is asked of a caller before the input is looked at. ENV-09 */
export async function admit(ctx: CallContext, scope: Scope): Promise<Principal> {
  const principal = ctx.principal ?? ctx.caller ?? (await ctx.service.keys.authenticate(ctx.credentials));
  if (!principal.scopes.has(scope)) {
    await confirm(ctx.service, principal);
    throw forbidden();
  }
  const quota = await ctx.service.quota.spend(principal).catch((error: unknown) => {
    if (error instanceof ApiError && error.kind === 'quotaSpent') {
      ctx.service.metrics?.quotaAsked('refused');
      noteQuota(ctx, { ...ctx.service.quota.peek(principal), remaining: 0 });
    }
    throw error;
  });
  ctx.service.metrics?.quotaAsked('counted');
  noteQuota(ctx, quota);
  return principal;
}

const credentialOf = ({ clock }: Service, { credential }: Principal) => ({ credential, now: clock.now() });

/** 401 for a caller who is remembered but whose key no longer lives: before any refusal that asks the database nothing. */
export const confirm = (service: Service, principal: Principal) =>
  service.database.transaction(principal.accountId, { credential: credentialOf(service, principal) }, async () => {});

/** draft-ietf-httpapi-ratelimit-headers */
function noteQuota(ctx: CallContext, quota: QuotaState) {
  const { limit, remaining, resetSeconds } = quota;
  ctx.quota = quota;
  ctx.headers['RateLimit-Policy'] = `"empresa";q=${limit};w=60`;
  ctx.headers.RateLimit = `"empresa";r=${remaining};t=${resetSeconds}`;
}

/** Makes one operation. See any file beside this one's folders for how it reads. */
export function operation<Shape extends z.ZodRawShape, Output extends z.ZodType>(spec: OperationSpec<Shape, Output>) {
  const input = z.object(spec.input, { error: notAnObject });
  const { title, description, rest, alias, scope, oauthWrite = false, destructive = false, output } = spec;
  const meta: OperationMeta = { title, description, rest, alias, scope, oauthWrite, destructive, input, output };
  const write = scope === 'svc.write';
  // Writes find what they need by its key.
  const { planned = write ? 'once' : undefined } = spec;
  const ways = write ? 'byKeys' : planned === 'once' ? 'inOrder' : undefined;
  const inputIds = idSites(input);
  const sealed = sealer(output);

  function parse(raw: unknown) {
    const parsed = input.safeParse(withoutNulls(raw ?? {}));
    const problems = parsed.success ? reversedRange(parsed.data) : problemsOf(parsed.error);
    if (!parsed.success || problems.length > 0) throw badInput(problems, spec.badInputMessage?.(problems));
    return parsed.data;
  }

  async function read({ service, principal, ...ctx }: CallContext & { principal: Principal }, raw: unknown) {
    try {
      return {
        parsed: parse(raw),
        key: write ? idempotencyKey(ctx.idempotencyKey, 'X-IDEMPOTENCY-KEY') : undefined,
        maxLag: write ? undefined : maxLagSeconds(ctx.maxLag),
      };
    } catch (error) {
      await confirm(service, principal);
      throw error;
    }
  }

  async function run(ctx: CallContext & { principal: Principal }, raw: unknown): Promise<JsonText> {
    const { parsed, key, maxLag } = await read(ctx, raw);
    const { service, principal, requestId } = ctx;
    const { accountId } = principal;
    // Of the body as it was sent: opening its ids changes it.
    const hash = key === undefined ? '' : requestHash(alias, parsed);
    const { opened, refused } = openIds(service.ids, accountId, inputIds({ value: parsed }));
    const credential = credentialOf(service, principal);
    const { now } = credential;
    const call = key === undefined ? undefined : { accountId, key, hash, now };
    const lockTimeoutMs = write ? service.idempotencyWaitMs : undefined;

    const options = { write, credential, lockTimeoutMs, planned, ways } as const;
    const attempt = () => service.database.transaction(accountId, options, work);
    if (call) return onceForKey(attempt, replay);
    if (write) return withRetries(attempt);
    const older = maxLag === undefined ? undefined : await service.replica?.read(accountId, maxLag, credential, work);
    if (!older) return attempt();
    ctx.headers['X-Lag'] = String(Math.ceil(older.lagSeconds * 1000) / 1000);
    return older.value;

    /** The answer of the call that has claimed the key; undefined when it is gone. */
    async function replay(): Promise<JsonText | undefined> {
      const earlier =
        call && (await service.database.transaction(accountId, { credential }, (db) => earlierAnswer(db, call)));
      if (earlier === undefined) return undefined;
      const { value, headers }: KeptAnswer = JSON.parse(earlier);
      Object.assign(ctx.headers, headers, { 'Idempotent-Replayed': 'true' });
      return jsonText(value);
    }

    async function work(db: Db, later: (statement: Promise<unknown>) => void): Promise<JsonText> {
      const exist = checkIds(db, accountId, opened);
      exist.catch(() => {});
      if (refused) {
        await exist;
        throw refused;
      }
      // What comes after it does not wait for it: without the claim none of it happens.
      const claimed = call && claimKey(db, call);
      claimed?.catch(() => {});
      const written: { kind: Kind; id: number }[] = [];
      const headers: Record<string, string> = {};
      const answer = spec.handler({
        input: parsed,
        db,
        accountId,
        principal,
        now,
        today: now.toZonedDateTimeISO(principal.timeZone).toPlainDate(),
        quota: ctx.quota ?? service.quota.peek(principal),
        requestId,
        log: service.log,
        header: (name, value) => {
          headers[name] = value;
        },
        downloadUrl: (target) => `${service.baseUrl}/files/${service.links.sign(target, now)}`,
        later,
        audit: (kind, id) => {
          written.push({ kind, id });
        },
      });
      answer.catch(() => {});
      await claimed;
      await exist;
      const value = sealed(service.ids, accountId, await answer);
      if (service.checkOutputs) checkOutput(value.parse());
      if (write) {
        if (written.length === 0) throw new Error(`${alias} wrote without an audit record`);
        const common = { account_id: accountId, actor: principal.actor, door: ctx.door, operation: alias };
        const records = written.map(({ kind, id }) => ({
          ...common,
          record_kind: kind,
          record_id: id,
          request_id: requestId,
        }));
        const kept = () => jsonObject<KeptAnswer>({ value, headers }).text;
        // Under a key the two are one statement.
        const keeping = key === undefined ? db : db.with('kept', (q) => keepAnswer(q, accountId, key, kept()));
        later(keeping.insertInto('audit_records').values(records).execute());
      }
      Object.assign(ctx.headers, headers);
      return value;
    }
  }

  function checkOutput(value: unknown): void {
    const checked = output.safeParse(value);
    if (!checked.success) throw new Error(`${alias} answered against its schema: ${z.prettifyError(checked.error)}`);
  }

  // Input is read in the middleware, after the caller was admitted; the types that callers see are generated (client/).
  const admitted = counted(alias).use(async ({ ctx: shared, batchIndex, next, getRawInput }) => {
    const ctx = shared.batch?.[batchIndex] ?? shared;
    const principal = ctx.principal ?? (await admit(ctx, scope));
    return next({ ctx: { ...ctx, principal, raw: await getRawInput() } });
  });
  const resolve = ({ ctx }: { ctx: CallContext & { principal: Principal; raw: unknown } }) =>
    traced(alias, { attributes: { 'albaran.door': ctx.door } }, () => run(ctx, ctx.raw)).then(
      (answer) => ctx.place?.(answer) ?? answer,
      (error: unknown) => {
        if (error instanceof ApiError && error.kind === 'unauthorized') ctx.service.keys.forget(ctx.credentials);
        throw error;
      },
    );
  const procedure = write ? admitted.mutation(resolve) : admitted.query(resolve);
  metas.set(procedure, meta);
  return procedure;
}

/** Counts the calls of tRPC's batches; the other doors count theirs themselves, refusals included that never come here. */
const counted = (operation: string) =>
  t.procedure.use(async ({ ctx: { door, service }, next }) => {
    if (door !== 'trpc' || !service.metrics) return next();
    const started = performance.now();
    const result = await next();
    const status = result.ok ? 200 : asApiError(result.error).status;
    service.metrics.callAnswered({ operation, door, status, milliseconds: performance.now() - started });
    return result;
  });

/** What an idempotency key's first call answered: the data and the headers that the operation added. IDEM-01 */
interface KeptAnswer {
  value: unknown;
  headers: Record<string, string>;
}

export type Procedure = ReturnType<typeof operation>;

/** What an operation states of itself. */
export function metaOf(procedure: Procedure): OperationMeta {
  const meta = metas.get(procedure);
  if (!meta) throw new Error('Not made with operation()');
  return meta;
}

/** What is said of an input as a whole, which has no name. */
const notAnObject = ({ code }: z.core.$ZodRawIssue) =>
  code === 'invalid_type' ? 'Los datos de entrada tienen que ser un objeto JSON' : undefined;

const DEEPEST_INPUT = 64;

/** A null in an input is a parameter that was not sent. 400 for an input nested beyond what any operation takes. */
function withoutNulls(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST_INPUT) throw new ApiError('badInput', 'Los datos de entrada tienen demasiados niveles');
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, property]) =>
      property === null ? [] : [[key, withoutNulls(property, depth + 1)]],
    ),
  );
}

/** DATE-01: wherever a range is taken, its end is not before its start. */
function reversedRange({ fecha_inicio, fecha_fin }: Record<string, unknown>): FieldProblem[] {
  return typeof fecha_inicio === 'string' && typeof fecha_fin === 'string' && fecha_fin < fecha_inicio
    ? [{ campo: 'fecha_fin', mensaje: 'no puede ser anterior a fecha_inicio' }]
    : [];
}

const unresolved = (site: IdSite) => {
  const name = fieldName(pathOf(site));
  return site.mark.unknown === 'notFound' ? notFound(name) : badField(name, 'no existe en la empresa');
};

/**
 * Sealed or legacy ids become numbers in place. One that can't is a 404, thrown here, or the 400 of ID-05, answered for
 * later: whether the others exist comes first (ENV-09).
 */
function openIds(ids: Ids, accountId: number, sites: readonly IdSite[]): { opened: IdSite[]; refused?: ApiError } {
  const opened: IdSite[] = [];
  let refused: ApiError | undefined;
  for (const site of sites) {
    const value = site.container[site.key];
    const number =
      typeof value === 'string' || typeof value === 'number' ? ids.open(accountId, site.mark.kind, value) : undefined;
    if (number !== undefined) {
      site.container[site.key] = number;
      opened.push(site);
    } else if (site.mark.unknown === 'notFound') throw unresolved(site);
    else refused ??= unresolved(site);
  }
  return { opened, refused };
}

/** Every id of an input names a record of this company, or the call is a 404 (or the 400 of ID-05): one statement. */
async function checkIds(db: Db, accountId: number, sites: readonly IdSite[]): Promise<void> {
  if (sites.length === 0) return;
  const byKind = Map.groupBy(sites, ({ mark }) => mark.kind);
  const selects = [...byKind].map(
    ([kind, wanted]) =>
      sql<{ kind: string; id: number }>`select ${sql.lit(kind)} as kind, id
        from unnest(${wanted.map(({ container, key }) => container[key])}::bigint[]) as wanted(id)
        where (select true from ${sql.table(KINDS[kind].table)} r where r.account_id = ${accountId} and r.id = wanted.id)`,
  );
  const { rows } = await sql<{ kind: string; id: number }>`${sql.join(selects, sql` union all `)}`.execute(db);
  const found = new Set(rows.map(({ kind, id }) => `${kind} ${id}`));
  const missing = sites.filter(({ mark, container, key }) => !found.has(`${mark.kind} ${container[key]}`));
  const worst = missing.find(({ mark }) => mark.unknown === 'notFound') ?? missing[0];
  if (worst) throw unresolved(worst);
}

const RETRIED = new Set(['40001', '40P01']);

/** Deadlocks and serialization failures are nobody's fault: nothing was written, so the call is made again. */
async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === 3 || !isDatabaseError(error) || !RETRIED.has(error.code ?? '')) throw error;
    }
  }
}

/** The first call with a key writes; every other answers what that one did. IDEM-01 */
async function onceForKey(attempt: () => Promise<JsonText>, replay: () => Promise<JsonText | undefined>) {
  for (;;) {
    try {
      return await withRetries(attempt);
    } catch (error) {
      if (!(error instanceof KeyTaken)) throw error;
      const earlier = await replay();
      if (earlier) return earlier;
    }
  }
}
