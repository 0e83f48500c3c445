// The client of a sale document: one that exists, one found by tax id and brought up to date, or a new one. DLV-01
import { sql } from 'kysely';
import { z } from 'zod';
import type { OperationContext } from '../../../platform/context.ts';
import type { Db } from '../../../platform/database.ts';
import { derivedOf } from '../../../platform/derived.ts';
import { badField } from '../../../platform/errors.ts';
import { taxKey } from '../../../platform/text.ts';
import { id } from '../id.ts';
import { lockTaxKey } from '../party.ts';
import { email, text } from '../schemas.ts';

export const billingClient = z.object({
  id: id('client').optional().describe('Si existe; lo demás no cuenta'),
  nombre_fiscal: text(300).optional().describe('Obligatorio para crearlo'),
  cif: text(50).optional().describe('Lo busca y actualiza, o lo crea'),
  direccion: text(500).optional(),
  cp: text(20).optional(),
  poblacion: text(200).optional(),
  provincia: text(200).optional(),
  pais: text(100).optional(),
  email: email().optional(),
});

/** A party that is named by its id is used as it is: the other fields don't count, whatever they hold. DLV-01 */
export const byIdAlone =
  (field: 'cliente' | 'proveedor') =>
  (input: Readonly<Record<string, unknown>>): Record<string, unknown> => {
    const party = input[field];
    const byId = typeof party === 'object' && party !== null && 'id' in party;
    return byId ? { ...input, [field]: { id: party.id } } : input;
  };

export const clientByIdAlone = byIdAlone('cliente');

type BillingClient = z.output<typeof billingClient>;

export interface ResolvedClient {
  id: number;
  /** Its price list; 1 for clients without one. */
  priceList: number;
}

/** Finds, updates or creates. Calls with the same tax id take turns, so that two never create it twice. */
export async function resolveBillingClient(
  db: Db,
  accountId: number,
  client: BillingClient,
  journal: OperationContext['journal'],
): Promise<ResolvedClient> {
  if (client.id !== undefined) {
    const { price_list } = await db
      .selectFrom('clients')
      .select('price_list')
      .where('account_id', '=', accountId)
      .where('id', '=', client.id)
      .executeTakeFirstOrThrow();
    return { id: client.id, priceList: price_list ?? 1 };
  }
  const key = taxKey(client.cif);
  const [, found] = await Promise.all([
    key && lockTaxKey(db, accountId, 'client', key),
    key
      ? db
          .selectFrom('clients')
          .select([
            ...(['id', 'legal_name', 'trade_name', 'tax_id', 'address', 'postal_code', 'city', 'province'] as const),
            ...(['country', 'email', 'price_list', 'version'] as const),
          ])
          .where('account_id', '=', accountId)
          .where('tax_key', '=', key)
          .orderBy('id')
          .limit(1)
          .executeTakeFirst()
      : undefined,
  ]);
  if (!found) {
    const { nombre_fiscal } = client;
    if (!nombre_fiscal) throw badField('cliente.nombre_fiscal', 'es obligatorio para crear el cliente');
    const created = await db
      .insertInto('clients')
      .values({
        account_id: accountId,
        legal_name: nombre_fiscal,
        tax_id: client.cif ?? '',
        address: client.direccion ?? '',
        postal_code: client.cp ?? '',
        city: client.poblacion ?? '',
        province: client.provincia ?? '',
        country: client.pais ?? '',
        email: client.email ?? '',
        ...derivedOf('clients', { legal_name: nombre_fiscal, tax_id: client.cif, email: client.email }),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    journal('create', 'client', created.id);
    return { id: created.id, priceList: 1 };
  }
  const changed = {
    legal_name: client.nombre_fiscal || found.legal_name,
    address: client.direccion || found.address,
    postal_code: client.cp || found.postal_code,
    city: client.poblacion || found.city,
    province: client.provincia || found.province,
    country: client.pais || found.country,
    email: client.email || found.email,
  };
  const before: Record<string, unknown> = found;
  if (Object.entries(changed).some(([column, value]) => before[column] !== value)) {
    await db
      .updateTable('clients')
      .set({
        ...changed,
        search: derivedOf('clients', { ...found, ...changed }).search,
        version: found.version + 1,
        updated_at: sql`now()`,
      })
      .where('account_id', '=', accountId)
      .where('id', '=', found.id)
      .execute();
    journal('modify', 'client', found.id);
  }
  return { id: found.id, priceList: found.price_list ?? 1 };
}
