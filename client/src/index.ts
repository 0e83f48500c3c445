// What `albaran-client` offers: the client, its error, and the input and output types of every operation.

export { type ClientOptions, createClient } from './client.ts';
export { AlbaranError, type FieldProblem } from './error.ts';
export type { CallOptions, PagedRead, Read, Write, WriteOptions } from './methods.ts';
// The one place for a star: the names are as many as the operations, and generated.
export type * from './operations.ts';
