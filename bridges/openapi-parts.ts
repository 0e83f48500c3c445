// The parts of the OpenAPI document that do not depend on the operations: texts, tags, headers and errors.
import { ApiError, badField, forbidden, notFound, unauthorized } from '../platform/errors.ts';
import { failure } from './envelope.ts';

/** A tag of the document. */
export interface Tag {
  name: string;
  description: string;
}

/** The tags by area of the routers. */
export const TAGS: Readonly<Record<string, Tag>> = {
  time: {
    name: 'Personal',
    description: 'Plantilla, contratos, fichajes, ausencias y calendario laboral. Solo lectura.',
  },
  crm: { name: 'CRM', description: 'Funnels, oportunidades, contactos y motivos de pérdida.' },
  catalogue: { name: 'Catálogo', description: 'Artículos, tarifas, familias, formatos, stock y disponibilidad.' },
  clients: { name: 'Clientes', description: 'Clientes con su tarifa, su dirección y sus permisos de comunicación.' },
  estimates: {
    name: 'Presupuestos',
    description: 'Presupuestos: crearlos, responderlos y convertirlos; sus adjuntos.',
  },
  sales: { name: 'Ventas', description: 'Albaranes, facturas e informe de ventas.' },
  documents: { name: 'Documentos', description: 'Los sellos de lo emitido: verificación e historial.' },
  recurring: { name: 'Recurrentes', description: 'Servicios recurrentes: altas y renovaciones.' },
  purchases: { name: 'Compras', description: 'Proveedores, facturas y albaranes de compra e informe de compras.' },
  projects: { name: 'Proyectos', description: 'Proyectos con su economía, tareas y planificación.' },
  treasury: { name: 'Tesorería', description: 'Cuentas, movimientos, vencimientos y previsión.' },
  account: { name: 'Cuenta', description: 'La empresa de la clave con la que se llama.' },
};

/** The tag of the v0 aliases. */
export const V0_TAG: Tag = {
  name: 'v0',
  description:
    'La generación anterior, que sigue en servicio: cada operación con los mismos parámetros, en un cuerpo JSON, y la misma respuesta.',
};

/** The document's description. */
export const ABOUT = `
Gestión de empresa: ventas, compras, catálogo, CRM, proyectos, tesorería y control horario.

**Sobre.** Toda respuesta es \`{"errorCode", "errorMsg", "data"}\`. Si todo va bien, \`errorCode\` es 200 y \`errorMsg\` está vacío; si no, \`errorCode\` es también el estado HTTP, \`errorMsg\` dice qué falla y \`data\` es \`null\` o, en un 400, la lista de parámetros con problemas.

**Credenciales.** Las cabeceras \`X-API-KEY\` y \`X-API-SECRET\`, las dos en cada llamada. De la clave se obtiene la empresa: ningún parámetro la nombra, y lo que es de otra empresa no existe (404).

**Identificadores.** Textos opacos; el mismo registro tiene siempre el mismo. También se admite el número antiguo.

**Fechas.** \`AAAA-MM-DD\`, en la zona horaria de la empresa; los dos extremos de un periodo están incluidos.

**Importes.** Sin IVA, salvo que el campo diga otra cosa.

**Páginas.** \`pagina\` (desde 1) y \`por_pagina\`; por encima del máximo se usa el máximo. El \`cursor\` que da una página, o \`null\` la última, pide la siguiente en vez de \`pagina\`: lo que entra o sale entretanto ni se repite ni se salta; vale en la misma lista, también con otros filtros, que se aplican sin más. Una página posterior a la última llega vacía, con los totales verdaderos. Una respuesta tiene como mucho 8 MB; la que sería más larga es un 400 que dice qué pedir más corto.

**Cambios.** \`modificado_desde\` (\`AAAA-MM-DD\`, que empieza en la zona de la empresa, o un instante como \`2026-01-31T08:00:00Z\`) deja en una lista los registros creados o cambiados desde entonces: un documento también si se ha facturado, convertido, rectificado, cobrado o pagado, y un artículo si ha cambiado su stock; lo que se calcula de otros registros, como las cifras de un proyecto, no cuenta. Lo que se anota en ese momento puede llegar algo después: conviene repetir los últimos minutos. Lo eliminado no está en las listas.

**Cuota.** Llamadas por minuto de la empresa, por cualquier puerta: \`RateLimit\` y \`RateLimit-Policy\` dicen cuántas quedan; agotada, 429 con \`Retry-After\`.

**Idempotencia.** Toda escritura admite \`X-IDEMPOTENCY-KEY\` (o \`Idempotency-Key\`, que es la misma cabecera; con valores distintos en las dos, 400): repetida la misma llamada con la misma clave en 24 horas, se recibe la primera respuesta, con \`Idempotent-Replayed: true\`, y no se escribe nada más.

**Parámetros desconocidos.** No son un error: se ignoran, y \`X-Ignored-Parameters\` los nombra.
`.trim();

/** The example of an optional parameter. Forms generated from the document show it but do not send it. */
export const notSent = (value: unknown) => ({ examples: { ejemplo: { value, 'x-disabled': true } } });

/** The format that `maxLagSeconds` accepts (platform/replica.ts). */
const SECONDS = '^\\d{1,4}(\\.\\d{1,3})?$';

/** Headers that callers may send. */
export const PARAMETERS = {
  IdempotencyKey: {
    name: 'X-IDEMPOTENCY-KEY',
    in: 'header',
    description:
      'Con ella, repetir la llamada en 24 horas no escribe dos veces. De 1 a 255 caracteres ASCII visibles. `Idempotency-Key` es la misma cabecera.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    ...notSent('7c9e6679-7425-40de-944b-e07fc1f90ae7'),
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'El `ETag` de una respuesta anterior: si nada ha cambiado, la de ahora es 304 y no lleva cuerpo.',
    schema: { type: 'string' },
    ...notSent('W/"3mQ0yV7c1Z9kT5uW8xZa4BpLr2e"'),
  },
  MaxLag: {
    name: 'X-Max-Lag',
    in: 'header',
    description:
      'Cuántos segundos de retraso admite la llamada, de 0 a 3600, hasta con milésimas: puede responder entonces una réplica, si la hay y no va más atrasada, y la respuesta lo dice en `X-Lag`. Sin ella se responde siempre con lo último.',
    // A string, like all headers: generated clients send it unchanged.
    schema: { type: 'string', pattern: SECONDS },
    ...notSent('5'),
  },
};

const REQUEST_ID = 'b1f0e8a6-2f0c-4a9e-9d53-0a3f3a4c9d10';

const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example });

/** Response headers by name. */
export const HEADERS = {
  'X-Request-Id': text('El identificador que la petición traía en esta cabecera, o uno nuevo.', REQUEST_ID),
  RateLimit: text('Llamadas que quedan (r) y segundos hasta la próxima cuota (t).', '"empresa";r=1199;t=42'),
  'RateLimit-Policy': text('La cuota: llamadas (q) en cada ventana de segundos (w).', '"empresa";q=1200;w=60'),
  ETag: text(
    'Etiqueta de la respuesta, para `If-None-Match`. Solo en las lecturas por GET.',
    'W/"3mQ0yV7c1Z9kT5uW8xZa4BpLr2e"',
  ),
  'Retry-After': {
    description: 'Segundos que conviene esperar antes de repetir la llamada.',
    schema: { type: 'integer', minimum: 0 },
    example: 5,
  },
  'Idempotent-Replayed': text('`true` si es la respuesta de una llamada anterior con la misma clave.', 'true'),
  'X-Lag': {
    description: 'Si ha respondido una réplica: segundos de retraso que puede llevar como mucho.',
    schema: { type: 'number', minimum: 0 },
    example: 0.2,
  },
  'X-Ignored-Parameters': text('Los parámetros que la operación no conoce, si los hubo.', 'pagian'),
};

type HeaderName = keyof typeof HEADERS;

/** References to response headers. */
export const headers = (...names: HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** The schema of an error's envelope. */
export const ERROR_SCHEMA = {
  type: 'object',
  required: ['errorCode', 'errorMsg', 'data'],
  properties: {
    errorCode: { type: 'integer', description: 'El estado HTTP de la respuesta.' },
    errorMsg: { type: 'string', description: 'Qué falla, en una frase.' },
    data: {
      description: 'En un 400, los parámetros con problemas; si no, null.',
      type: ['array', 'null'],
      items: {
        type: 'object',
        required: ['campo', 'mensaje'],
        properties: {
          campo: { type: 'string', description: 'El parámetro, como detalles[0].cantidad.' },
          mensaje: { type: 'string', description: 'Qué se esperaba de él.' },
        },
      },
    },
  },
};

/** The calls that can get an error: all, writes, those that take an id, those with a body, or those of what is kept for a time. */
type When = 'always' | 'write' | 'id' | 'body' | 'gone';

const FAILURES: { component: string; when: When; description: string; example: ApiError; headers?: HeaderName[] }[] = [
  {
    component: 'ParametrosNoValidos',
    when: 'always',
    description: 'Parámetros o cuerpo no válidos.',
    example: badField('fecha_inicio', 'es obligatorio'),
  },
  {
    component: 'SinCredenciales',
    when: 'always',
    description: 'Sin credenciales, o con unas que no valen.',
    example: unauthorized(),
  },
  { component: 'SinPermiso', when: 'write', description: 'La clave es de solo lectura.', example: forbidden() },
  {
    component: 'NoExiste',
    when: 'id',
    description: 'Un identificador que no es de ningún registro de la empresa.',
    example: notFound('empleadoId'),
  },
  {
    component: 'EnCurso',
    when: 'write',
    description: 'La primera llamada con esta clave de idempotencia no ha terminado.',
    example: new ApiError('stillRunning', 'La primera llamada con esta clave de idempotencia sigue en curso'),
    headers: ['Retry-After'],
  },
  {
    component: 'YaNoSeConserva',
    when: 'gone',
    description: 'Lo pedido ya no se conserva; el mensaje dice desde dónde.',
    example: new ApiError('gone', 'Los cambios se conservan desde el 120: lee las listas de nuevo y sigue desde 4502'),
  },
  {
    component: 'DemasiadoGrande',
    when: 'body',
    description: 'El cuerpo pasa de 1 MiB.',
    example: new ApiError('tooLarge', 'El cuerpo de la petición pasa de 1 MiB'),
  },
  {
    component: 'NoEsJson',
    when: 'body',
    description: 'El cuerpo no es JSON.',
    example: new ApiError('notJson', 'El cuerpo de la petición tiene que ser JSON (Content-Type: application/json)'),
  },
  {
    component: 'ClaveReutilizada',
    when: 'write',
    description: 'La clave de idempotencia se usó con otra petición.',
    example: new ApiError('keyReused', 'La clave de idempotencia ya se usó con otra petición'),
  },
  {
    component: 'CuotaAgotada',
    when: 'always',
    description: 'La empresa ha gastado su cuota, o hay demasiados intentos con claves que no valen.',
    example: new ApiError('quotaSpent', 'La empresa ha gastado su cuota de 1200 llamadas por minuto'),
    headers: ['Retry-After'],
  },
  {
    component: 'ErrorInterno',
    when: 'always',
    description: 'Un fallo del servicio; el mensaje lleva el identificador de la petición.',
    example: new ApiError('internal', `Error interno del servicio (petición ${REQUEST_ID})`),
  },
  {
    component: 'NoDisponible',
    when: 'always',
    description: 'El servicio no está disponible en este momento.',
    example: new ApiError('unavailable', 'El servicio no está disponible en este momento'),
    headers: ['Retry-After'],
  },
];

/** The errors as components of the document. */
export const failureComponents = () =>
  Object.fromEntries(
    FAILURES.map(({ component, description, example, headers: more = [] }) => [
      component,
      {
        description,
        headers: headers('X-Request-Id', ...more),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, example: failure(example) } },
      },
    ]),
  );

/** The errors that a call can get, by HTTP status. */
export const failuresOf = (call: Record<Exclude<When, 'always'>, boolean>) =>
  Object.fromEntries(
    FAILURES.filter(({ when }) => when === 'always' || call[when]).map(({ component, example }) => [
      example.status,
      { $ref: `#/components/responses/${component}` },
    ]),
  );
