declare module 'pg/lib/utils.js' {
  /** A value as PostgreSQL is given it. */
  export function prepareValue(value: unknown): Buffer | string | null;
}
