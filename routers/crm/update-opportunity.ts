import { z } from 'zod';
import { operation } from '../operation.ts';
import { refuseNothing, updateRecord } from '../shared/changes.ts';
import { id, idOrNone } from '../shared/id.ts';
import { amountInput, text } from '../shared/schemas.ts';
import { readOpportunity, wholeOpportunity } from './opportunity.ts';

/** Changes what is sent of an opportunity, open or closed; answers it as `obtenerOportunidad` does. W-01 */
export const updateOpportunity = operation({
  title: 'Actualizar oportunidad',
  description:
    'Cambia los datos enviados; "" quita canal, contacto o cliente. Etapa: mover_oportunidad. oportunidadId: de consultar_oportunidades.',
  rest: ['PUT /crm/opportunities/{oportunidadId}'],
  alias: 'actualizarOportunidad',
  scope: 'svc.write',
  destructive: true,
  input: {
    oportunidadId: id('opportunity').describe('La oportunidad'),
    datos: z.object({
      descripcion: text(500).min(1).optional(),
      canal_fk: idOrNone('channel').optional(),
      contacto_fk: idOrNone('contact').optional(),
      cliente_facturacion_fk: idOrNone('client').optional(),
      valor_cierre: amountInput().optional(),
    }),
  },
  output: wholeOpportunity.schema,
  async handler({ input: { oportunidadId, datos }, db, accountId, now, principal: { timeZone }, journal }) {
    refuseNothing(datos);
    const columns = {
      title: datos.descripcion,
      channel_id: datos.canal_fk,
      contact_id: datos.contacto_fk,
      client_id: datos.cliente_facturacion_fk,
      closing_value: datos.valor_cierre,
    };
    const [changes, answer] = await Promise.all([
      updateRecord(db, 'opportunities', { accountId, id: oportunidadId, now }, columns),
      readOpportunity(db, accountId, oportunidadId, timeZone),
    ]);
    if (changes) journal('modify', 'opportunity', oportunidadId);
    return answer;
  },
});
