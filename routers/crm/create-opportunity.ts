import { sql } from 'kysely';
import { z } from 'zod';
import { isDivisionByZero } from '../../platform/database.ts';
import { badField } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { id } from '../shared/id.ts';
import { email, text } from '../shared/schemas.ts';
import { contactOfLead, isSomebody, type Lead, lockLead } from './lead-contact.ts';

const INCOMPLETE = 'Error on service call: Oportunidad no creada: Parámetros incompletos.';
const REQUIRED = new Set(['datos', 'datos.funnel_fk', 'datos.etapa_fk', 'datos.descripcion']);
const MISSING = new Set(['es obligatorio', 'no puede estar vacío']);

/** Creates an opportunity, and its contact when nobody has the lead's e-mail or mobile. Answers its number. OPP-01..04, W-12 */
export const createOpportunity = operation({
  title: 'Crear oportunidad',
  description:
    'Crea una oportunidad de venta; cada llamada crea una nueva. funnel_fk y etapa_fk: de listar_funnels; canal_fk: de listar_canales. Busca el contacto por email_contacto o movil_contacto, o lo crea con los datos que haya.',
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
      email_contacto: email().optional().describe('Correo del interesado; busca su contacto'),
      movil_contacto: text(50).optional().describe('Móvil del interesado; busca su contacto si nadie tiene el correo'),
      persona_contacto: text(200).optional().describe('Nombre, si hay que crear el contacto'),
      empresa: text(200).optional().describe('Empresa, si hay que crear el contacto'),
      contacto_fk: id('contact').optional().describe('Contacto existente; prevalece sobre los datos del interesado'),
      cliente_facturacion_fk: id('client').optional().describe('Cliente de facturación'),
    }),
  },
  output: z.int().meta({ example: 1000000001 }),
  badInputMessage: (problems) =>
    problems.some(({ campo, mensaje }) => REQUIRED.has(campo) && MISSING.has(mensaje)) ? INCOMPLETE : undefined,
  async handler({ input: { datos }, db, accountId, now, newId, beforeCommit, journal, journalIfThere }) {
    const { email_contacto, movil_contacto, persona_contacto, empresa } = datos;
    const given: Lead = { email: email_contacto, mobile: movil_contacto, name: persona_contacto, company: empresa };
    const lead = datos.contacto_fk === undefined && isSomebody(given) ? given : undefined;
    const [id, newContact] = await Promise.all([newId('opportunity'), lead && newId('contact')]);
    let contact = sql`(select ${datos.contacto_fk ?? null}::bigint as id) contact`;
    if (lead && newContact) {
      beforeCommit(lockLead(db, accountId, lead));
      const resolved = contactOfLead(db, accountId, lead, newContact);
      beforeCommit(resolved.written);
      ({ contact } = resolved);
    }
    beforeCommit(
      // Without a stage of that funnel the division by zero rolls everything back.
      sql`insert into opportunities (account_id, id, title, funnel_id, stage_id, channel_id, contact_id, client_id, opened_at)
        select ${accountId}::bigint, ${id}::bigint, ${datos.descripcion}, ${datos.funnel_fk}::bigint, ${datos.etapa_fk}::bigint,
          ${datos.canal_fk ?? null}::bigint, contact.id, ${datos.cliente_facturacion_fk ?? null}::bigint,
          ${now.toString()}::timestamptz
        from ${contact}, (select 1 / count(*) as found from funnel_stages
          where account_id = ${accountId} and id = ${datos.etapa_fk} and funnel_id = ${datos.funnel_fk}) stage
        where stage.found = 1
        returning id`
        .execute(db)
        .catch((error: unknown) => {
          throw isDivisionByZero(error) ? badField('datos.etapa_fk', 'no es una etapa del funnel indicado') : error;
        }),
    );
    journal('create', 'opportunity', id);
    if (newContact) journalIfThere('contact', newContact);
    return id;
  },
});
