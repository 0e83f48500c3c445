// How a contact is shown, alone and inside an opportunity, and read.
import type { Db } from '../../platform/database.ts';
import { notFound } from '../../platform/errors.ts';
import { jsonRecord } from '../shared/pages.ts';
import { idOf, shape, textOf } from '../shared/shape.ts';

/** A contact `k`. Where there is none, all of it is "". ENV-08 */
export const contact = shape({
  contactoId: idOf('contact', 'k.id as contact_id'),
  nombre: textOf('k.name'),
  empresa: textOf('k.company'),
  email: textOf('k.email'),
  movil: textOf('k.mobile'),
});

/** A contact by itself. */
export const wholeContact = shape({ contacto: contact });

/** The contact `contactoId`; 404 without one. */
export async function readContact(db: Db, accountId: number, contactoId: number) {
  const selected = db
    .selectFrom('contacts as k')
    .select(wholeContact.columns)
    .where('k.account_id', '=', accountId)
    .where('k.id', '=', contactoId);
  const found = await jsonRecord(db, selected, wholeContact);
  if (!found) throw notFound('contactoId');
  return found;
}
