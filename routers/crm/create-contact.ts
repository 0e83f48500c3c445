import { sql } from 'kysely';
import { z } from 'zod';
import { badInput } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { sealedId } from '../shared/id.ts';
import { text } from '../shared/schemas.ts';
import { contactOfLead, type Lead, lockLead } from './lead-contact.ts';

const ONE_OF = ['datos.nombre', 'datos.empresa', 'datos.email'];

/**
 * Creates a contact, or answers the one that has the e-mail or, beside an e-mail, the mobile (as OPP-03): then with the
 * header `X-Existing: true` and unchanged. Answers the sealed id.
 */
export const createContact = operation({
  title: 'Crear contacto',
  description:
    'Crea un contacto del CRM y da su identificador. Hace falta nombre, empresa o email. Si ya hay un contacto con ese email (o, con email, ese móvil), da el que hay sin cambiarlo, con la cabecera X-Existing: true.',
  rest: ['POST /crm/contacts'],
  alias: 'crearContacto',
  scope: 'svc.write',
  oauthWrite: true,
  input: {
    datos: z.object({
      nombre: text(200).optional().describe('Nombre; si falta, la empresa o el principio del correo'),
      empresa: text(200).optional().describe('Empresa'),
      email: z
        .union([z.literal(''), z.email().max(320)])
        .optional()
        .describe('Correo'),
      movil: text(50).optional().describe('Móvil'),
    }),
  },
  output: sealedId('contact').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({ input: { datos }, db, accountId, header, audit }) {
    const { nombre, empresa, email, movil } = datos;
    if (!nombre && !empresa && !email) {
      throw badInput(
        ONE_OF.map((campo) => ({ campo, mensaje: 'hace falta nombre, empresa o email' })),
        `Hace falta al menos uno de ${ONE_OF.join(', ')}`,
      );
    }
    const lead: Lead = { email, mobile: movil, name: nombre, company: empresa };
    const [, { rows }] = await Promise.all([
      email && lockLead(db, accountId, lead),
      sql<{ id: number; existing: boolean }>`with ${contactOfLead(accountId, lead)}
        select id, true as existing from found union all select id, false from created`.execute(db),
    ]);
    const [resolved] = rows;
    if (!resolved) throw new Error('A lead was neither found nor created');
    if (resolved.existing) header('X-Existing', 'true');
    audit('contact', resolved.id);
    return resolved.id;
  },
});
