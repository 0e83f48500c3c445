import { containing, emailKey, phoneKey } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { pageOfRows } from '../shared/rows.ts';
import { PAGE, page, paged, pageOf, text } from '../shared/schemas.ts';
import { CONTACT_COLUMNS, contact, contactOf } from './contact.ts';

/** The contacts by name. E-mails and mobiles are compared as they are when an opportunity is created. PAG-02, OPP-03 */
export const listContacts = operation({
  title: 'Contactos',
  description:
    'Contactos del CRM, por nombre. Da el contacto_fk que admite crear_oportunidad y el contactoId de consultar_oportunidades. Para saber si una persona existe, búscala por email o movil.',
  rest: ['GET /crm/contacts'],
  alias: 'consultarContactos',
  scope: 'svc.read',
  input: {
    busqueda: text(200).optional().describe('Texto en nombre, empresa, correo o móvil'),
    email: text(320).optional().describe('Solo los de este correo exacto'),
    movil: text(50).optional().describe('Solo los de este móvil, con o sin espacios o prefijo +34'),
    ...page(PAGE),
  },
  output: paged('total_contactos', 'contactos', contact),
  async handler({ input, db, accountId }) {
    const { busqueda, email, movil } = input;
    const selected = db
      .selectFrom('contacts as k')
      .where('k.account_id', '=', accountId)
      .$if(Boolean(busqueda), (q) => q.where('k.search', 'like', containing(busqueda ?? '')))
      .$if(Boolean(email), (q) => q.where('k.email_key', '=', emailKey(email)))
      // What leaves nothing to compare ("-") is nobody's.
      .$if(Boolean(movil), (q) => q.where('k.phone_key', '=', phoneKey(movil) ?? ''));
    const { total, rows } = await pageOfRows(
      db,
      selected,
      selected.select(CONTACT_COLUMNS).orderBy('k.name').orderBy('k.id'),
      input,
    );
    return { total_contactos: total, ...pageOf(total, input), contactos: rows.map(contactOf) };
  },
});
