// Programs that must not compile: the compiler complains of each line that it does not refuse.
import type { AlbaranClient, ProductsListOutput } from 'albaran-client';

export function wrong(client: AlbaranClient) {
  // @ts-expect-error a parameter that is not there
  client.products.list({ buscar: 'tornillo' });
  // @ts-expect-error a parameter of another type
  client.products.list({ bajo_minimo: 'true' });
  // @ts-expect-error a required parameter is missing
  client.timeEntries.list({ fecha_inicio: '2026-01-01' });
  // @ts-expect-error the required input is missing
  client.employees.get();
  // @ts-expect-error an operation that is not there
  client.products.remove({ articuloId: 1 });
  // @ts-expect-error working time is not written (TIM-01)
  client.timeEntries.create({ empleadoId: 1 });
  // @ts-expect-error a field inside the input of another type
  client.opportunities.create({ datos: { funnel_fk: 1, etapa_fk: 1, descripcion: 7 } });
  // @ts-expect-error a read is not made once
  client.products.list({}, { idempotencyKey: 'k' });
  // @ts-expect-error a list without pages
  client.funnels.list.pages();
  // @ts-expect-error a field that the answer does not have
  client.products.list().then(({ productos }) => productos);
  // @ts-expect-error no answer is `any`
  client.products.list().then((page) => page.articulos[0].nothing);
  // @ts-expect-error the method's error, not a value to be put in its place
  client.products.list = async () => ({}) satisfies ProductsListOutput;
}
