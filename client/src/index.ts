// The public API: the client, its errors, and the input and output types of every operation.

export { type ClientOptions, createClient } from './client.ts';
export {
  AlbaranError,
  AuthenticationError,
  ConflictError,
  type FieldProblem,
  InvalidInputError,
  NotFoundError,
  PermissionError,
  QuotaError,
  UnavailableError,
} from './error.ts';
export type {
  ApiPromise,
  CallOptions,
  Item,
  PagedRead,
  RateLimit,
  Read,
  ResponseMeta,
  WithResponse,
  Write,
  WriteOptions,
} from './methods.ts';
export type * from './operations.ts';
