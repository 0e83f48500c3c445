import { notFound } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { jsonRecord } from '../shared/pages.ts';
import { shape } from '../shared/shape.ts';
import { contact } from './contact.ts';

const shown = shape({ contacto: contact });

/** One contact. */
export const getContact = operation({
  title: 'Contacto',
  description: 'Un contacto del CRM con su empresa, correo y móvil. contactoId: de consultar_contactos.',
  rest: ['GET /crm/contacts/{contactoId}'],
  alias: 'obtenerContacto',
  scope: 'svc.read',
  input: { contactoId: id('contact').describe('El contacto') },
  output: shown.schema,
  async handler({ input: { contactoId }, db, accountId }) {
    const selected = db
      .selectFrom('contacts as k')
      .select(shown.columns)
      .where('k.account_id', '=', accountId)
      .where('k.id', '=', contactoId);
    const found = await jsonRecord(db, selected, shown);
    if (!found) throw notFound('contactoId');
    return found;
  },
});
