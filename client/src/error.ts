// Failed calls reject with these errors; a call stopped by the caller's signal rejects with the signal's reason.
import type { RateLimit } from './methods.ts';

/** One problem of an input: the parameter (`datos.funnel_fk`, `detalles[0].cantidad`) and what was expected. */
export interface FieldProblem {
  campo: string;
  mensaje: string;
}

/** The fields of an error, except its message. */
export interface ErrorDetails {
  code: number;
  fields?: FieldProblem[] | undefined;
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  rateLimit?: RateLimit | undefined;
  cause?: unknown;
}

export class AlbaranError extends Error {
  override readonly name: string = 'AlbaranError';
  /** The service's `errorCode`, which is an HTTP status (400, 401, 403, 404, 409, 422, 429, 500, 503...); 0 without an answer. */
  readonly code: number;
  /** The parameters at fault, for bad input. */
  readonly fields: readonly FieldProblem[];
  /** Identifies the request in the service's logs; empty without an answer. */
  readonly requestId: string;
  /** How long the service asks to wait before another attempt (429, 503). */
  readonly retryAfterSeconds: number | undefined;
  /** The company's calls a minute after this one; undefined where the answer does not say. */
  readonly rateLimit: RateLimit | undefined;

  constructor(message: string, details: ErrorDetails) {
    const { code, fields = [], requestId = '', retryAfterSeconds, rateLimit, cause } = details;
    super(message, { cause });
    this.code = code;
    this.fields = fields;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
    this.rateLimit = rateLimit;
  }
}

/** 400, 422: the input is wrong; `fields` says where. */
export class InvalidInputError extends AlbaranError {
  override readonly name = 'InvalidInputError';
}

/** 401: the key is unknown, revoked or expired, or the secret is wrong. */
export class AuthenticationError extends AlbaranError {
  override readonly name = 'AuthenticationError';
}

/** 403: the key may not do this. */
export class PermissionError extends AlbaranError {
  override readonly name = 'PermissionError';
}

/** 404: there is no such record in the company. */
export class NotFoundError extends AlbaranError {
  override readonly name = 'NotFoundError';
}

/** 409: a conflict, such as a running call with the same idempotency key. */
export class ConflictError extends AlbaranError {
  override readonly name = 'ConflictError';
}

/** 429: the company's quota for the minute is spent; try again after `retryAfterSeconds`. */
export class QuotaError extends AlbaranError {
  override readonly name = 'QuotaError';
}

/** 0, 502, 503, 504: the service did not answer or is unavailable. */
export class UnavailableError extends AlbaranError {
  override readonly name = 'UnavailableError';
}

const KINDS = new Map<number, typeof AlbaranError>([
  [0, UnavailableError],
  [400, InvalidInputError],
  [401, AuthenticationError],
  [403, PermissionError],
  [404, NotFoundError],
  [409, ConflictError],
  [422, InvalidInputError],
  [429, QuotaError],
  [502, UnavailableError],
  [503, UnavailableError],
  [504, UnavailableError],
]);

/** The error class of the code. */
export const errorOf = (message: string, details: ErrorDetails): AlbaranError =>
  new (KINDS.get(details.code) ?? AlbaranError)(message, details);
