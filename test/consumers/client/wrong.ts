// Statements that must not compile: an unused @ts-expect-error is an error.
import type { AlbaranClient, ProductsListOutput } from 'albaran-client';

export function wrong(client: AlbaranClient) {
  // @ts-expect-error not a parameter
  client.products.list({ buscar: 'tornillo' });
  // @ts-expect-error a parameter of another type
  client.products.list({ bajo_minimo: 'true' });
  // @ts-expect-error a required parameter is missing
  client.timeEntries.list({ fecha_inicio: '2026-01-01' });
  // @ts-expect-error the required input is missing
  client.employees.get();
  // @ts-expect-error not an operation
  client.products.remove({ articuloId: 1 });
  // @ts-expect-error working time is read-only (TIM-01)
  client.timeEntries.create({ empleadoId: 1 });
  // @ts-expect-error a field inside the input of another type
  client.opportunities.create({ datos: { funnel_fk: 1, etapa_fk: 1, descripcion: 7 } });
  // @ts-expect-error a read takes no idempotency key
  client.products.list({}, { idempotencyKey: 'k' });
  // @ts-expect-error a list without pages
  client.funnels.list.pages();
  // @ts-expect-error a field that the answer does not have
  client.products.list().then(({ productos }) => productos);
  // @ts-expect-error no answer is `any`
  client.products.list().then((page) => page.articulos[0].nothing);
  // @ts-expect-error methods are called, not assigned: this one lacks `.pages` and `.items`
  client.products.list = async () => ({}) satisfies ProductsListOutput;
}
