// The OpenAPI document is valid and complete, and the server answers as it says.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoCompany } from '../../account-file/demo/index.ts';
import { openApiDocument } from '../../bridges/openapi.ts';
import { operations } from '../../bridges/operations.ts';
import { KINDS, type Kind } from '../../platform/ids.ts';
import { idSites, unwrap } from '../../routers/shared/calls/walk.ts';
import { idMarks } from '../../routers/shared/id.ts';
import { EXAMPLE_NOW, exampleAccount, exampleRecords, examples } from '../helpers/examples.ts';
import {
  type Answer,
  type Company,
  type Server,
  type ServerOptions,
  startServer,
  TestClock,
} from '../helpers/world.ts';

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  description?: string;
  schema: { type?: string };
  example?: unknown;
  examples?: { ejemplo: { value: unknown } };
  $ref?: string;
}
interface DocumentedOperation {
  operationId: string;
  tags: string[];
  summary: string;
  parameters: Parameter[];
  requestBody?: { content: { 'application/json': { schema: { $ref?: string }; example?: Record<string, unknown> } } };
  responses: Record<string, { $ref: string }>;
}
interface Document {
  info: Record<string, unknown>;
  servers: { url: string }[];
  components: { schemas: Record<string, unknown>; parameters: Record<string, Parameter> };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, DocumentedOperation>>;
}

// The document as its readers parse it.
const document: Document = JSON.parse(JSON.stringify(openApiDocument()));
const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
);
const find = (method: string, path: string) => {
  const found = documented.find((one) => one.method === method && one.path === path);
  if (!found) throw new Error(`${method} ${path} is not in the document`);
  return found;
};

describe('the document', () => {
  test('has no errors and no warnings under the recommended rules of Redocly', { timeout: 60_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'albaran-openapi-'));
    try {
      const file = join(folder, 'openapi.json');
      await writeFile(file, JSON.stringify(document));
      const { problems } = await redoclyLint(file);
      expect(problems).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('holds every path and every v0 alias of every operation, and nothing else', () => {
    const expected = operations.flatMap(({ alias, routes }) => [
      ...routes.map(({ method, path }) => `${method} /api/v1${path}`),
      `POST /${alias}`,
    ]);
    expect(documented.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(expected.sort());
  });

  test('names each operation once', () => {
    const ids = documented.map(({ operationId }) => operationId);
    expect(ids).toHaveLength(new Set(ids).size);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]*$/);
  });

  test('puts each operation under one described tag, and the aliases under v0', () => {
    const described = new Set(document.tags.filter(({ description }) => description).map(({ name }) => name));
    for (const { path, tags } of documented) {
      expect(tags).toHaveLength(1);
      expect(described).toContain(tags[0]);
      expect(tags[0] === 'v0').toBe(!path.startsWith('/api/v1/'));
    }
  });

  test('describes every parameter, and gives an example of each that is required', () => {
    const parameters = documented.flatMap(({ operationId, parameters }) =>
      parameters.filter(({ name }) => name).map((parameter) => ({ operationId, ...parameter })),
    );
    expect(parameters.filter(({ description }) => !description)).toEqual([]);
    expect(parameters.filter(({ required, example }) => required && example === undefined)).toEqual([]);
    expect(parameters.filter(({ in: place, required }) => place === 'path' && !required)).toEqual([]);
  });

  test('shows ids of paths and queries as strings, since there everything is text', () => {
    const { parameters } = find('GET', '/api/v1/employees/{empleadoId}/times');
    const [id] = parameters;
    expect(id).toMatchObject({ name: 'empleadoId', in: 'path', required: true, schema: { type: 'string' } });
    expect(parameters.find(({ name }) => name === 'fecha_inicio')).toMatchObject({
      in: 'query',
      required: true,
      schema: { type: 'string', format: 'date' },
    });
  });

  test('gives each body, of a path or an alias, a schema with a name of its own', () => {
    const bodies = documented.flatMap(({ requestBody }) => requestBody ?? []);
    expect(bodies).toHaveLength(documented.filter(({ method }) => hasBody(method)).length);
    const names = bodies.map(({ content }) => content['application/json'].schema.$ref?.split('/').at(-1) ?? '');
    expect(names.filter((name) => !(name in document.components.schemas))).toEqual([]);
    const { requestBody: beside } = find('PUT', '/api/v1/crm/opportunities/{oportunidadId}/stage');
    const { requestBody: whole } = find('POST', '/moverOportunidad');
    expect(beside).not.toEqual(whole);
    // Code generators ignore case in these names.
    const components = Object.keys(document.components.schemas).map((name) => name.toLowerCase());
    expect(new Set(components).size).toBe(components.length);
  });

  test('[IDEM-01] gives every write the idempotency key and its errors, and no read', () => {
    for (const { alias, write } of operations) {
      const { parameters, responses } = find('POST', `/${alias}`);
      const key = { $ref: '#/components/parameters/IdempotencyKey' };
      if (write) expect(parameters).toContainEqual(key);
      else expect(parameters).not.toContainEqual(key);
      for (const status of ['403', '409', '422']) expect(status in responses).toBe(write);
    }
  });

  test('[JRN-04] gives every GET whose answer has a tag what is asked with it, and the 304', () => {
    for (const { path, lasts, routes } of operations) {
      for (const route of routes) {
        const { parameters, responses } = find(route.method, `/api/v1${route.path}`);
        const tag = { $ref: '#/components/parameters/IfNoneMatch' };
        if (lasts) expect(parameters, path).toContainEqual(tag);
        else expect(parameters, path).not.toContainEqual(tag);
        expect('304' in responses, path).toBe(lasts);
        expect('410' in responses, path).toBe(path === 'changes.list');
      }
    }
  });

  test('gives every read the lag it may have, and no write', () => {
    for (const { alias, write, routes } of operations) {
      const { parameters } = find('POST', `/${alias}`);
      const first = routes[0];
      const main = first && find(first.method, `/api/v1${first.path}`);
      const lag = { $ref: '#/components/parameters/MaxLag' };
      for (const given of [parameters, main?.parameters]) {
        if (write) expect(given).not.toContainEqual(lag);
        else expect(given).toContainEqual(lag);
      }
    }
  });
});

test('is served to anyone, cacheable, and known again by its tag', async () => {
  await using server = await startServer();
  const first = await server.request('/api/v1/openapi.json');
  expect(first.status).toBe(200);
  expect(first.body).toEqual(document);
  expect(first.headers.get('cache-control')).toContain('public');
  const etag = first.headers.get('etag') ?? '';
  expect(etag).not.toBe('');

  const again = await server.request('/api/v1/openapi.json', { headers: { 'if-none-match': `"other", ${etag}` } });
  expect(again.status).toBe(304);
  expect(again.text).toBe('');
  expect(again.headers.get('etag')).toBe(etag);
  const changed = await server.request('/api/v1/openapi.json', { headers: { 'if-none-match': '"other"' } });
  expect(changed.status).toBe(200);
  const plain = await server.request('/api/v1/openapi.json', { headers: { 'accept-encoding': 'identity' } });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(plain.text).toBe(first.text);
});

test('names the host that gave it, or the address that callers know, and whom they may ask', async () => {
  expect(document.servers).toEqual([{ url: '/' }]);
  expect(document.info.contact).toEqual({ name: 'Quien opera este servicio' });
  const read = async (options: ServerOptions) => {
    await using server = await startServer(options);
    const { text } = await server.request('/api/v1/openapi.json');
    const { servers, info }: Document = JSON.parse(text);
    return { servers, contact: info.contact };
  };
  const baseUrl = 'https://api.example.com';
  expect(await read({ baseUrl })).toEqual({
    servers: [{ url: baseUrl }],
    contact: { name: 'Quien opera este servicio', url: baseUrl },
  });
  const { contact } = await read({ baseUrl, apiContact: 'api@example.com' });
  expect(contact).toEqual({ name: 'Quien opera este servicio', email: 'api@example.com' });
});

test('[ENV-01][ENV-04] the root says where the documentation is; another method is a 405', async () => {
  await using server = await startServer();
  const root = await server.request('/');
  expect(root.body).toMatchObject({
    errorCode: 200,
    errorMsg: '',
    data: { nombre: 'Albaran', documentacion: '/docs' },
  });
  const { status, headers, body } = await server.request('/docs', { method: 'POST', body: 'text' });
  expect([status, headers.get('allow'), body.errorCode]).toEqual([405, 'GET, HEAD', 405]);
});

describe('what the server answers', () => {
  test('is as described: every read, at each of its paths and at its alias', { timeout: 120_000 }, async () => {
    const today = Temporal.PlainDate.from('2026-03-02');
    await using server = await startServer({ clock: new TestClock(`${today}T09:00:00Z`) });
    const company = await demo(server, today);
    for (const operation of operations.filter(({ write }) => !write)) {
      const input = await exampleInput(server, company, operation);
      for (const { path, parameters } of operation.routes) {
        const inPath = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])));
        const inQuery = Object.entries(input).filter(([name]) => !parameters.includes(name));
        const answer = await company.get(inPath, Object.fromEntries(inQuery));
        expectDescribed({ method: 'GET', url: `/api/v1${path}` }, answer, 200);
      }
      const answer = await company.alias(operation.alias, input);
      expectDescribed({ method: 'POST', url: `/${operation.alias}` }, answer, 200);
    }
  });

  test('is as described: every write, at each of its paths and at its alias', { timeout: 120_000 }, async () => {
    await using server = await startServer({ clock: new TestClock(EXAMPLE_NOW) });
    for (const call of calls.filter(({ write }) => write)) {
      const answer = await send(server, await newCompany(server), call, inputOf(call));
      expectDescribed(call, answer, 200);
    }
  });

  test('is a 200 for every request of the examples, its ids those of the company', { timeout: 120_000 }, async () => {
    await using server = await startServer({ clock: new TestClock(EXAMPLE_NOW), quotaPerMinute: 1_000_000 });
    const reads = await newCompany(server);
    for (const call of calls) {
      const { parameters, requestBody } = find(call.method, call.url);
      const stated = parameters.map((one) => ({
        ...one,
        ...(one.$ref ? document.components.parameters[one.$ref.split('/').at(-1) ?? ''] : {}),
      }));
      const of = (given: Parameter[]) =>
        Object.fromEntries(given.map(({ name, example, examples }) => [name, example ?? examples?.ejemplo.value]));
      const [headers, inUrl] = [
        of(stated.filter((one) => one.in === 'header')),
        stated.filter((one) => one.in !== 'header'),
      ];
      const body = requestBody?.content['application/json'].example ?? {};
      // A form made from the document sends the required fields; a person may fill in all of them.
      for (const given of [inUrl, inUrl.filter(({ required }) => required)]) {
        const input = Object.fromEntries(
          Object.entries({ ...of(given), ...structuredClone(body) }).filter(([, value]) => value !== undefined),
        );
        for (const { container, key, mark } of idSites(call.input)({ value: input })) {
          expect(container[key], `${call.url}: ${String(key)}`).toMatch(/^\w[\w-]{22}$/);
          container[key] = exampleRecordOf(mark.kind);
        }
        const company = call.write ? await newCompany(server) : reads;
        const answer = await send(server, { headers: { ...company.headers, ...headers } }, call, input);
        expectDescribed(call, answer, 200);
      }
    }
  });

  test('has days in its examples that a person worked', () => {
    const { properties } = JSON.parse(JSON.stringify(document.components.schemas.ConsultarFichajesDatos));
    const { entrada, salida, horas } = properties.fichajes.items.properties;
    const at = (clocking: typeof entrada) => Temporal.PlainTime.from(clocking.properties.hora.examples[0]);
    const elapsed = at(entrada).until(at(salida.anyOf[0])).total('hours');
    expect(elapsed).toBeGreaterThan(horas.examples[0]);
    expect(elapsed - horas.examples[0]).toBeLessThanOrEqual(1);
  });

  describe('[ENV-02] is as described when it is an error:', { timeout: 60_000 }, () => {
    let server: Server;
    let company: Company;
    beforeAll(async () => {
      server = await startServer({ clock: new TestClock(EXAMPLE_NOW), quotaPerMinute: 1_000_000 });
      company = await newCompany(server);
    });
    afterAll(() => server?.stop());

    test('400, wherever something can be wrong', async () => {
      for (const call of calls) {
        const wrong = Object.entries(call.input.shape).find(
          ([name, property]) => !idMarks.get(unwrap(property)) && !call.parameters.includes(name),
        );
        if (wrong) {
          // Not a valid text, number, date, boolean or list.
          const answer = await send(server, company, call, { ...inputOf(call), [wrong[0]]: '\0' });
          expectDescribed(call, answer, 400);
          expect(answer.body.data[0].campo, call.url).toContain(wrong[0]);
        }
        if (!hasBody(call.method)) continue;
        const headers = { ...company.headers, 'content-type': 'application/json' };
        const { method } = call;
        expectDescribed(call, await server.request(urlOf(call), { method, headers, body: '{' }), 400);
      }
    });

    test('401, everywhere', async () => {
      const nobody = { ...company.headers, 'x-api-secret': 'wrong' };
      for (const call of calls) {
        expectDescribed(call, await send(server, { headers: {} }, call, inputOf(call)), 401);
        expectDescribed(call, await send(server, { headers: nobody }, call, inputOf(call)), 401);
      }
    });

    test('403, of every write by a key that only reads', async () => {
      const headers = await company.newKey(true);
      for (const call of calls.filter(({ write }) => write)) {
        expectDescribed(call, await send(server, { headers }, call, inputOf(call)), 403);
      }
    });

    test('404, of every call that takes an id', async () => {
      for (const call of calls) {
        const input = inputOf(call);
        const sites = idSites(call.input)({ value: input }).filter(({ mark }) => mark.unknown === 'notFound');
        expect(404 in find(call.method, call.url).responses, call.url).toBe(sites.length > 0);
        for (const { container, key } of sites) container[key] = 999_999_999_999;
        if (sites.length > 0) expectDescribed(call, await send(server, company, call, input), 404);
      }
    });

    test('415, of every call with a body', async () => {
      for (const call of calls.filter(({ method }) => hasBody(method))) {
        const { method } = call;
        const answer = await server.request(urlOf(call), { method, headers: company.headers, body: 'text' });
        expectDescribed(call, answer, 415);
      }
    });

    test('[IDEM-01] 422, of every write whose key was used for another', async () => {
      const headers = { ...company.headers, 'x-idempotency-key': 'k' };
      const first = await company.post('/crm/contacts', { datos: { email: 'otra@example.com' } }, headers);
      expect(first.status).toBe(200);
      for (const call of calls.filter(({ write }) => write)) {
        expectDescribed(call, await send(server, { headers }, call, inputOf(call)), 422);
      }
    });

    test('[LIM-01] 429, everywhere', async () => {
      await using strict = await startServer({ clock: new TestClock(EXAMPLE_NOW), quotaPerMinute: 1 });
      const spent = await newCompany(strict);
      expect((await spent.get('/crm/funnels')).status).toBe(200);
      for (const call of calls) expectDescribed(call, await send(strict, spent, call, inputOf(call)), 429);
    });
  });
});

const hasBody = (method: string) => method === 'POST' || method === 'PUT';

type Call = (typeof operations)[number] & { method: string; url: string; parameters: readonly string[] };

/** Every operation with each of its paths and its alias. */
const calls: Call[] = operations.flatMap((operation) => [
  ...operation.routes.map(({ method, path, parameters }) => ({
    ...operation,
    method,
    url: `/api/v1${path}`,
    parameters,
  })),
  { ...operation, method: 'POST', url: `/${operation.alias}`, parameters: [] },
]);

/** A record of the kind in a company with `exampleRecords`; if there are several, matching ones. */
const RECORDS: Partial<Record<Kind, number>> = {
  employee: 1501,
  department: 1201,
  client: 1901,
  supplier: 2001,
  family: 2101,
  product: 2201,
  variation: 2211,
  format: 2221,
  funnel: 2301,
  stage: 2311,
  channel: 2401,
  lossReason: 2501,
  contact: 2601,
  opportunity: 2701,
  projectState: 2801,
  project: 2901,
  taskState: 3001,
  task: 3101,
  estimate: 3401,
  estimateLine: 3411,
  recurring: 3602,
  deliveryNote: 3701,
  invoice: 3901,
  invoiceLine: 3911,
  dueDate: 3921,
  purchaseDeliveryNote: 4001,
  purchaseInvoice: 4201,
  treasuryAccount: 4301,
  webhook: 4501,
  documentLink: 4601,
};

function exampleRecordOf(kind: Kind): number {
  const id = RECORDS[kind];
  if (id === undefined) throw new Error(`No record of the kind ${kind}`);
  return id;
}

const newCompany = (server: Server) => server.company([...exampleRecords], { cuenta: exampleAccount });
const inputOf = ({ path }: Call) => structuredClone(examples[path] ?? {});
const urlOf = (call: Call, input = inputOf(call)) =>
  call.url.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(input[name])));

/** A call with this input: path parameters in the path, the others in the query or the body. */
function send(
  server: Server,
  { headers }: { headers: Record<string, string> },
  call: Call,
  input: Record<string, unknown>,
): Promise<Answer> {
  const { method, parameters } = call;
  const url = urlOf(call, input);
  const rest = Object.entries(input).filter(([name]) => !parameters.includes(name));
  if (method === 'GET') {
    const query = new URLSearchParams(rest.map(([name, value]) => [name, String(value)]));
    return server.request(`${url}?${query}`, { headers });
  }
  return server.request(url, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(rest)),
  });
}

// Every object is closed, so that a field missing from the document is noticed.
const closed = JSON.parse(JSON.stringify(document), (_key, value) =>
  value?.type === 'object' && value.properties ? { ...value, additionalProperties: false } : value,
);
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).addSchema(closed, 'document');

/** Expects a status that is documented for the call, with its documented envelope and headers. */
function expectDescribed({ method, url: path }: Pick<Call, 'method' | 'url'>, answer: Answer, expected: number): void {
  const { status, body, headers } = answer;
  expect(status, `${method} ${path}: ${answer.text}`).toBe(expected);
  expect(headers.get('content-type'), path).toMatch(/^application\/json\b/);
  const { responses } = find(method, path);
  const name = responses[status]?.$ref.split('/').at(-1);
  expect(name, `${status} at ${method} ${path}`).toBeDefined();
  const validate = ajv.compile({
    $ref: `document#/components/responses/${name}/content/application~1json/schema`,
  });
  const valid = validate(body);
  expect(valid ? [] : validate.errors, `${status} at ${method} ${path}`).toEqual([]);
  const documentedHeaders = Object.entries(closed.components.responses[name ?? ''].headers);
  const always = documentedHeaders.filter(([header]) => /^(X-Request-Id|RateLimit.*|Retry-After)$/.test(header));
  for (const [header] of always) expect(headers.has(header), `${header} of a ${status} at ${path}`).toBe(true);
}

/** The demo company with fewer time entries. */
async function demo(server: Server, today: Temporal.PlainDate): Promise<Company> {
  const [cuenta, ...records] = demoCompany({ today });
  const some = records.filter(({ coleccion }, index) => coleccion !== 'fichajes' || index % 20 === 0);
  return server.company(
    [
      ...some.map((record) => ({ ...record, coleccion: String(record.coleccion), ref: String(record.ref) })),
      { coleccion: 'webhooks' },
      { coleccion: 'enlaces' },
    ],
    { cuenta },
  );
}

/** The required parameters of an operation: ids of records of the company, a month, or the document's examples. */
async function exampleInput(server: Server, company: Company, { input, routes }: (typeof operations)[number]) {
  const known: Record<string, unknown> = { fecha_inicio: '2026-02-01', fecha_fin: '2026-02-28' };
  const values: Record<string, unknown> = {};
  const inPaths = routes.flatMap(({ parameters }) => parameters);
  for (const { name, required, example } of routes.flatMap(
    ({ method, path }) => find(method, `/api/v1${path}`).parameters,
  )) {
    if (!required && !inPaths.includes(name)) continue;
    const property = input.shape[name];
    const kind = property && idMarks.get(unwrap(property))?.kind;
    values[name] = kind ? await anyId(server, company, kind) : (known[name] ?? example);
  }
  return values;
}

async function anyId({ service }: Server, { id }: Company, kind: Kind): Promise<string> {
  const { rows } = await service.database.transaction(id, {}, (db) =>
    sql<{ id: number }>`select id from ${sql.table(KINDS[kind].table)} where account_id = ${id} limit 1`.execute(db),
  );
  return service.ids.seal(id, kind, rows[0]?.id ?? 0);
}

/** `redocly lint` without network access. Its exit status is ignored: the report decides. */
async function redoclyLint(file: string): Promise<{ problems: unknown[] }> {
  const cli = createRequire(import.meta.url)
    .resolve('@redocly/cli/package.json')
    .replace('package.json', 'bin/cli.js');
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [cli, 'lint', '--format=json', file], { env }, (_error, stdout) => resolve(stdout));
  });
  return JSON.parse(output);
}
