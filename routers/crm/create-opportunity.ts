import { sql } from 'kysely';
import { z } from 'zod';
import { badField } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { text } from '../shared/schemas.ts';
import { contactOfLead, type Lead, lockLead } from './lead-contact.ts';

const INCOMPLETE = 'Error on service call: Oportunidad no creada: Parámetros incompletos.';
const REQUIRED = new Set(['datos', 'datos.funnel_fk', 'datos.etapa_fk', 'datos.descripcion']);
const MISSING = new Set(['es obligatorio', 'no puede estar vacío']);

/** Creates an opportunity, and its contact when the lead's e-mail is new. Answers its number. OPP-01..04 */
export const createOpportunity = operation({
  title: 'Crear oportunidad',
  description:
    'Crea una oportunidad de venta; cada llamada crea una nueva. funnel_fk y etapa_fk: de listar_funnels; canal_fk: de listar_canales. Con email_contacto busca el contacto o lo crea.',
  rest: ['POST /crm/opportunities'],
  alias: 'crearOportunidad',
  scope: 'svc.write',
  oauthWrite: true,
  input: {
    datos: z.object({
      funnel_fk: id('funnel').describe('Funnel'),
      etapa_fk: id('stage').describe('Etapa inicial, del mismo funnel'),
      descripcion: text(500).min(1).describe('Título de la oportunidad'),
      canal_fk: id('channel').optional().describe('Canal de captación'),
      email_contacto: z
        .union([z.literal(''), z.email().max(320)])
        .optional()
        .describe('Correo del interesado'),
      movil_contacto: text(50).optional().describe('Móvil del interesado; se usa junto con el correo'),
      persona_contacto: text(200).optional().describe('Nombre, si hay que crear el contacto'),
      empresa: text(200).optional().describe('Empresa, si hay que crear el contacto'),
      contacto_fk: id('contact').optional().describe('Contacto existente; prevalece sobre email_contacto'),
      cliente_facturacion_fk: id('client').optional().describe('Cliente de facturación'),
    }),
  },
  output: z.int().meta({ example: 1000000001 }),
  badInputMessage: (problems) =>
    problems.some(({ campo, mensaje }) => REQUIRED.has(campo) && MISSING.has(mensaje)) ? INCOMPLETE : undefined,
  async handler({ input: { datos }, db, accountId, now, audit }) {
    const lead: Lead | undefined =
      datos.email_contacto && datos.contacto_fk === undefined
        ? {
            email: datos.email_contacto,
            mobile: datos.movil_contacto,
            name: datos.persona_contacto,
            company: datos.empresa,
          }
        : undefined;
    const contact = lead
      ? sql`with ${contactOfLead(accountId, lead)}, contact as (select id from found union all select id from created)`
      : sql`with created as (select null::bigint as id where false), contact as (select ${datos.contacto_fk ?? null}::bigint as id)`;

    const [, { rows }] = await Promise.all([
      lead && lockLead(db, accountId, lead),
      // Without a stage of that funnel nothing is inserted.
      sql<{ id: number; new_contact: number | null }>`${contact}
        insert into opportunities (account_id, title, funnel_id, stage_id, channel_id, contact_id, client_id, opened_at)
        select s.account_id, ${datos.descripcion}, s.funnel_id, s.id, ${datos.canal_fk ?? null}, contact.id,
          ${datos.cliente_facturacion_fk ?? null}, ${now.toString()}
        from funnel_stages s, contact
        where s.account_id = ${accountId} and s.id = ${datos.etapa_fk} and s.funnel_id = ${datos.funnel_fk}
        returning id, (select id from created) as new_contact`.execute(db),
    ]);
    const [created] = rows;
    if (!created) throw badField('datos.etapa_fk', 'no es una etapa del funnel indicado');
    audit('opportunity', created.id);
    if (created.new_contact !== null) audit('contact', created.new_contact);
    return created.id;
  },
});
