// A request as the web's `Request`, for libraries that take one.
import type { FastifyRequest } from 'fastify';

/**
 * The request with this address, and this text as its body: Fastify has read the original one. It has no signal, since each signal
 * would keep what its request left behind until the old generation of the heap is collected.
 */
export function webRequest({ method, headers }: FastifyRequest, url: URL | string, body?: string): Request {
  const texts = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return new Request(url, { method, headers: texts, ...(body !== undefined && { body }) });
}
