// Every error that a caller can receive: a table from code to HTTP status and tRPC code, and the error class.
// The message is for the caller, in Spanish. What only operators may read goes in `cause`, which is logged (ENV-05).
import { TRPCError } from '@trpc/server';
import { z } from 'zod';

/** Code -> HTTP status (which is also `errorCode` of the envelope, ENV-02) and tRPC code. ENV-04 */
export const ERRORS = {
  badInput: { status: 400, trpc: 'BAD_REQUEST' },
  unauthorized: { status: 401, trpc: 'UNAUTHORIZED' },
  forbidden: { status: 403, trpc: 'FORBIDDEN' },
  notFound: { status: 404, trpc: 'NOT_FOUND' },
  methodNotAllowed: { status: 405, trpc: 'METHOD_NOT_SUPPORTED' },
  stillRunning: { status: 409, trpc: 'CONFLICT' },
  gone: { status: 410, trpc: 'NOT_FOUND' },
  tooLarge: { status: 413, trpc: 'PAYLOAD_TOO_LARGE' },
  notJson: { status: 415, trpc: 'UNSUPPORTED_MEDIA_TYPE' },
  keyReused: { status: 422, trpc: 'UNPROCESSABLE_CONTENT' },
  quotaSpent: { status: 429, trpc: 'TOO_MANY_REQUESTS' },
  internal: { status: 500, trpc: 'INTERNAL_SERVER_ERROR' },
  unavailable: { status: 503, trpc: 'SERVICE_UNAVAILABLE' },
} as const;

/** The code of an error. */
export type ErrorCode = keyof typeof ERRORS;

/** A problem with an input: the parameter (`datos.funnel_fk`, `detalles[0].cantidad`) and what was expected. ENV-02 */
export interface FieldProblem {
  campo: string;
  mensaje: string;
}

/** Optional parts of an ApiError. */
export interface ApiErrorDetails {
  fields?: FieldProblem[];
  retryAfterSeconds?: number;
  /** The internal cause, only for the log. */
  cause?: unknown;
}

/** An error that may be shown to the caller as it is. */
export class ApiError extends TRPCError {
  readonly kind: ErrorCode;
  readonly fields: FieldProblem[];
  readonly retryAfterSeconds: number | undefined;

  constructor(kind: ErrorCode, message: string, { fields = [], retryAfterSeconds, cause }: ApiErrorDetails = {}) {
    super({ code: ERRORS[kind].trpc, message, cause });
    this.name = 'ApiError';
    this.kind = kind;
    this.fields = fields;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get status(): number {
    return ERRORS[this.kind].status;
  }
}

/** 400 for an answer over 8 MB. The operation builder adds the parameters that make it shorter. FAIR-03 */
export class AnswerTooLong extends ApiError {
  constructor(fields: FieldProblem[] = [], narrower = '') {
    super('badInput', `La respuesta pasaría de 8 MB, lo máximo${narrower}`, { fields });
  }
}

const PREFIX = 'Error on service call: ';

/** 401, the same for every cause. */
export const unauthorized = () => new ApiError('unauthorized', `${PREFIX}API key authentication required`);

/** 403 for a write with a read-only key. */
export const forbidden = () =>
  new ApiError('forbidden', 'La clave es de solo lectura: esta operación necesita el permiso svc.write');

/** 404 for an id that does not resolve, the same if it belongs to another company (TEN-01). `campo` is the parameter. */
export const notFound = (campo: string) => new ApiError('notFound', `No existe el registro indicado en ${campo}`);

/** 503: a dependency of the service is unavailable. */
export const unavailable = (cause: unknown) =>
  new ApiError('unavailable', 'El servicio no está disponible en este momento', { retryAfterSeconds: 5, cause });

/** 400 for one parameter. */
export const badField = (campo: string, mensaje: string) => badInput([{ campo, mensaje }]);

/** 400 for all problems found; by default the message describes the first. */
export function badInput(fields: FieldProblem[], message?: string): ApiError {
  const first = fields[0];
  return new ApiError('badInput', message ?? (first ? sentence(first) : 'Datos de entrada no válidos'), { fields });
}

const sentence = ({ campo, mensaje }: FieldProblem) =>
  campo ? `El parámetro ${campo} no es válido: ${mensaje}` : mensaje;

/** `['detalles', 0, 'cantidad']` -> `detalles[0].cantidad` */
export const fieldName = (path: readonly PropertyKey[]) =>
  path.reduce<string>(
    (name, step) => (typeof step === 'number' ? `${name}[${step}]` : name ? `${name}.${String(step)}` : String(step)),
    '',
  );

const TYPE_NAMES: Record<string, string> = {
  string: 'un texto',
  number: 'un número',
  int: 'un número entero',
  boolean: 'true o false',
  object: 'un objeto',
  record: 'un objeto',
  array: 'una lista',
};

/** Spanish texts for Zod's issues. A schema's own message takes precedence. */
function wording(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'es obligatorio'
        : `se esperaba ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `se esperaba uno de: ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? 'no puede estar vacío'
        : `se esperaba un valor ${issue.inclusive === false ? 'mayor que' : 'desde'} ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `no puede tener más de ${issue.maximum} ${issue.origin === 'string' ? 'caracteres' : 'elementos'}`
        : `se esperaba un valor ${issue.inclusive === false ? 'menor que' : 'hasta'} ${issue.maximum}`;
    case 'invalid_format':
      return issue.format === 'date'
        ? 'se esperaba una fecha real AAAA-MM-DD'
        : issue.format === 'email'
          ? 'se esperaba un correo electrónico'
          : 'no tiene el formato esperado';
    case 'invalid_union':
      return 'no es de un tipo admitido';
    case 'unrecognized_keys':
      return `no se reconoce: ${issue.keys.join(', ')}`;
    default:
      return undefined;
  }
}

z.config({ customError: wording, jitless: false });

/** Zod's issues with the names of the parameters. */
export const problemsOf = (error: z.core.$ZodError): FieldProblem[] =>
  error.issues.map((issue) => ({ campo: fieldName(issue.path), mensaje: issue.message }));

/** Converts anything thrown to an error for the caller: an ApiError stays as it is, unknown errors become a 500 without details. */
export function asApiError(error: unknown): ApiError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ApiError) return cause;
    if (cause instanceof z.core.$ZodError) return badInput(problemsOf(cause));
    const away = databaseAway(cause);
    if (away) return away;
  }
  if (error instanceof TRPCError && error.code === 'NOT_FOUND') {
    return new ApiError('notFound', 'No existe esa operación', { cause: error });
  }
  if (error instanceof TRPCError && (error.code === 'PARSE_ERROR' || error.code === 'BAD_REQUEST')) {
    return new ApiError('badInput', 'La petición no lleva JSON válido', { cause: error });
  }
  if (error instanceof TRPCError && error.code === 'UNSUPPORTED_MEDIA_TYPE') {
    return new ApiError('notJson', 'El cuerpo de la petición tiene que ser JSON', { cause: error });
  }
  if (error instanceof TRPCError && error.code === 'METHOD_NOT_SUPPORTED') {
    return new ApiError('methodNotAllowed', 'Método no admitido', { cause: error });
  }
  return new ApiError('internal', 'Error interno del servicio', { cause: error });
}

// Lost or refused connections, a server that starts or stops, no free connection in time, lock or statement timeouts; on a cluster,
// also of its nodes: for a lost one in the midst of a write Citus has no SQLSTATE of its own.
const AWAY =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|08...|57P0[123]|53...|55P03|57014|25P03|25006|40001|40P01)$/;
const AWAY_TEXT =
  /timeout exceeded when trying to connect|Connection terminated|not queryable|connection timeout|connection marked as essential|Query read timeout|Cannot use a pool after calling end/;

function databaseAway(error: Error): ApiError | undefined {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (error instanceof TRPCError || !(AWAY.test(code) || AWAY_TEXT.test(error.message))) return undefined;
  return unavailable(error);
}
