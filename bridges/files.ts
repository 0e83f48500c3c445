// Downloads of attachments by signed address. Whatever they hold, a browser saves them and runs nothing of them.
import type { FastifyInstance } from 'fastify';
import type { Service } from '../platform/context.ts';
import { ApiError } from '../platform/errors.ts';
import { readAttachment } from '../routers/sales/list-estimate-attachments.ts';

/** Adds `GET /files/{token}`. An altered or expired address is a 404. */
export function addFileRoutes(app: FastifyInstance, { links, clock, database }: Service): void {
  app.get<{ Params: { token: string } }>('/files/:token', async (request, reply) => {
    const target = links.open(request.params.token, clock.now());
    const file =
      target &&
      (await database.transaction(target.accountId, {}, (db) =>
        readAttachment(db, target.accountId, target.attachmentId),
      ));
    if (!file) throw new ApiError('notFound', 'La dirección de descarga no existe o ha caducado');
    return reply
      .type(file.mime_type)
      .headers({
        'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`,
        'Content-Security-Policy': "default-src 'none'; sandbox",
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'private, no-store',
      })
      .send(Buffer.from(file.content));
  });
}
