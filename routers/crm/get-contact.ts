import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { CONTACT_COLUMNS, contact, contactOf } from './contact.ts';

/** One contact. */
export const getContact = operation({
  title: 'Contacto',
  description: 'Un contacto del CRM con su empresa, correo y móvil. contactoId: de consultar_contactos.',
  rest: ['GET /crm/contacts/{contactoId}'],
  alias: 'obtenerContacto',
  scope: 'svc.read',
  input: { contactoId: id('contact').describe('El contacto') },
  output: z.object({ contacto: contact }),
  async handler({ input: { contactoId }, db, accountId }) {
    const row = await db
      .selectFrom('contacts as k')
      .select(CONTACT_COLUMNS)
      .where('k.account_id', '=', accountId)
      .where('k.id', '=', contactoId)
      .executeTakeFirst();
    if (!row) throw notFound('contactoId');
    return { contacto: contactOf(row) };
  },
});
