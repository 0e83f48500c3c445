import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { readContact, wholeContact } from './contact.ts';

/** One contact. */
export const getContact = operation({
  title: 'Contacto',
  description: 'Un contacto del CRM con su empresa, correo y móvil. contactoId: de consultar_contactos.',
  rest: ['GET /crm/contacts/{contactoId}'],
  alias: 'obtenerContacto',
  scope: 'svc.read',
  input: { contactoId: id('contact').describe('El contacto') },
  output: wholeContact.schema,
  handler: ({ input: { contactoId }, db, accountId }) => readContact(db, accountId, contactoId),
});
