// The supplier of a purchase document: one that exists, one found by tax id and brought up to date, or a new one. DLV-01
import { z } from 'zod';
import type { OperationContext } from '../../platform/context.ts';
import { derivedOf } from '../../platform/derived.ts';
import { badField } from '../../platform/errors.ts';
import { updateRecord } from '../shared/changes.ts';
import { id } from '../shared/id.ts';
import { derivedAfter, holderOf, partyFields } from '../shared/party.ts';
import { text } from '../shared/schemas.ts';
import { supplierColumns } from './supplier.ts';

export const billingSupplier = z.object({
  id: id('supplier').optional().describe('Si existe; lo demás no cuenta'),
  ...partyFields,
  nombre_fiscal: text(300).optional().describe('Obligatorio para crearlo'),
  cif: text(50).optional().describe('Lo busca y actualiza, o lo crea'),
});

/** Finds, updates or creates. Calls with the same tax id take turns, so that two never create it twice. */
export async function resolveSupplier(
  call: OperationContext,
  { id: named, ...sent }: z.output<typeof billingSupplier>,
): Promise<number> {
  if (named !== undefined) return named;
  const { db, accountId, now, newId, journal } = call;
  const holder = await holderOf(db, accountId, 'supplier', sent.cif);
  if (holder === undefined) {
    const { nombre_fiscal } = sent;
    if (!nombre_fiscal) throw badField('proveedor.nombre_fiscal', 'es obligatorio para crear el proveedor');
    const columns = { ...supplierColumns(sent), legal_name: nombre_fiscal };
    const created = await newId('supplier');
    const row = { ...columns, ...derivedOf('suppliers', columns), account_id: accountId, id: created };
    await db.insertInto('suppliers').values(row).execute();
    journal('create', 'supplier', created);
    return created;
  }
  // What is empty takes nothing away, and the tax id is theirs however it is written.
  const { cif, ...others } = sent;
  const datos = Object.fromEntries(Object.entries(others).filter(([, value]) => value));
  const derived = await derivedAfter(call, 'supplier', holder, datos);
  const columns = { ...supplierColumns(datos), ...derived };
  if (await updateRecord(db, 'suppliers', { accountId, id: holder, now }, columns))
    journal('modify', 'supplier', holder);
  return holder;
}
