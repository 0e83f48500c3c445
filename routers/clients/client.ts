// How a client is shown and written where clients are what is asked for.
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../platform/database.ts';
import { badField, notFound } from '../../platform/errors.ts';
import { client as clientBlock } from '../shared/client.ts';
import { jsonRecord } from '../shared/pages.ts';
import { partyColumns, partyFields } from '../shared/party.ts';
import { text } from '../shared/schemas.ts';
import { shape, textOf, wholeOf } from '../shared/shape.ts';

/** The `cliente` block and the number of the client's price list, which the query selects as `list`. */
export const client = { ...clientBlock, tarifa: wholeOf('list') };

/** The number of the price list of a client `c`: 1 for clients without one of their own. TAR-01 */
export const priceListOf = sql<number>`coalesce(c.price_list, 1)`;

/** A client with its address. */
export const wholeClient = shape({
  cliente: shape({
    ...client,
    direccion: textOf('c.address'),
    cp: textOf('c.postal_code'),
    poblacion: textOf('c.city'),
    provincia: textOf('c.province'),
    pais: textOf('c.country'),
  }),
});

/** The client `clienteId`; 404 without one. */
export async function readClient(db: Db, accountId: number, clienteId: number) {
  const found = await jsonRecord(
    db,
    db
      .selectFrom('clients as c')
      .select(wholeClient.columns)
      .select(priceListOf.as('list'))
      .where('c.account_id', '=', accountId)
      .where('c.id', '=', clienteId),
    wholeClient,
  );
  if (!found) throw notFound('clienteId');
  return found;
}

/** What is written of a client. */
export const clientFields = z.object({
  ...partyFields,
  direccion: text(500).optional(),
  cp: text(20).optional(),
  poblacion: text(200).optional(),
  provincia: text(200).optional(),
  pais: text(100).optional(),
  tarifa: z.int().min(1).optional().describe('De consultar_tarifas'),
  rgpd: z
    .object({
      comunicaciones_email: z.boolean().optional(),
      comunicaciones_whatsapp: z.boolean().optional(),
      comunicaciones_sms: z.boolean().optional(),
      tratamiento_imagenes: z.boolean().optional(),
    })
    .optional(),
});

type ClientFields = z.output<typeof clientFields>;

/** The columns of what was sent, those that only clients have; what was not sent is undefined. */
export const clientColumns = ({ rgpd, ...datos }: Partial<ClientFields>) => ({
  ...partyColumns(datos),
  address: datos.direccion,
  postal_code: datos.cp,
  city: datos.poblacion,
  province: datos.provincia,
  country: datos.pais,
  price_list: datos.tarifa,
  allows_email: rgpd?.comunicaciones_email,
  allows_whatsapp: rgpd?.comunicaciones_whatsapp,
  allows_sms: rgpd?.comunicaciones_sms,
  allows_images: rgpd?.tratamiento_imagenes,
});

/** 400 for a price list that the company does not have. */
export async function refuseUnknownList(db: Db, accountId: number, tarifa: number | undefined): Promise<void> {
  if (tarifa === undefined) return;
  const found = await db
    .selectFrom('price_lists')
    .select('number')
    .where('account_id', '=', accountId)
    .where(sql<boolean>`number = ${tarifa}::bigint`)
    .executeTakeFirst();
  if (!found) throw badField('datos.tarifa', `no existe la tarifa ${tarifa}`);
}
