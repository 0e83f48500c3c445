// Downloads by signed link. Browsers save the files and never run them. Attachments are read from the database in parts, as
// fast as the caller reads, and use no connection between parts.
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { currentLogo } from '../documents/company-logo.ts';
import { documentFile } from '../documents/file.ts';
import { exportOf } from '../documents/registers.ts';
import type { Service } from '../platform/context.ts';
import { ApiError } from '../platform/errors.ts';
import { type Attachment, findAttachment, readAttachmentPart } from '../routers/sales/list-estimate-attachments.ts';

/** Simultaneous downloads of one link, and of all links of one company. */
const DOWNLOADS = { link: 4, company: 16 };
/** In bytes. Each download uses about three times as much memory. */
const PART = 256 * 1024;

const EXPORTS = {
  registersNdjson: { ending: 'ndjson', type: 'application/x-ndjson', format: 'ndjson' },
  registersXml: { ending: 'xml', type: 'application/xml', format: 'xml' },
} as const;

async function* withEnds(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const line of lines) yield Buffer.from(`${line}\n`);
}

const missing = () => new ApiError('notFound', 'La dirección de descarga no existe o ha caducado');

/** Of a file that browsers are to save, and never to run. */
export const fileHeaders = (name: string) => ({
  'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`,
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'private, no-store',
});

/**
 * Adds `GET /files/{token}`. An altered or expired link is a 404. Too many simultaneous downloads are a 429 with `Retry-After`.
 */
export function addFileRoutes(app: FastifyInstance, service: Service): void {
  const { links, clock, database } = service;
  const underWay = new Map<string, number>();
  const count = (name: string, change: 1 | -1) => {
    const number = (underWay.get(name) ?? 0) + change;
    if (number > 0) underWay.set(name, number);
    else underWay.delete(name);
  };

  async function* parts(accountId: number, file: Attachment): AsyncGenerator<Buffer> {
    for (let offset = 0; offset < file.bytes; offset += PART) {
      const part = await database.transaction(accountId, {}, (db) =>
        readAttachmentPart(db, accountId, file, { offset, length: PART }),
      );
      if (!part) throw new Error('The attachment changed while it was downloaded');
      yield part;
    }
  }

  app.route<{ Params: { token: string } }>({
    method: ['GET', 'HEAD'],
    url: '/files/:token',
    async handler(request, reply) {
      const { token } = request.params;
      const target = links.open(token, clock.now());
      const [link, company] = [`link ${token}`, `company ${target?.accountId}`];
      if (target && request.method === 'GET') {
        if ((underWay.get(link) ?? 0) >= DOWNLOADS.link || (underWay.get(company) ?? 0) >= DOWNLOADS.company) {
          throw new ApiError('quotaSpent', 'Hay demasiadas descargas a la vez', { retryAfterSeconds: 5 });
        }
        for (const name of [link, company]) count(name, 1);
        reply.raw.once('close', () => {
          for (const name of [link, company]) count(name, -1);
        });
      }
      if (!target) throw missing();
      const { accountId, file: linked, id } = target;
      if (linked === 'logo') {
        const logo = await database.transaction(accountId, {}, (db) => currentLogo(db, accountId));
        if (!logo) throw missing();
        const name = `logo.${logo.mime === 'image/png' ? 'png' : 'jpg'}`;
        return reply.type(logo.mime).headers(fileHeaders(name)).send(logo.bytes);
      }
      if (linked === 'registersNdjson' || linked === 'registersXml') {
        const { ending, type, format } = EXPORTS[linked];
        reply.type(type).headers(fileHeaders(`registros.${ending}`));
        if (request.method === 'HEAD') return reply.send();
        const { lines } = exportOf(database, accountId, format);
        return reply.send(Readable.from(withEnds(lines), { objectMode: false, highWaterMark: PART }));
      }
      if (linked !== 'attachment') {
        const made = await documentFile(service, accountId, { file: linked, id });
        if (!made) throw missing();
        return reply.type(made.type).headers(fileHeaders(made.name)).send(made.bytes);
      }
      const file = await database.transaction(accountId, {}, (db) => findAttachment(db, accountId, id));
      if (!file) throw missing();
      reply.type(file.mime_type).headers({ 'Content-Length': file.bytes, ...fileHeaders(file.name) });
      if (request.method === 'HEAD') return reply.send();
      return reply.send(Readable.from(parts(accountId, file), { objectMode: false, highWaterMark: PART }));
    },
  });
}
