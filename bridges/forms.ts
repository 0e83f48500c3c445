// Requests without API keys: forms of browsers, and registrations and token requests of applications. Limits their size and number
// before the caller is known. FAIR-04
import { parse } from 'node:querystring';
import formbody from '@fastify/formbody';
import type { FastifyInstance } from 'fastify';
import type { Service } from '../platform/context.ts';
import { ApiError } from '../platform/errors.ts';

const BODY_LIMIT = 64 * 1024;
const MOST_FIELDS = 200;
/** Methods whose body is not read. */
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Prepares a scope for requests without credentials: it accepts forms up to 64 KiB, and limits requests by network. */
export async function prepareAnonymous(scope: FastifyInstance, { anonymous }: Service): Promise<void> {
  // The limit applies to JSON too, where the scope accepts it.
  scope.addHook('onRoute', (route) => {
    route.bodyLimit ??= BODY_LIMIT;
  });
  scope.addHook('onRequest', async ({ method, ip }) => {
    if (!WITHOUT_BODY.has(method)) anonymous.count(ip);
  });
  await scope.register(formbody, { bodyLimit: BODY_LIMIT, parser: formFields });
}

/** The fields of a form; a repeated one is a list. Throws 400 if it is not UTF-8, contains NUL, or has too many fields. W-10 */
export function formFields(given: string): Record<string, unknown> {
  const text = given.replace(/^\uFEFF/, '');
  // The decoder replaces invalid UTF-8 by U+FFFD. A real U+FFFD in a form would be percent-encoded.
  if (text.includes('\uFFFD') || !isEncoded(text)) {
    throw new ApiError('badInput', 'El formulario no es UTF-8 válido');
  }
  if (/%00|\0/.test(text)) throw new ApiError('badInput', 'El formulario lleva un carácter no admitido (NUL)');
  if (text.split('&', MOST_FIELDS + 1).length > MOST_FIELDS) {
    throw new ApiError('badInput', `El formulario lleva demasiados campos: se admiten ${MOST_FIELDS}`);
  }
  return parse(text);
}

/** The fields of a form with files, each of them its bytes. Throws 400 if it can't be read. */
export async function formParts(type: string, body: Buffer<ArrayBuffer>): Promise<Record<string, string | Buffer>> {
  const form = await new Response(body, { headers: { 'content-type': type } }).formData().catch((cause: unknown) => {
    throw new ApiError('badInput', 'El formulario no se puede leer', { cause });
  });
  const parts = [...form].map(
    async ([name, value]) =>
      [name, typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer())] as const,
  );
  return Object.fromEntries(await Promise.all(parts));
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
