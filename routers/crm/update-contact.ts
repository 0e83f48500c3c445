import { sql } from 'kysely';
import { z } from 'zod';
import { derivedOf } from '../../platform/derived.ts';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { changed, refuseNothing, updateRecord } from '../shared/changes.ts';
import { id, idOrNone } from '../shared/id.ts';
import { email, text } from '../shared/schemas.ts';
import { readContact, wholeContact } from './contact.ts';

/** Changes what is sent of a contact; answers it as `obtenerContacto` does. W-01 */
export const updateContact = operation({
  title: 'Actualizar contacto',
  description: 'Cambia los datos enviados; "" vacía un texto o quita el cliente. contactoId: de consultar_contactos.',
  rest: ['PUT /crm/contacts/{contactoId}'],
  alias: 'actualizarContacto',
  scope: 'svc.write',
  destructive: true,
  input: {
    contactoId: id('contact').describe('El contacto'),
    datos: z.object({
      nombre: text(200).optional(),
      empresa: text(200).optional(),
      email: email().optional(),
      movil: text(50).optional(),
      clienteId: idOrNone('client').optional(),
    }),
  },
  output: wholeContact.schema,
  async handler({ input: { contactoId, datos }, db, accountId, now, journal }) {
    refuseNothing(datos);
    const sent = { name: datos.nombre, company: datos.empresa, email: datos.email, mobile: datos.movil };
    // It stays locked, so that what is derived is of what is written.
    const { rows } = await sql<{ name: string; company: string; email: string; mobile: string }>`
      select name, company, email, mobile from contacts
      where account_id = ${accountId} and id = ${contactoId} for update`.execute(db);
    const [before] = rows;
    if (!before) throw notFound('contactoId');
    const columns = { ...sent, client_id: datos.clienteId, ...derivedOf('contacts', changed(before, sent)) };
    const [changes, answer] = await Promise.all([
      updateRecord(db, 'contacts', { accountId, id: contactoId, now }, columns),
      readContact(db, accountId, contactoId),
    ]);
    if (changes) journal('modify', 'contact', contactoId);
    return answer;
  },
});
