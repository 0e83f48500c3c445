// How a contact is shown, alone and inside an opportunity.
import { idOf, shape, textOf } from '../shared/shape.ts';

/** A contact `k`. Where there is none, all of it is "". ENV-08 */
export const contact = shape({
  contactoId: idOf('contact', 'k.id as contact_id'),
  nombre: textOf('k.name'),
  empresa: textOf('k.company'),
  email: textOf('k.email'),
  movil: textOf('k.mobile'),
});
