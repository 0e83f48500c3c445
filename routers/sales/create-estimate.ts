import { sql } from 'kysely';
import { z } from 'zod';
import { badField } from '../../platform/errors.ts';
import { operation } from '../operation.ts';
import { billingClient, clientByIdAlone, resolveBillingClient } from '../shared/documents/billing-client.ts';
import { nextNumber, refuseBeforeLast } from '../shared/documents/document-number.ts';
import { insertLines, numberedSearch } from '../shared/documents/insert-document.ts';
import { partyNow, refuseFuture, saleOrder } from '../shared/documents/sale-document.ts';
import { checkAmounts, resolveLines, saleLine } from '../shared/documents/sale-lines.ts';
import { sealedId } from '../shared/id.ts';
import { isoDate } from '../shared/schemas.ts';

/**
 * Creates a numbered estimate that waits for its answer, of today unless it says otherwise. No stock moves, and nothing is reserved.
 * Amounts without VAT. EST-01, DLV-01, DLV-08, W-06, W-07, W-08
 */
export const createEstimate = operation({
  title: 'Crear presupuesto',
  description:
    'Crea un presupuesto numerado; no mueve stock ni reserva. Cliente: id de consultar_clientes o cif; articulo_fk: de consultar_productos; proyectoId: de consultar_proyectos.',
  rest: ['POST /estimates'],
  alias: 'crearPresupuesto',
  scope: 'svc.write',
  relevant: clientByIdAlone,
  input: {
    cliente: billingClient.describe('De facturación'),
    pedido: saleOrder,
    detalles: z.array(saleLine).min(1).max(1000),
    valido_hasta: isoDate().optional().describe('Último día en que vale'),
  },
  output: sealedId('estimate').meta({ example: 'k0vYc3m1Q2p9rT5uW8xZa4B' }),
  async handler({
    input,
    db,
    accountId,
    principal: { multiFormatStock },
    today,
    now,
    newId,
    beforeCommit,
    journal,
    seal,
  }) {
    const { pedido, valido_hasta } = input;
    const date = refuseFuture(pedido.fecha, today);
    if (valido_hasta !== undefined && valido_hasta < date.toString()) {
      throw badField('valido_hasta', 'no puede ser anterior a la fecha del presupuesto');
    }
    const [id, client, lines] = await Promise.all([
      newId('estimate'),
      resolveBillingClient(db, accountId, input.cliente, journal),
      resolveLines(db, accountId, input.detalles, multiFormatStock),
    ]);
    const { id: clientId, priceList } = client;
    checkAmounts(lines, priceList);
    const projectId = pedido.proyectoId ?? null;
    // As a delivery note's: the number is taken last.
    const { taken, numbered } = nextNumber(db, accountId, 'estimate', date);
    beforeCommit(taken);
    beforeCommit(
      sql`insert into estimates (account_id, id, number, date, concept, remarks, client_id, project_id, promo_code, valid_until,
          search, party)
        select ${accountId}, ${id}, number, ${date.toString()}::date, ${pedido.obra}, ${pedido.detalles_operacion ?? ''},
          ${clientId}, ${projectId}::bigint, ${pedido.promo_code || null}, ${valido_hasta ?? null}::date,
          ${numberedSearch(pedido.obra)}, ${partyNow}
        from ${numbered} join clients c on c.account_id = ${accountId} and c.id = ${clientId}
        returning id`.execute(db),
    );
    beforeCommit(insertLines(db, { accountId, id, table: 'estimates', lines, priceList, projectId, now }));
    if (pedido.fecha !== undefined) beforeCommit(refuseBeforeLast(db, accountId, { document: 'estimate', id, date }));
    journal('create', 'estimate', id);
    seal({ table: 'estimates', id, action: 'issue' });
    return id;
  },
});
