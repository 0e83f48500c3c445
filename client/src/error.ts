// The error that every failed call rejects with, save one that the caller's own signal stopped.

/** One problem of an input: the parameter (`datos.funnel_fk`, `detalles[0].cantidad`) and what was expected. */
export interface FieldProblem {
  campo: string;
  mensaje: string;
}

interface Details {
  code: number;
  fields?: FieldProblem[] | undefined;
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
}

export class AlbaranError extends Error {
  /** The service's `errorCode`, which is an HTTP status (400, 401, 403, 404, 409, 422, 429, 500, 503...); 0 without an answer. */
  readonly code: number;
  /** The parameters at fault, for bad input. */
  readonly fields: readonly FieldProblem[];
  /** What to name when asking the service's operators about this call; empty without an answer. */
  readonly requestId: string;
  /** When the service says to try again (429, 503). */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, { code, fields = [], requestId = '', retryAfterSeconds, cause }: Details) {
    super(message, { cause });
    this.name = 'AlbaranError';
    this.code = code;
    this.fields = fields;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
