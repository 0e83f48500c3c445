import { containing, emailKeys, phoneKey } from '../../platform/text.ts';
import { operation } from '../operation.ts';
import { when } from '../shared/filters.ts';
import { changedIn } from '../shared/local-days.ts';
import { orderOf } from '../shared/order.ts';
import { listOf } from '../shared/pages.ts';
import { changedSince, PAGE, page, text } from '../shared/schemas.ts';
import { contact } from './contact.ts';

const contacts = listOf('total_contactos', 'contactos', contact, orderOf('k', 'name', 'id'));

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
    ...changedSince(),
    ...page(PAGE),
  },
  output: contacts.schema,
  async handler({ input, db, accountId, principal: { timeZone } }) {
    const { busqueda, email, movil } = input;
    const selected = db
      .selectFrom('contacts as k')
      .where('k.account_id', '=', accountId)
      .$call(when(changedIn('k', input.modificado_desde, timeZone), (q, since) => q.where(since)))
      .$call(when(busqueda, (q, wanted) => q.where('k.search', 'like', containing(wanted))))
      .$call(when(email, (q, address) => q.where('k.email_key', 'in', emailKeys(address))))
      // A number without digits ("-") has no key, and null is equal to nothing.
      .$call(when(movil, (q, mobile) => q.where('k.phone_key', '=', phoneKey(mobile))));
    return contacts.read(db, input, {
      selected,
      rows: selected.select(contacts.columns),
    });
  },
});
