// Downloads by signed link. Browsers save the files and never run them. Attachments are read from the database in parts, as
// fast as the caller reads, and use no connection between parts.
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
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

/** The downloads under way, of each link and each company. */
export class Downloads {
  readonly #underWay = new Map<string, number>();

  /** Counts one until its answer is sent. Throws 429 if there are too many. */
  begin(reply: FastifyReply, token: string, accountId: number): void {
    const [link, company] = [`link ${token}`, `company ${accountId}`];
    const number = (name: string) => this.#underWay.get(name) ?? 0;
    if (number(link) >= DOWNLOADS.link || number(company) >= DOWNLOADS.company) {
      throw new ApiError('quotaSpent', 'Hay demasiadas descargas a la vez', { retryAfterSeconds: 5 });
    }
    for (const name of [link, company]) this.#underWay.set(name, number(name) + 1);
    reply.raw.once('close', () => {
      for (const name of [link, company]) {
        if (number(name) > 1) this.#underWay.set(name, number(name) - 1);
        else this.#underWay.delete(name);
      }
    });
  }
}

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
  const downloads = new Downloads();

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
      if (!target) throw missing();
      const { accountId, file: linked, id } = target;
      if (request.method === 'GET') downloads.begin(reply, token, accountId);
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
