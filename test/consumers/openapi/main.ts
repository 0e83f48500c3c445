// `main.js <base url> <key> <secret>`: a consumer's REST program with types generated from the OpenAPI document and none of our
// code. It prints its outcome as JSON.
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

declare const process: { argv: string[] };

const [baseUrl = '', key = '', secret = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { 'X-API-KEY': key, 'X-API-SECRET': secret } });

type Product = components['schemas']['ConsultarProductosDatos']['articulos'][number];

/** The data of an answer, or its error message. */
function dataOf<Data>({ data, error }: { data?: { data: Data }; error?: components['schemas']['Error'] }): Data {
  if (!data) throw new Error(error?.errorMsg);
  return data.data;
}

// A list with query parameters.
const query = { busqueda: 'tornillo', bajo_minimo: false, por_pagina: 10 };
const { articulos } = dataOf(await client.GET('/api/v1/products', { params: { query } }));

// A record by an id of the list.
const { empleados } = dataOf(await client.GET('/api/v1/employees'));
const path = { empleadoId: empleados[0]?.empleadoId ?? '' };
const { empleado } = dataOf(await client.GET('/api/v1/employees/{empleadoId}', { params: { path } }));

const pages: Product[][] = [];
for (let pagina = 1, last = 1; pagina <= last; pagina++) {
  const page = dataOf(await client.GET('/api/v1/products', { params: { query: { pagina, por_pagina: 2 } } }));
  pages.push(page.articulos);
  last = page.num_paginas;
}

// A write sent twice with one key; ids in a body may be numbers.
const write = () =>
  client.POST('/api/v1/crm/opportunities', {
    params: { header: { 'X-IDEMPOTENCY-KEY': 'lead-77' } },
    body: { datos: { funnel_fk: 1, etapa_fk: 2, descripcion: 'Cubierta nueva' } },
  });
const [first, again] = [await write(), await write()];

// The v0 alias; no parameter is required.
const v0 = dataOf(await client.POST('/consultarOportunidades', { body: {} }));

// An error for each wrong parameter.
const wrong = await client.GET('/api/v1/employees/times', {
  params: { query: { fecha_inicio: '2026-02-30', fecha_fin: '2026-03-01' } },
});
const unknown = await client.GET('/api/v1/employees/{empleadoId}', { params: { path: { empleadoId: 'nobody' } } });

const descriptions = (products: Product[]) => products.map(({ descripcion }) => descripcion);
console.log(
  JSON.stringify({
    listed: descriptions(articulos),
    employee: empleado.nombre,
    pages: pages.map(descriptions),
    written: [dataOf(first), dataOf(again)],
    replayed: again.response.headers.get('Idempotent-Replayed'),
    leads: v0.total_oportunidades,
    wrong: { status: wrong.response.status, code: wrong.error?.errorCode, field: wrong.error?.data?.[0]?.campo },
    unknown: { status: unknown.response.status, data: unknown.error?.data },
  }),
);
