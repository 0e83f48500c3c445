import { sql } from 'kysely';
import { z } from 'zod';
import { badInput } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import { email, text } from '../shared/schemas.ts';
import { contactOfLead, isSomebody, type Lead, lockLead } from './lead-contact.ts';

const ONE_OF = ['datos.nombre', 'datos.empresa', 'datos.email', 'datos.movil'];

/**
 * Creates a contact, or answers the one that has the e-mail or else the mobile (as OPP-03): then with the header
 * `X-Existing: true` and unchanged. Answers the sealed id. W-03, W-12
 */
export const createContact = operation({
  title: 'Crear contacto',
  description:
    'Crea un contacto del CRM. Hace falta nombre, empresa, email o movil. Si ya hay uno con ese email, o si no con ese móvil, lo da sin cambiarlo (existente true).',
  rest: ['POST /crm/contacts'],
  alias: 'crearContacto',
  scope: 'svc.write',
  oauthWrite: true,
  existing: true,
  input: {
    datos: z.object({
      nombre: text(200).optional().describe('Nombre; si falta, la empresa, el principio del correo o el móvil'),
      empresa: text(200).optional().describe('Empresa'),
      email: email().optional().describe('Correo'),
      movil: text(50).optional().describe('Móvil'),
    }),
  },
  output: sealedId('contact').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input: { datos }, db, accountId, newId, header, journal }) {
    const lead: Lead = { email: datos.email, mobile: datos.movil, name: datos.nombre, company: datos.empresa };
    if (!isSomebody(lead)) {
      throw badInput(
        ONE_OF.map((campo) => ({ campo, mensaje: 'hace falta nombre, empresa, email o movil' })),
        `Hace falta al menos uno de ${ONE_OF.join(', ')}`,
      );
    }
    const newContact = await newId('contact');
    const locked = lockLead(db, accountId, lead);
    const { written, contact } = contactOfLead(db, accountId, lead, newContact);
    const resolved = sql<{ id: number }>`select contact.id from ${contact}`.execute(db);
    const [, , { rows }] = await Promise.all([locked, written, resolved]);
    const [{ id } = { id: newContact }] = rows;
    if (id !== newContact) header('X-Existing', 'true');
    else journal('create', 'contact', id);
    return id;
  },
});
