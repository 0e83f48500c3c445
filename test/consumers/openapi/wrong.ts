// Statements that must not compile: an unused @ts-expect-error is an error.
import type { Client } from 'openapi-fetch';
import type { paths } from './schema.js';

export function wrong(client: Client<paths>) {
  // @ts-expect-error not a path
  client.GET('/api/v1/articles');
  // @ts-expect-error not a method of the path
  client.POST('/api/v1/products', { body: {} });
  // @ts-expect-error not a parameter
  client.GET('/api/v1/products', { params: { query: { buscar: 'tornillo' } } });
  // @ts-expect-error a parameter of another type
  client.GET('/api/v1/products', { params: { query: { bajo_minimo: 'no' } } });
  // @ts-expect-error required parameters are missing
  client.GET('/api/v1/employees/times', { params: { query: { fecha_inicio: '2026-01-01' } } });
  // @ts-expect-error the path needs its id
  client.GET('/api/v1/employees/{empleadoId}', {});
  // @ts-expect-error a required field of a body is missing
  client.POST('/api/v1/crm/opportunities', { body: { datos: { funnel_fk: 1, etapa_fk: 2 } } });
  // @ts-expect-error a field that the answer does not have
  client.GET('/api/v1/products').then(({ data }) => data?.data.productos);
}
