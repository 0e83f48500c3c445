// REST over real HTTP: envelope, statuses, headers, parsing of parameters, and the order of checks.
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { createConnection, type Socket } from 'node:net';
import { describe, expect, inject, test } from 'vitest';
import { operations } from '../../bridges/operations.ts';
import { ownDatabase, untilWaiting } from '../helpers/own-database.ts';
import { databaseProxy } from '../helpers/tcp-proxy.ts';
import { type Answer, type Company, type FileRecord, type Server, startServer, TestClock } from '../helpers/world.ts';

const dates = { fecha_inicio: '2026-01-01', fecha_fin: '2026-01-31' };
const query = new URLSearchParams(dates).toString();
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const records: FileRecord[] = [
  { coleccion: 'empleados', ref: 'ana', id: 501, nombre: 'Ana', apellidos: 'Gil' },
  { coleccion: 'articulos', ref: 'silla', id: 601, descripcion: 'Silla', stock: 1, stock_minimo: 5 },
  { coleccion: 'articulos', ref: 'mesa', id: 602, descripcion: 'Mesa', stock: 9, stock_minimo: 5 },
  {
    coleccion: 'funnels',
    ref: 'ventas',
    id: 701,
    titulo: 'Ventas',
    etapas: [{ ref: 'nueva', id: 711, titulo: 'Nueva' }],
  },
  {
    coleccion: 'funnels',
    ref: 'posventa',
    id: 702,
    titulo: 'Posventa',
    etapas: [{ ref: 'aviso', id: 721, titulo: 'Aviso' }],
  },
  { coleccion: 'oportunidades', ref: 'feria', id: 801, titulo: 'Feria', funnel: 'ventas', etapa: 'nueva' },
];
const opportunity = { funnel_fk: 701, etapa_fk: 711, descripcion: 'Feria' };

/** Any JSON answer of the REST interface. */
function expectEnvelope({ status, headers, body, text }: Answer, expected: number, about?: string) {
  expect([status, body?.errorCode], about).toEqual([expected, expected]);
  expect(headers.get('content-type'), about).toBe('application/json; charset=utf-8');
  expect(headers.get('x-request-id'), about).toBeTruthy();
  // A caller may keep what it can ask for again by its tag. JRN-04
  expect(headers.get('cache-control'), about).toBe(headers.get('etag') ? 'private, no-cache' : 'no-store');
  expect(Object.keys(JSON.parse(text)), about).toEqual(['errorCode', 'errorMsg', 'data']);
  if (expected === 200) expect(body.errorMsg, about).toBe('');
  else expect(body.errorMsg, about).toMatch(/\S/);
  if (expected !== 200 && expected !== 400) expect(body.data, about).toBeNull();
}

/** A request that fetch can't send. */
async function plainRequest(server: Server, method: string, path: string, headers: Record<string, string> = {}) {
  const sent = httpRequest(server.url + path, { method, headers }).end();
  const [response] = await once(sent, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() };
}

/** Sends bytes over a new connection and returns everything received until it closes. */
async function rawRequest(server: Server, bytes: string): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = createConnection({ host: hostname, port: Number(port) });
  socket.end(bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('every answer is the envelope:', () => {
  test('[ENV-01] [ENV-02] success is 200 and an empty message, a creation too', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const read = await acme.get('/employees/times', dates);
    expectEnvelope(read, 200);
    expect(read.body.data).toMatchObject({ total_fichajes: 0, fichajes: [] });
    const created = await acme.post('/crm/opportunities', { datos: opportunity });
    expectEnvelope(created, 200);
    expect(created.body.data).toBeTypeOf('number');
    expectEnvelope(await acme.alias('crearOportunidad', { datos: opportunity }), 200);
  });

  test('[ENV-01] [ENV-04] [ENV-10] an unknown path is 404, whoever asks', async () => {
    await using server = await startServer();
    const acme = await server.company();
    for (const path of [
      '/api',
      '/api/v1',
      '/api/v1/',
      '/api/v1/nothing',
      '/api/v2/products',
      '/nothing',
      '/API/V1/products',
      '/api/v1//products',
      '/Consultarfichajes',
      '/__proto__',
      '/constructor',
      '/%00',
      '/api/v1/product-families/%2F',
      '/favicon.ico',
      '/nothing?a=%zz',
    ]) {
      for (const headers of [{}, acme.headers]) {
        for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
          expectEnvelope(await server.request(path, { method, headers }), 404, `${method} ${path}`);
          if (method === 'GET' || method === 'OPTIONS') continue;
          // The request's body does not matter.
          for (const type of ['application/json', 'text/plain']) {
            const more = { ...headers, 'content-type': type };
            expectEnvelope(await server.request(path, { method, headers: more, body: '{' }), 404, `${method} ${path}`);
          }
        }
      }
    }
  });

  test('[ENV-01] [ENV-04] a method that does not fit is 405 and Allow names those that do', async () => {
    await using server = await startServer();
    const acme = await server.company();
    for (const { alias, routes } of operations) {
      const urls = new Map([[`/${alias}`, ['POST', 'OPTIONS']]]);
      for (const { path } of routes) {
        const methods = operations
          .flatMap((each) => each.routes.filter((route) => route.path === path))
          .map(({ method }) => method);
        urls.set(`/api/v1${path.replace(/\{\w+\}/g, 'x')}`, [
          ...methods,
          ...(methods.includes('GET') ? ['HEAD'] : []),
          'OPTIONS',
        ]);
      }
      for (const [url, allowed] of urls) {
        for (const headers of [{}, acme.headers]) {
          const answer = await server.request(url, { method: 'PATCH', headers, body: '{' });
          expectEnvelope(answer, 405, url);
          expect(answer.headers.get('allow')?.split(', ').sort(), url).toEqual(allowed.toSorted());
          expect(answer.body.errorMsg).toContain(allowed[0]);
        }
      }
    }
  });

  test.each([
    { url: '/api/v1/employees/', found: 200, refused: 405 },
    { url: '/api/v1/employees?pagina=2', found: 200, refused: 405 },
    { url: '/api/v1/employe%65s', found: 200, refused: 405 },
    { url: '//api/v1/employees', found: 404, refused: 404 },
    { url: '/api/v1/employees/x/y/z', found: 404, refused: 404 },
  ])('[ENV-04] $url is the same address for a method that does not fit: $refused', async ({ url, found, refused }) => {
    await using server = await startServer();
    const { headers } = await server.company();
    expect((await server.request(url, { headers })).status).toBe(found);
    expectEnvelope(await server.request(url, { method: 'PATCH', headers }), refused, url);
  });

  test('[ENV-04] every method that HTTP knows is answered so, the rare ones too', async () => {
    await using server = await startServer();
    for (const method of ['TRACE', 'PROPFIND', 'PURGE', 'QUERY', 'PATCH', 'MKCALENDAR', 'M-SEARCH', 'SUBSCRIBE']) {
      const known = await plainRequest(server, method, '/api/v1/employees');
      expect([known.status, JSON.parse(known.text).errorCode, known.headers.allow], method).toEqual([
        405,
        405,
        'GET, OPTIONS, HEAD',
      ]);
      const unknown = await plainRequest(server, method, '/nothing');
      expect([unknown.status, JSON.parse(unknown.text).errorCode], method).toEqual([404, 404]);
    }
  });

  test('[ENV-01] OPTIONS names the methods, without credentials', async () => {
    await using server = await startServer();
    const answer = await server.request('/api/v1/employees', { method: 'OPTIONS' });
    expectEnvelope(answer, 200);
    expect(answer.headers.get('allow')).toBe('GET, OPTIONS, HEAD');
  });

  test('[ENV-01] HEAD is GET without the body: the same status and headers, of success and of errors', async () => {
    await using server = await startServer({ clock: new TestClock('2026-03-01T10:00:00Z') });
    const acme = await server.company(records);
    const varying = ['date', 'x-request-id', 'ratelimit', 'connection', 'keep-alive'];
    const headersOf = ({ headers }: Answer) =>
      Object.fromEntries([...headers].filter(([name]) => !varying.includes(name)));
    for (const [path, headers, status] of [
      ['/api/v1/products', acme.headers, 200],
      [`/api/v1/employees/times?${query}&otro=1`, acme.headers, 200],
      ['/api/v1/employees/times', acme.headers, 400],
      ['/api/v1/products', {}, 401],
      ['/api/v1/employees/999', acme.headers, 404],
      ['/nothing', {}, 404],
      ['/consultarProductos', acme.headers, 405],
    ] as const) {
      const got = await server.request(path, { headers });
      const head = await server.request(path, { method: 'HEAD', headers });
      expect([got.status, head.status], path).toEqual([status, status]);
      expect(head.text, path).toBe('');
      expect(headersOf(head), path).toEqual(headersOf(got));
      expect(Number(head.headers.get('content-length')), path).toBe(Buffer.byteLength(got.text));
    }
  });

  test('[ENV-01] [ENV-04] what is no HTTP at all gets the envelope too', async () => {
    await using server = await startServer();
    for (const bytes of [
      'HELLO\r\n\r\n',
      'GET /api/v1/products HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n',
      `GET /api/v1/products HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      `GET /api/v1/products?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      'POST /consultarProductos HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ]) {
      const [head = '', body = ''] = (await rawRequest(server, bytes)).split('\r\n\r\n');
      expect(head, bytes.slice(0, 40)).toMatch(/^HTTP\/1.1 400 /);
      expect(head.toLowerCase()).toContain('content-type: application/json; charset=utf-8');
      expect(head.toLowerCase()).toContain('x-request-id: ');
      expect(JSON.parse(body)).toEqual({ errorCode: 400, errorMsg: expect.any(String), data: null });
    }
  });
});

describe('bad input:', () => {
  test('[ENV-02] [ENV-03] [ENV-04] every problem is listed, and the message names the parameters', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const answer = await acme.get('/employees/times', { fecha_inicio: 'ayer', pagina: '0', por_pagina: 'x' });
    expectEnvelope(answer, 400);
    expect(answer.body.data).toEqual([
      { campo: 'fecha_inicio', mensaje: 'se esperaba una fecha real AAAA-MM-DD' },
      { campo: 'fecha_fin', mensaje: 'es obligatorio' },
      { campo: 'pagina', mensaje: 'se esperaba un valor desde 1' },
      { campo: 'por_pagina', mensaje: 'se esperaba un número' },
    ]);
    expect(answer.body.errorMsg).toContain('fecha_inicio');
    expect(answer.body.errorMsg).not.toMatch(/expected|invalid|required/i);
  });

  test('[ENV-02] problems inside lists and objects are named by where they stand', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const answer = await acme.post('/delivery-notes', {
      cliente: { nombre_fiscal: 5 },
      pedido: { obra: 'x' },
      detalles: [
        { cantidad: 1, descripcion: 'a', importe_unitario: 1 },
        { cantidad: 'dos', descripcion: 'b', importe_unitario: 1 },
      ],
    });
    expectEnvelope(answer, 400);
    expect(answer.body.data).toEqual([
      { campo: 'cliente.nombre_fiscal', mensaje: 'se esperaba un texto' },
      { campo: 'detalles[1].cantidad', mensaje: 'se esperaba un número' },
    ]);
  });

  const post = (company: Company, server: Server, body: string | undefined, type?: string) =>
    server.request('/crearOportunidad', {
      method: 'POST',
      headers: { ...company.headers, ...(type === undefined ? {} : { 'content-type': type }) },
      body,
    });

  test.each([
    '{',
    '{"datos":}',
    "{'datos': {}}",
    '{"datos": {}} x',
    'datos=1',
    'undefined',
    'NaN',
    '{"datos": {"descripcion": "a\nb"}}',
    '{"__proto__": {"datos": 1}}',
    '{"datos": {"__proto__": {}}}',
    '['.repeat(100_000),
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  ])('[ENV-04] a body that is not JSON, or hides something in it, is 400: %.30s', async (body) => {
    await using server = await startServer();
    expectEnvelope(await post(await server.company(), server, body, 'application/json'), 400);
  });

  test.each(['[]', '[{"datos": {}}]', '"datos"', '5', 'true'])(
    '[ENV-04] a body that is JSON but no object is 400: %s',
    async (body) => {
      await using server = await startServer();
      const answer = await post(await server.company(), server, body, 'application/json');
      expectEnvelope(answer, 400);
      expect(answer.body.errorMsg).toContain('objeto JSON');
    },
  );

  test('[ENV-04] an empty body is one without parameters', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const list = (body: string | undefined, type?: Record<string, string>) =>
      server.request('/consultarProductos', { method: 'POST', headers: { ...acme.headers, ...type }, body });
    expectEnvelope(await list(undefined), 200);
    for (const body of [undefined, '', '  \n', '{}']) {
      expectEnvelope(await list(body, { 'content-type': 'application/json' }), 200, body);
    }
    expectEnvelope(await post(acme, server, undefined), 400);
  });

  test('[ENV-04] a body that is not said to be JSON is 415', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const body = JSON.stringify({ datos: opportunity });
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/xml',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'json',
    ]) {
      expectEnvelope(await post(acme, server, body, type), 415, type);
    }
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8']) {
      expectEnvelope(await post(acme, server, body, type), 200, type);
    }
  });

  test('[ENV-04] a body over 1 MiB is 413, whether its length is told before or not', async () => {
    await using server = await startServer({ alone: true });
    const acme = await server.company(records);
    const ofLength = (bytes: number) => `{"x":"${'x'.repeat(bytes - 8)}"}`;
    expectEnvelope(await post(acme, server, ofLength(1024 * 1024 + 1), 'application/json'), 413);
    expectEnvelope(await post(acme, server, ofLength(1024 * 1024), 'application/json'), 400);
    const streamed = await server.request('/crearOportunidad', {
      method: 'POST',
      headers: { ...acme.headers, 'content-type': 'application/json' },
      body: ReadableStream.from([Buffer.from(ofLength(3 * 1024 * 1024))]),
      duplex: 'half',
    } as RequestInit);
    expectEnvelope(streamed, 413);
  });

  test('[ENV-04] a badly encoded address is 400, in the path and in the query', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    for (const path of [
      '/api/v1/employees/%zz',
      '/api/v1/employees/%',
      '/api/v1/employees/%ff',
      '/api/v1/products?busqueda=%zz',
      '/api/v1/products?busqueda=%ff',
      '/api/v1/products?%=1',
    ]) {
      const answer = await plainRequest(server, 'GET', path, acme.headers);
      expect([answer.status, JSON.parse(answer.text)], path).toEqual([
        400,
        { errorCode: 400, errorMsg: expect.stringContaining('codificada'), data: null },
      ]);
      expect(answer.headers['x-request-id'], path).toMatch(UUID);
    }
  });

  test('[ENV-04] a parameter that is given twice is 400 and named', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const answer = await acme.get('/products?pagina=1&pagina=2&busqueda=a&busqueda=a&por_pagina=5');
    expectEnvelope(answer, 400);
    expect(answer.body.data.map(({ campo }: { campo: string }) => campo)).toEqual(['pagina', 'busqueda']);
  });

  test('[ENV-04] NUL, which the database can’t hold, is 400 in a text and no id at all', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const searched = await acme.get('/products', { busqueda: 'a\0b' });
    expectEnvelope(searched, 400);
    expect(searched.body.data[0].campo).toBe('busqueda');
    const created = await acme.post('/crm/opportunities', { datos: { ...opportunity, descripcion: 'a\0b' } });
    expectEnvelope(created, 400);
    expect(created.body.data[0].campo).toBe('datos.descripcion');
    expectEnvelope(await acme.get('/employees/5%0001'), 404);
    expectEnvelope(await acme.get('/products', { familiaId: '\0' }), 404);
    expectEnvelope(await acme.get('/employees/times', { ...dates, fecha_fin: '2026-01-31\0' }), 400);
  });
});

describe('[ENV-07] how a query is read:', () => {
  test('a bool is true, false, 1 or 0', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const found = async (bajo_minimo: string) => {
      const answer = await acme.get('/products', { bajo_minimo });
      expectEnvelope(answer, 200);
      return answer.body.data.total_articulos;
    };
    expect([await found('true'), await found('1')]).toEqual([1, 1]);
    expect([await found('false'), await found('0')]).toEqual([2, 2]);
    for (const bajo_minimo of [
      'TRUE',
      'True',
      'yes',
      'on',
      '2',
      '-1',
      '01',
      ' true',
      'true ',
      'null',
      'toString',
      '__proto__',
    ]) {
      const answer = await acme.get('/products', { bajo_minimo });
      expectEnvelope(answer, 400, bajo_minimo);
      expect(answer.body.data).toEqual([{ campo: 'bajo_minimo', mensaje: 'se esperaba true o false' }]);
    }
  });

  test('an int is digits only', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    for (const por_pagina of ['7', '07']) {
      expect((await acme.get('/products', { por_pagina })).body.data.por_pagina).toBe(7);
    }
    for (const por_pagina of [
      '+1',
      '-1',
      '1.0',
      '1.5',
      '1e2',
      '0x10',
      ' 1',
      '1 ',
      '1,0',
      '1_0',
      '１',
      '99999999999999999999',
      'NaN',
      'Infinity',
      'true',
    ]) {
      const answer = await acme.get('/products', { por_pagina });
      expectEnvelope(answer, 400, por_pagina);
      expect(answer.body.data[0].campo).toBe('por_pagina');
    }
  });

  test('an empty value counts as absent', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const answer = await acme.get('/products?pagina=&por_pagina=&bajo_minimo=&busqueda=&familiaId=&nada=');
    expect(answer.body).toEqual((await acme.get('/products')).body);
    const missing = await acme.get('/employees/times?fecha_inicio=&fecha_fin=2026-01-31');
    expect(missing.body.data).toEqual([{ campo: 'fecha_inicio', mensaje: 'es obligatorio' }]);
  });

  test('[VER-01] the texts of a JSON body are read as those of a query', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const same = await acme.get('/products', { pagina: 1, por_pagina: 7, bajo_minimo: 1 });
    expect(same.body.data).toMatchObject({ por_pagina: 7, total_articulos: 1 });
    for (const bajo_minimo of [true, 'true', '1']) {
      const body = { pagina: '1', por_pagina: '07', bajo_minimo, busqueda: '', familiaId: '', nada: '' };
      expect((await acme.alias('consultarProductos', body)).body).toEqual(same.body);
    }
    const wrong = await acme.alias('consultarProductos', { pagina: '1.0', por_pagina: 'x', bajo_minimo: 'yes' });
    expectEnvelope(wrong, 400);
    expect(wrong.body).toEqual(
      (await acme.get('/products', { pagina: '1.0', por_pagina: 'x', bajo_minimo: 'yes' })).body,
    );
  });

  test('[VER-01] [CLO-01] inside a body too; an empty text is none where a text can not stand, and empties where it can', async () => {
    await using server = await startServer();
    const acme = await server.company([
      ...records,
      { coleccion: 'motivos_perdida', ref: 'caro', id: 5, motivo: 'Caro' },
      { coleccion: 'clientes', ref: 'cli', id: 1, nombre_fiscal: 'Cliente SL' },
    ]);
    const ways = {
      v1: (body: object) => acme.put('/crm/opportunities/801/close', body),
      v0: (body: object) => acme.alias('cerrarOportunidad', { oportunidadId: '801', ...body }),
    };
    for (const [door, close] of Object.entries(ways)) {
      const lost = {
        resultado: 'perdido',
        motivoId: '5',
        comentarios: 'Muy caro',
        valor_cierre: '-12.5',
        fecha_cierre: '',
      };
      expect((await close(lost)).body.data, door).toMatchObject({ resultado: 'perdido', motivo: 'Caro' });
      const read = async () => (await acme.get('/crm/opportunities/801')).body.data.oportunidad;
      expect((await read()).valor_cierre).toBe(-12.5);
      expect((await close({ ...lost, motivoId: '', comentarios: '', valor_cierre: '' })).status).toBe(200);
      const { rows } = await server.service.database.pool.query(
        'select loss_reason_id, comments, closing_value from opportunities where account_id = $1',
        [acme.id],
      );
      expect(rows).toMatchObject([{ loss_reason_id: 5, comments: '', closing_value: expect.anything() }]);
      const bad = await close({ resultado: '', valor_cierre: '1e3', fecha_cierre: '05/01/2025' });
      expect(bad.body.data).toEqual([
        { campo: 'resultado', mensaje: 'se esperaba uno de: ganado, perdido, abierta' },
        { campo: 'valor_cierre', mensaje: 'se esperaba un número' },
        { campo: 'fecha_cierre', mensaje: 'se esperaba una fecha real AAAA-MM-DD' },
      ]);
    }
    const note = {
      cliente: { id: '', nombre_fiscal: 'Otro', email: '' },
      pedido: { obra: 'Obra' },
      detalles: [
        {
          cantidad: '2',
          importe_unitario: '1.25',
          iva: '',
          descripcion: 'x',
          articulo_fk: '',
          startDate: '',
          formatoId: '',
        },
      ],
    };
    for (const created of [await acme.post('/delivery-notes', note), await acme.alias('crearAlbaran', note)]) {
      expectEnvelope(created, 200);
      const { body } = await acme.get(`/delivery-notes/${created.body.data}`);
      expect(body.data).toMatchObject({ base_imponible: 2.5, lineas: [{ iva: 21, articuloId: null }] });
    }
    const text = await acme.post('/delivery-notes', { ...note, pedido: { obra: '' } });
    expect(text.body.data).toEqual([{ campo: 'pedido.obra', mensaje: 'no puede estar vacío' }]);
  });
});

describe('[ENV-06] unknown parameters are ignored, but named:', () => {
  test('in a query, in a body, and inside its objects and lists', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const read = await acme.get('/products', { pagina: 1, busca: 'x', Pagina: 2, toString: 1, constructor: 1 });
    expectEnvelope(read, 200);
    expect(read.headers.get('x-ignored-parameters')).toBe('busca, Pagina, toString, constructor');
    expect(read.body).toEqual((await acme.get('/products')).body);

    const created = await acme.post('/delivery-notes', {
      cliente: { nombre_fiscal: 'Otro', telefono: '1' },
      pedido: { obra: 'x', forma_de_pago: { dias: 30 } },
      detalles: [
        { cantidad: 1, descripcion: 'a', importe_unitario: 1 },
        { cantidad: 1, descripcion: 'b', importe_unitario: 1, precio: 5 },
      ],
      borrador: true,
    });
    expectEnvelope(created, 200);
    expect(created.headers.get('x-ignored-parameters')).toBe(
      'cliente.telefono, pedido.forma_de_pago, detalles[1].precio, borrador',
    );
  });

  test('no header when there are none, and with an error too when there are', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    expect((await acme.get('/products')).headers.has('x-ignored-parameters')).toBe(false);
    const failed = await acme.get('/employees/times', { fecha: '2026-01-01' });
    expectEnvelope(failed, 400);
    expect(failed.headers.get('x-ignored-parameters')).toBe('fecha');
  });

  test('whatever their names hold, the header stays one short line of ASCII', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const answer = await acme.get('/products', { 'año\r\nX-Evil: 1': 1, __proto__x: 2, 'a b': 3 });
    expect(answer.headers.get('x-ignored-parameters')).toBe('a%C3%B1o%0D%0AX-Evil%3A%201, __proto__x, a%20b');
    expect(answer.headers.has('x-evil')).toBe(false);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`parametro${index}`, 1]));
    const crowded = await acme.get('/products', many);
    expectEnvelope(crowded, 200);
    expect(crowded.headers.get('x-ignored-parameters')?.length).toBeLessThanOrEqual(1000);
    expectEnvelope(await acme.get('/products?__proto__=1&__proto__[x]=2&hasOwnProperty=3'), 200);
  });
});

test('[ENV-09] what is asked first: 401, 403, 429, 400 for the form, 404, 400 for the meaning', async () => {
  const clock = new TestClock('2026-03-01T10:00:00Z');
  await using server = await startServer({ clock });
  const acme = await server.company(records);
  const spent = await server.company(records, { cuenta: { cuota_por_minuto: 1 } });
  await spent.get('/products');
  const readOnly = await spent.newKey(true);
  const create = (headers: Record<string, string>, body: unknown) =>
    server.request('/api/v1/crm/opportunities?x=%zz', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const sound = (headers: Record<string, string>, datos: unknown) =>
    server.request('/api/v1/crm/opportunities', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ datos }),
    });

  // Each request also has every error that is checked later.
  expectEnvelope(await create({}, '{'), 401);
  expectEnvelope(await create(readOnly, '{'), 403);
  expectEnvelope(await create(spent.headers, '{'), 429);
  expectEnvelope(await create(acme.headers, '{'), 400);
  expectEnvelope(await create({ ...acme.headers, 'content-type': 'text/plain' }, '{'), 415);
  const form = await sound(acme.headers, { ...opportunity, funnel_fk: 99, descripcion: 5 });
  expectEnvelope(form, 400);
  expect(form.body.data[0].campo).toBe('datos.descripcion');
  // A stage of another funnel, and a channel that does not exist.
  expectEnvelope(await sound(acme.headers, { ...opportunity, etapa_fk: 721, canal_fk: 99 }), 404);
  const meaning = await sound(acme.headers, { ...opportunity, etapa_fk: 721 });
  expectEnvelope(meaning, 400);
  expect(meaning.body.data[0].campo).toBe('datos.etapa_fk');
  expectEnvelope(await sound(acme.headers, opportunity), 200);
});

describe('ids in paths:', () => {
  test('[ID-02] [ENV-04] whatever stands there that is no id of a record is 404', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    expectEnvelope(await acme.get('/employees/501'), 200);
    for (const id of [
      '502',
      '0',
      '-1',
      'x',
      '..%2F501',
      '501%2F',
      '501%00',
      '501x',
      '5e2',
      'null',
      'undefined',
      '%C3%B1',
      `${'9'.repeat(30)}`,
      'a'.repeat(300),
      'a'.repeat(8000),
      '__proto__',
      'constructor',
    ]) {
      const answer = await plainRequest(server, 'GET', `/api/v1/employees/${id}`, acme.headers);
      expect([answer.status, JSON.parse(answer.text).errorCode], id.slice(0, 40)).toEqual([404, 404]);
    }
  });

  test('[ENV-10] a trailing slash changes nothing', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    for (const path of ['/products', '/employees/501', '/employees/times']) {
      expect((await acme.get(`${path}/`, dates)).body).toEqual((await acme.get(path, dates)).body);
    }
    expectEnvelope(await server.request('/consultarProductos/', { method: 'POST', headers: acme.headers }), 200);
  });

  test('[ENV-04] an id given in path and body must be one and the same record, in whatever form', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const close = (path: string | number, body: Record<string, unknown>) =>
      acme.put(`/crm/opportunities/${path}/close`, { resultado: 'abierta', ...body });
    const sealed = (await close(801, {})).body.data.oportunidadId;
    for (const path of [801, sealed]) {
      for (const oportunidadId of [801, '801', sealed, null, undefined]) {
        expectEnvelope(await close(path, { oportunidadId }), 200, `${path} ${oportunidadId}`);
      }
      for (const oportunidadId of [802, '802', 'x', true, {}]) {
        const answer = await close(path, { oportunidadId });
        expectEnvelope(answer, 400, `${path} ${oportunidadId}`);
        expect(answer.body.data[0].campo).toBe('oportunidadId');
      }
    }
    expectEnvelope(await close(802, { oportunidadId: 801 }), 400);
    expectEnvelope(await close('nothing', { oportunidadId: 801 }), 404);
  });
});

describe('[DATE-02] today and now are the company’s:', () => {
  // In the first hour of a UTC day the local dates of the world differ; which do depends on the hour.
  const MADRID = 'Europe/Madrid';
  const CANARY = 'Atlantic/Canary';
  const SANTO_DOMINGO = 'America/Santo_Domingo';
  test.each([
    [
      '2026-03-01T22:59:59Z',
      { [MADRID]: '2026-03-01 23:59:59', [CANARY]: '2026-03-01 22:59:59', [SANTO_DOMINGO]: '2026-03-01 18:59:59' },
    ],
    [
      '2026-03-01T23:30:00Z',
      { [MADRID]: '2026-03-02 00:30:00', [CANARY]: '2026-03-01 23:30:00', [SANTO_DOMINGO]: '2026-03-01 19:30:00' },
    ],
    [
      '2026-03-02T00:30:00Z',
      { [MADRID]: '2026-03-02 01:30:00', [CANARY]: '2026-03-02 00:30:00', [SANTO_DOMINGO]: '2026-03-01 20:30:00' },
    ],
    [
      '2026-07-01T22:30:00Z',
      { [MADRID]: '2026-07-02 00:30:00', [CANARY]: '2026-07-01 23:30:00', [SANTO_DOMINGO]: '2026-07-01 18:30:00' },
    ],
    [
      '2026-03-29T01:00:00Z',
      { [MADRID]: '2026-03-29 03:00:00', [CANARY]: '2026-03-29 02:00:00', [SANTO_DOMINGO]: '2026-03-28 21:00:00' },
    ],
  ])('at %s', async (moment, local) => {
    await using server = await startServer({ clock: new TestClock(moment) });
    for (const [zona_horaria, now] of Object.entries(local)) {
      const company = await server.company(records, { cuenta: { zona_horaria } });
      const closed = await company.put('/crm/opportunities/801/close', { resultado: 'ganado' });
      expect(closed.body.data.fecha_cierre, zona_horaria).toBe(now);
      const note = await company.post('/delivery-notes', {
        cliente: { nombre_fiscal: 'Bar' },
        pedido: { obra: 'x' },
        detalles: [{ cantidad: 1, descripcion: 'a', importe_unitario: 1 }],
      });
      expect(note.status).toBe(200);
      const { rows } = await server.service.database.pool.query(
        'select date from delivery_notes where account_id = $1',
        [company.id],
      );
      expect(rows, zona_horaria).toEqual([{ date: now.slice(0, 10) }]);
    }
  });

  test('Madrid’s, where nothing is said', async () => {
    await using server = await startServer({ clock: new TestClock('2026-03-01T23:30:00Z') });
    const company = await server.company(records);
    const closed = await company.put('/crm/opportunities/801/close', { resultado: 'ganado' });
    expect(closed.body.data.fecha_cierre).toBe('2026-03-02 00:30:00');
  });
});

describe('[ENV-05] request ids:', () => {
  test('every answer has one of its own, or the caller’s', async () => {
    await using server = await startServer();
    const acme = await server.company(records);
    const paths = ['/api/v1/products', '/api/v1/employees/times', '/api/v1/employees/999', '/nothing', '/health/live'];
    const given = await Promise.all(
      paths.map((path) => server.request(path, { headers: { ...acme.headers, 'x-request-id': 'caller-1234' } })),
    );
    for (const { headers } of given) expect(headers.get('x-request-id')).toBe('caller-1234');
    const made = await Promise.all([...paths, ...paths].map((path) => server.request(path, { headers: acme.headers })));
    const ids = made.map(({ headers }) => headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(UUID);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each([
    'short',
    'with space in it',
    'x'.repeat(65),
    'emoji-é-12345',
    '<script>alert(1)</script>',
    '{"json":"12345"}',
  ])('one that could forge a log line is replaced: %s', async (id) => {
    await using server = await startServer();
    const answer = await server.request('/nothing', { headers: { 'x-request-id': id } });
    expect(answer.headers.get('x-request-id')).toMatch(UUID);
  });
});

/** The parsed lines of a log. */
const logged = (lines: string[]) => lines.map((line) => JSON.parse(line));

test('[ENV-05] our own fault is a 500 that tells nothing but a request id, and the log has the rest under it', async () => {
  await using database = await ownDatabase();
  const lines: string[] = [];
  await using server = await startServer({ database: { url: database.url }, logTo: (line) => lines.push(line) });
  const acme = await server.company(records);
  await database.admin.query('alter table time_entries rename column notes to secret_notes');

  const answer = await acme.get('/employees/times', dates);
  expectEnvelope(answer, 500);
  const requestId = answer.headers.get('x-request-id');
  expect(answer.body).toEqual({
    errorCode: 500,
    errorMsg: `Error interno del servicio (petición ${requestId})`,
    data: null,
  });
  expect([...answer.headers].join()).not.toMatch(/notes|select|\.ts/);

  const about = logged(lines).filter((line) => line.reqId === requestId);
  const [fault] = about.filter(({ level }) => level === 50);
  expect(fault.requestId).toBe(requestId);
  expect(fault.err.message).toContain('notes');
  expect(fault.err.stack).toBeTruthy();
  expect(about.at(-1)).toMatchObject({
    status: 500,
    account: acme.id,
    method: 'GET',
    route: '/api/v1/employees/times',
  });
  // Everything else works.
  expectEnvelope(await acme.get('/products'), 200);
});

test('[ENV-05] a caller’s mistake is not logged as our fault', async () => {
  const lines: string[] = [];
  await using server = await startServer({ logTo: (line) => lines.push(line) });
  const acme = await server.company(records);
  await acme.get('/employees/times');
  await acme.get('/employees/999');
  await server.request('/nothing');
  expect(logged(lines).filter(({ level }) => level >= 50)).toEqual([]);
});

describe('[ENV-04] 503 with Retry-After:', () => {
  function expectUnavailable(answer: Answer) {
    expectEnvelope(answer, 503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.body.errorMsg).not.toMatch(/ECONN|connect|postgres|timeout/i);
  }

  test('while the database is away, and no longer once it is back', async () => {
    await using proxy = await databaseProxy(inject('databaseUrl'));
    await using server = await startServer({ database: { url: proxy.url, connectTimeoutMs: 2_000 } });
    const acme = await server.company(records);
    expectEnvelope(await acme.get('/products'), 200);
    await proxy.cut();
    for (let attempt = 0; attempt < 3; attempt++) {
      expectUnavailable(await acme.get('/products'));
      expectUnavailable(await acme.post('/crm/opportunities', { datos: opportunity }));
      // An unknown caller can't be looked up either, and that is not a 401.
      expectUnavailable(
        await server.request('/api/v1/products', { headers: { ...acme.headers, 'x-api-secret': 'other' } }),
      );
    }
    expect((await server.request('/health/ready')).status).toBe(503);
    expect((await server.request('/health/live')).status).toBe(200);
    await proxy.restore();
    expectEnvelope(await acme.get('/products'), 200);
    expect((await server.request('/health/ready')).status).toBe(200);
  });

  test('when the connection is lost in the middle of a call', async () => {
    await using proxy = await databaseProxy(inject('databaseUrl'));
    await using server = await startServer({ database: { url: proxy.url } });
    const acme = await server.company(records);
    expectEnvelope(await acme.get('/products'), 200);
    const lost = proxy.swallowAnswers();
    const call = acme.get('/products');
    await lost;
    await proxy.cut();
    expectUnavailable(await call);
  });

  test('when no connection is free in time, and when a statement takes too long', async () => {
    await using database = await ownDatabase();
    const limits = { url: database.url, poolSize: 1, connectTimeoutMs: 200, statementTimeoutMs: 1_000 };
    await using server = await startServer({ alone: true, database: limits });
    const acme = await server.company(records);
    expectEnvelope(await acme.get('/products'), 200);
    await database.admin.query('begin; lock table products in access exclusive mode');
    const waiting = acme.get('/products');
    // The only connection waits for the table.
    await untilWaiting(database.admin);
    expectUnavailable(await acme.get('/crm/funnels'));
    expectUnavailable(await waiting);
    await database.admin.query('rollback');
    expectEnvelope(await acme.get('/products'), 200);
  });

  test('not while the server stops: what is under way is finished, and what comes later on its connections, which it closes', async () => {
    await using database = await ownDatabase();
    const server = await startServer({ alone: true, database: { url: database.url } });
    const acme = await server.company(records);
    expectEnvelope(await acme.get('/products'), 200);
    await database.admin.query('begin; lock table products in access exclusive mode');
    const { hostname, port } = new URL(server.url);
    const socket = createConnection({ host: hostname, port: Number(port) });
    const answers = readAnswers(socket);
    const credentials = Object.entries(acme.headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    const get = (path: string) => socket.write(`GET /api/v1${path} HTTP/1.1\r\nHost: x\r\n${credentials}\r\n`);

    get('/products');
    await untilWaiting(database.admin);
    const stopped = server.stop();
    get('/crm/funnels');
    await database.admin.query('rollback');

    const [underWay, later] = await answers;
    expect(underWay).toMatchObject({ status: 200, body: { errorCode: 200 } });
    expect(later).toMatchObject({ status: 200, body: { errorCode: 200 } });
    expect(later?.head).toMatch(/\r\nconnection: close/i);
    await stopped;
  });
});

/** The answers received on a connection until it closes. */
async function readAnswers(socket: Socket): Promise<{ status: number; head: string; body: unknown }[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  let rest = Buffer.concat(chunks).toString();
  const answers = [];
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    const body = rest.slice(end + 4, end + 4 + length);
    answers.push({ status: Number(head.split(' ')[1]), head, body: JSON.parse(body) });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}

test('browsers of other sites may not call unless their origin is allowed, and then see the headers', async () => {
  await using closed = await startServer();
  const refused = await closed.request('/api/v1/products', { headers: { origin: 'https://app.example' } });
  expect(refused.headers.has('access-control-allow-origin')).toBe(false);

  await using open = await startServer({ corsOrigins: ['https://app.example'] });
  const acme = await open.company(records);
  const allowed = await open.request('/api/v1/products', {
    headers: { ...acme.headers, origin: 'https://app.example' },
  });
  expectEnvelope(allowed, 200);
  expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example');
  expect(allowed.headers.get('access-control-expose-headers')).toContain('X-Request-Id');
  // W-09: under both names.
  const asked = 'x-api-key,x-api-secret,content-type,x-idempotency-key,idempotency-key';
  const preflight = await open.request('/api/v1/crm/contacts', {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': asked,
    },
  });
  expect(preflight.headers.get('access-control-allow-headers')).toBe(asked);
  const other = await open.request('/api/v1/products', {
    headers: { ...acme.headers, origin: 'https://evil.example' },
  });
  expect(other.headers.get('access-control-allow-origin')).not.toBe('https://evil.example');
});
