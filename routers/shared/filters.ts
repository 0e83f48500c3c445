// Filters of lists that a caller may leave out.

/**
 * For `$call`: narrows a query by a value that was sent; an empty text is none.
 *
 *     .$call(when(input.clienteId, (q, client) => q.where('d.client_id', '=', client)))
 */
export const when =
  <Query, Value>(value: Value | undefined, narrow: (query: Query, value: Value) => Query) =>
  (query: Query): Query =>
    value === undefined || value === '' ? query : narrow(query, value);
