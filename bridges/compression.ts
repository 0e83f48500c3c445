// Compresses answers if the caller accepts it. It is a hook of our own: Fastify's plugin streams answers without a Content-Length,
// and does not limit how many are compressed at once.
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

/** A supported content encoding. */
export type Encoding = 'br' | 'gzip';

/** In bytes. Smaller answers need as many packets compressed or not. */
export const SMALLEST = 1024;
/** Answers from this size on are compressed faster and less. */
const LARGE = 256 * 1024;
/** One less than the thread pool, which also serves files and DNS. Further answers are sent uncompressed rather than queued. */
const AT_ONCE = 3;
// Not HTML: pages contain form tokens beside text from the URL, and the compressed length could reveal them (BREACH).
const TYPES = /^(application\/json|text\/(css|javascript|plain))\b/;

const packed = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/** Compresses in the thread pool. `effort`: zlib's level for gzip (1 to 9) and quality for Brotli (0 to 11). */
export const compress = (content: string | Buffer, encoding: Encoding, effort: Record<Encoding, number>) =>
  encoding === 'br'
    ? packed.br(content, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: effort.br,
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
        },
      })
    : packed.gzip(content, { level: effort.gzip });

/** What a header such as `Accept` names, with the weight of each. RFC 9110, section 12.4.2 */
export function weightsOf(accepted: string | string[]): Map<string, number> {
  const weights = new Map<string, number>();
  for (const item of String(accepted).toLowerCase().split(',')) {
    const [name = '', weight = '1'] = item.trim().split(/\s*;\s*q\s*=\s*/);
    weights.set(name, Number(weight) || 0);
  }
  return weights;
}

/** The encoding preferred by `Accept-Encoding`, Brotli if both are equal; undefined for none. RFC 9110, section 12.5.3 */
export function encodingFor(accepted: string | string[] | undefined): Encoding | undefined {
  if (accepted === undefined) return undefined;
  const weights = weightsOf(accepted);
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const best = weightOf('gzip') > weightOf('br') ? 'gzip' : 'br';
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined;
}

/** Compresses text answers of 1 kB and more on every route, unless the route decides the encoding itself (`Vary`). */
export function addCompression(app: FastifyInstance): void {
  let underWay = 0;
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!(typeof payload === 'string' || Buffer.isBuffer(payload)) || payload.length < SMALLEST) return done();
    const vary = reply.getHeader('vary');
    const decided = /accept-encoding/i.test(String(vary ?? ''));
    if (decided || !TYPES.test(String(reply.getHeader('content-type')))) return done();
    reply.header('Vary', vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`);
    const encoding = encodingFor(request.headers['accept-encoding']);
    if (!encoding || underWay >= AT_ONCE) return done();
    underWay++;
    const effort = payload.length < LARGE ? { br: 4, gzip: 6 } : { br: 1, gzip: 1 };
    compress(payload, encoding, effort)
      .finally(() => underWay--)
      .then(
        (content) => {
          reply.header('Content-Encoding', encoding).removeHeader('Content-Length');
          done(null, content);
        },
        (error: Error) => done(error),
      );
  });
}
