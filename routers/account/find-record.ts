import { sql } from 'kysely';
import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { KINDS, markedId } from '../../platform/ids.ts';
import { JsonText } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { text } from '../shared/schemas.ts';
import { COLLECTION_NAMES, KIND_OF } from './records.ts';

/** The id of the record that has this `ref` in a collection of the account file: so that a caller's own keys find its records. */
export const findRecord = operation({
  title: 'Buscar por referencia',
  description: 'El id del registro con esa ref, la clave propia con que se importó.',
  rest: ['GET /records/{coleccion}/{ref}'],
  alias: 'buscarPorReferencia',
  scope: 'svc.read',
  input: {
    coleccion: z
      .enum(COLLECTION_NAMES)
      .meta({ description: 'Como clientes, articulos o facturas', examples: ['clientes'] }),
    ref: text(500).min(1).describe('La clave propia'),
  },
  output: z.string().meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input: { coleccion, ref }, db, accountId }) {
    const kind = KIND_OF[coleccion];
    const { rows } = await sql<{ id: number }>`
      select id from ${sql.table(KINDS[kind].table)} where account_id = ${accountId} and ref = ${ref}`.execute(db);
    const [found] = rows;
    if (!found) throw notFound('ref');
    return new JsonText<string>(markedId(kind, found.id).text);
  },
});
