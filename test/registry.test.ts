// Rules for every operation, tested over the registry, so that new operations are covered.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Operation, operations, type Route } from '../bridges/operations.ts';
import { entities } from '../entities/index.ts';
import { fieldName } from '../platform/errors.ts';
import { KINDS, type Kind } from '../platform/ids.ts';
import { idMarks } from '../routers/shared/id.ts';
import { writeOf, writes } from './faults/once/writes.ts';
import { copiesOf, EXAMPLE_NOW, exampleAccount, exampleRecords, examples } from './helpers/examples.ts';
import { type Input, isId, places, placesOf, valueAt, withValue } from './helpers/places.ts';
import { recordStatements, type Statement } from './helpers/statements.ts';
import { type Answer, type Company, type Server, startServer, TestClock } from './helpers/world.ts';

let server: Server;
/** Arguments of a read are unchanged; a write gets an idempotency key. */
let reader: Company;
const newCompany = (records = [...exampleRecords]) => server.company(records, { cuenta: exampleAccount });

beforeAll(async () => {
  server = await startServer({ clock: new TestClock(EXAMPLE_NOW), quotaPerMinute: 1_000_000 });
  reader = await newCompany();
});
afterAll(() => server.stop());

const exampleOf = ({ path }: Operation): Input => structuredClone(examples[path] ?? {});
const companyFor = (operation: Operation) => (operation.write ? newCompany() : reader);

/** Calls the operation by one of its paths, with the rest of its input in the query or the body. */
async function callRoute(company: Company, { method, path, parameters }: Route, input: Input): Promise<Answer> {
  const url = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(input[name])));
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !parameters.includes(name)));
  if (method === 'GET') return company.get(url, rest);
  if (method === 'DELETE') return company.delete(url);
  return method === 'POST' ? company.post(url, rest) : company.put(url, rest);
}

const isDate = (schema: z.core.$ZodType) => schema instanceof z.ZodISODate;
const isText = (schema: z.core.$ZodType) => schema instanceof z.ZodString || isId(schema);

describe('every operation', () => {
  test.each(operations.map((operation) => [operation.path, operation] as const))(
    '%s says what it is',
    (_, operation) => {
      const { title, description, alias, tool, routes, input } = operation;
      expect(title).toMatch(/^\p{Lu}.{2,59}$/u);
      expect(description).toMatch(/^\p{Lu}.{20,600}\.$/su);
      expect(alias).toMatch(/^[a-z]+([A-Z][a-z]*)+$/);
      expect(tool).toMatch(/^[a-z]+(_[a-z]+)+$/);
      expect(routes.length).toBeGreaterThan(0);
      for (const { path, parameters } of routes) {
        expect(path).toMatch(/^(\/([a-z][a-z-]*|\{\w+\}))+$/);
        for (const parameter of parameters) expect(Object.keys(input.shape), path).toContain(parameter);
      }
    },
  );

  test('has an example, and no example is of an operation that is not there', () => {
    expect(Object.keys(examples).toSorted()).toEqual(operations.map(({ path }) => path).toSorted());
  });

  test('has names and paths of its own', () => {
    const aliases = operations.map(({ alias }) => alias);
    expect(new Set(aliases).size).toBe(aliases.length);
    const urls = operations.flatMap(({ routes }) =>
      routes.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`),
    );
    expect(new Set(urls).size).toBe(urls.length);
  });

  test('is read by GET, and written by POST, PUT or DELETE', () => {
    for (const { path, write, routes } of operations) {
      for (const { method } of routes) expect(method === 'GET', path).toBe(!write);
    }
  });

  test('names the tools it speaks of as they are', () => {
    const tools = new Set(operations.map(({ tool }) => tool));
    const unknown = operations.flatMap(({ path, description }) =>
      (description.match(/\b(consultar|listar|obtener|crear|actualizar|mover|cerrar)_\w+/g) ?? [])
        .filter((name) => !tools.has(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });
});

test('[IDEM-01] every write has inputs for `npm run prove:once`', () => {
  for (const operation of writes) expect(writeOf(operation).operation).toBe(operation);
});

test('[ENV-08] null is only where the specification, or what was decided beside it, states it', () => {
  const STATED = [
    /\bfecha_\w+$/, // a date that is not set
    /\.salida\.(fecha|hora|metodo)$/,
    /\.(observaciones|autorizada|contrato_vigente|precio_con_iva|ausencia|valor_cierre)$/,
    /\.valido_hasta$/, // an estimate that stays valid
    /\.rgpd\.\w+$/,
    /\.(fichajes|documentos|lineas)\[\]\.(proyectoId|tareaId|articuloId)$/,
    /\.(lineas|desglose_iva)\[\]\.exencion$/, // a line with VAT
    /^\.retencion$/, // an invoice of which the client keeps nothing back
    /\.lineas\[\]\.(variacionId|formatoId|cantidad_base_real|descripcion_ampliada|startDate|endDate)$/,
    /^\.proyectoId$/,
    /\.oportunidad\.cliente$/, // an opportunity that is billed to nobody yet
    /\.movimientos\[\]\.documento$/, // stock that no delivery note moved
    /\.(proxima_renovacion|ultima_facturacion|meses_activos|dia_ancla)$/, // of a recurring service, where it has none
    /^\.logo$/, // a company without one
    /^\.albaranId$/, // a renewal that is skipped
    /\.desglose\[\]\.(horas|documento|lineaId)$/, // lines are of a document or of time
    /^(\.facturas\[\])?\.rectifica$/, // an invoice that rectifies none
    /^\.historial\[\]\.(motivo|documento|origen\.nombre)$/, // nothing came of it, of who has no name
    /^\.enlaces\[\]\.(revocado|primera_apertura|ultima_apertura)$/, // a live link, one that nobody has opened
    /^\.fallos\[\]\.id$/, // a chain that lacks its end
    /^\.registros_facturacion$/, // there are none
    /^\.registros\[\]\.(huella_anterior|qr|csv)$/, // the first of a chain, an annulment's, not sent
    /^\.(verifactu\.modo|declaracion_responsable)$/, // off, or not published
    /^\.movimientoId$/, // settled without an account
    /^\.cambios\[\]\.(id|origen\.nombre)$/, // of the company itself; of who has no name
    /^\.registros\[\]\.(origen\.nombre|cambios|filas)$/, // of who has no name; of a read, and of a write
    /\.proximo_intento$/, // a webhook that has not failed
    /^\.cursor$/, // the last page of a list
    /\.proveedor\.movil$/,
    /\.proveedores\[\]\.movil$/,
    /\.grupos\[\]\.(subtipo|proyectoId|familiaId|articuloId)$/,
  ];
  const unstated = operations.flatMap(({ path, output }) =>
    [...new Set(nullable(output))]
      .filter((place) => !STATED.some((stated) => stated.test(place)))
      .map((place) => path + place),
  );
  expect(unstated).toEqual([]);
});

/** Paths at which an output schema allows null. */
function* nullable(schema: z.core.$ZodType, path = ''): Generator<string> {
  if (schema instanceof z.ZodNull) yield path;
  else if (schema instanceof z.ZodNullable) {
    yield path;
    yield* nullable(schema._zod.def.innerType, path);
  } else if (schema instanceof z.ZodOptional) yield* nullable(schema._zod.def.innerType, path);
  else if (schema instanceof z.ZodArray) yield* nullable(schema._zod.def.element, `${path}[]`);
  else if (schema instanceof z.ZodRecord) yield* nullable(schema._zod.def.valueType, `${path}{}`);
  else if (schema instanceof z.ZodUnion) for (const option of schema._zod.def.options) yield* nullable(option, path);
  else if (schema instanceof z.ZodObject) {
    for (const [name, property] of Object.entries(schema._zod.def.shape)) yield* nullable(property, `${path}.${name}`);
  }
}

describe('[VER-01] the v0 alias and every path answer the same:', () => {
  // Values that differ between companies: assigned numbers, ids, secrets and addresses of links.
  const shape = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value, (_, inner) =>
        (typeof inner === 'string' && /^([a-z][\w-]{22}|whsec_.*|https?:.*\/d\/.*)$/.test(inner)) ||
        (typeof inner === 'number' && inner > 1e9)
          ? '<id>'
          : inner,
      ),
    );

  // The remaining quota differs between calls.
  const settled = (body: Answer['body']) =>
    body.data?.cuota ? { ...body, data: { ...body.data, cuota: { ...body.data.cuota, restante: 0 } } } : body;

  test.each(operations.map((operation) => [operation.path, operation] as const))('%s', async (_, operation) => {
    const byAlias = await (await companyFor(operation)).alias(operation.alias, exampleOf(operation));
    expect([byAlias.status, byAlias.body.errorMsg]).toEqual([200, '']);
    expect(byAlias.headers.get('x-ignored-parameters')).toBeNull();
    for (const route of operation.routes) {
      const byPath = await callRoute(await companyFor(operation), route, exampleOf(operation));
      expect(byPath.status, route.path).toBe(200);
      expect(byPath.headers.get('x-ignored-parameters')).toBeNull();
      if (operation.write) expect(shape(byPath.body), route.path).toEqual(shape(byAlias.body));
      else expect(settled(byPath.body), route.path).toEqual(settled(byAlias.body));
    }
  });

  test.each(operations.map((operation) => [operation.path, operation] as const))(
    '%s, errors too: each field of its input as something else',
    async (_, operation) => {
      const wrong = operation.write ? ['@', {}, [], 1.5] : ['@', '-1', '\0'];
      const example = exampleOf(operation);
      const byPaths = operation.routes.flatMap((route) =>
        Object.keys(operation.input.shape)
          .filter((name) => !route.parameters.includes(name))
          .flatMap((name) => wrong.map((value) => ({ route, input: { ...example, [name]: value } }))),
      );
      const refused = byPaths.filter(({ input }) => !operation.write || !operation.input.safeParse(input).success);
      const messages = new Set<string>();
      for (const { route, input } of refused) {
        const [byPath, byAlias] = [await callRoute(reader, route, input), await reader.alias(operation.alias, input)];
        expect([byPath.status, byPath.body.errorMsg], route.path).toEqual([byAlias.status, byAlias.body.errorMsg]);
        if (operation.write) expect(byPath.status, JSON.stringify(input)).not.toBe(200);
        messages.add(byPath.body.errorMsg);
      }
      messages.delete('');
      if (byPaths.length > 0) expect([...messages]).not.toEqual([]);
    },
  );

  const TEXTS = ['', '1', '0', '-1', '1.5', 'true', '2026-02-30', 'abc', '99999999999999999999'];

  test.each(operations.filter(({ write }) => !write).map((operation) => [operation.path, operation] as const))(
    '[ENV-07] %s, whatever text a parameter is',
    async (_, operation) => {
      for (const route of operation.routes) {
        const names = Object.keys(operation.input.shape).filter((name) => !route.parameters.includes(name));
        const calls = names.flatMap((name) => TEXTS.map((text) => ({ ...exampleOf(operation), [name]: text })));
        const answers = await Promise.all(
          calls.map(async (input) => [
            await callRoute(reader, route, input),
            await reader.alias(operation.alias, input),
          ]),
        );
        for (const [index, [byPath, byAlias]] of answers.entries()) {
          expect(byAlias && settled(byAlias.body), JSON.stringify(calls[index])).toEqual(
            byPath && settled(byPath.body),
          );
        }
      }
    },
  );
});

describe('[TEN-01] [ID-05] another company’s id behaves as one that does not exist, wherever an id may stand:', () => {
  let other: Company;
  beforeAll(async () => {
    // The same records with ids that only this company has.
    const withoutIds = JSON.parse(JSON.stringify(exampleRecords, (name, value) => (name === 'id' ? undefined : value)));
    other = await newCompany(withoutIds);
  });

  async function numberOf(kind: Kind, account: number): Promise<number> {
    const { rows } = await server.service.database.pool.query<{ id: number }>(
      `select id from ${KINDS[kind].table} where account_id = $1 order by id limit 1`,
      [account],
    );
    const [first] = rows;
    if (!first) throw new Error(`The examples have no ${kind}`);
    return first.id;
  }

  const withIds = operations.filter((operation) => placesOf(operation, isId).length > 0);

  test.each(withIds.map((operation) => [operation.path, operation] as const))('%s', async (_, operation) => {
    const company = await companyFor(operation);
    const { ids } = server.service;
    for (const { path, schema } of places(operation.input)) {
      const mark = idMarks.get(schema);
      if (!mark) continue;
      const where = fieldName(path);
      const ask = (value: unknown) => company.alias(operation.alias, withValue(exampleOf(operation), path, value));
      const theirs = await numberOf(mark.kind, other.id);
      const nobodys = await ask(999_999_999_999);
      expect([nobodys.status, nobodys.body.errorMsg], where).toEqual([
        mark.unknown === 'notFound' ? 404 : 400,
        expect.stringContaining(where),
      ]);
      const foreign = {
        number: theirs,
        digits: String(theirs),
        'their id': ids.seal(other.id, mark.kind, theirs),
        'an id made for this company': ids.seal(company.id, mark.kind, theirs),
        'an id of another kind': ids.seal(
          company.id,
          mark.kind === 'client' ? 'project' : 'client',
          await numberOf(mark.kind, company.id),
        ),
        'an id cut short': ids.seal(company.id, mark.kind, await numberOf(mark.kind, company.id)).slice(0, -1),
        'no id at all': 'x',
      };
      for (const [form, value] of Object.entries(foreign)) {
        const answer = await ask(value);
        expect([answer.status, answer.body], `${where}: ${form}`).toEqual([nobodys.status, nobodys.body]);
      }
    }
  });

  test.each(withIds.map((operation) => [operation.path, operation] as const))(
    '[ID-03] a number, its digits and the sealed id are the same record, wherever an id may stand: %s',
    async (_, operation) => {
      for (const form of ['digits', 'sealed'] as const) {
        const company = await companyFor(operation);
        let input = exampleOf(operation);
        for (const { path, schema } of places(operation.input)) {
          const mark = idMarks.get(schema);
          const number = valueAt(input, path);
          if (!mark || typeof number !== 'number') continue;
          const value = form === 'digits' ? String(number) : server.service.ids.seal(company.id, mark.kind, number);
          input = withValue(input, path, value);
        }
        const answer = await company.alias(operation.alias, input);
        expect([answer.status, answer.body.errorMsg], `${operation.path} ${form}`).toEqual([200, '']);
      }
    },
  );
});

describe('[DATE-01] every date of every operation is a real one, AAAA-MM-DD:', () => {
  const dated = operations.filter((operation) => placesOf(operation, isDate).length > 0);
  const bad = [
    '2025-02-29',
    '2025-1-5',
    '0000-01-01',
    '05/01/2025',
    '2025-13-01',
    '2025-00-10',
    '2025-01-32',
    '2025-01-05T00:00:00',
    ' 2025-01-05',
    '20250105',
    'hoy',
    ' ',
    '0000-00-00',
    '٢٠٢٥-٠١-٠٥',
    20250105,
    true,
    {},
  ];

  test.each(dated.map((operation) => [operation.path, operation] as const))('%s', async (_, operation) => {
    for (const path of placesOf(operation, isDate)) {
      const campo = fieldName(path);
      await Promise.all(
        bad.map(async (value) => {
          const { status, body } = await reader.alias(operation.alias, withValue(exampleOf(operation), path, value));
          const about = `${campo} ${value}`;
          expect(status, about).toBe(400);
          expect(body.data, about).toContainEqual({ campo, mensaje: expect.any(String) });
          expect(body.errorMsg, about).toContain(campo);
        }),
      );
    }
  });

  test('an end before its start is 400 and names the end; one day is a range', async () => {
    const ranged = operations.filter(({ input }) => 'fecha_inicio' in input.shape && 'fecha_fin' in input.shape);
    expect(ranged.length).toBeGreaterThan(0);
    for (const operation of ranged) {
      const ask = (fecha_inicio: string, fecha_fin: string) =>
        reader.alias(operation.alias, { ...exampleOf(operation), fecha_inicio, fecha_fin });
      const reversed = await ask('2026-02-02', '2026-02-01');
      expect([reversed.status, reversed.body.data?.[0].campo], operation.path).toEqual([400, 'fecha_fin']);
      expect((await ask('2026-02-02', '2026-02-02')).status, operation.path).toBe(200);
    }
  });

  test('required dates are named when they are missing', async () => {
    for (const operation of operations) {
      const required = (['fecha_inicio', 'fecha_fin'] as const).filter((name) => {
        const property = operation.input.shape[name];
        return property !== undefined && !property.safeParse(undefined).success;
      });
      if (required.length === 0) continue;
      const { fecha_inicio, fecha_fin, ...rest } = exampleOf(operation);
      const answer = await reader.alias(operation.alias, rest);
      expect([answer.status, answer.body.data.map(({ campo }: { campo: string }) => campo)], operation.path).toEqual([
        400,
        required,
      ]);
      expect(answer.body.errorMsg, operation.path).toContain(required[0]);
    }
  });
});

describe('every paginated list', () => {
  const lists = operations.filter(({ input }) => 'pagina' in input.shape);
  const LONG = new Set(['timeEntries.list', 'projects.times', 'projects.breakDown']);
  // Complete unless paged, or too long for an answer. FAIR-03
  const WHOLE = new Set([
    'absences.list',
    'absences.summarise',
    'contracts.list',
    'planning.get',
    'recurrings.listRenewals',
  ]);

  test('goes on by cursor, and of records answers those that changed since', async () => {
    // Their rows are computed of many records.
    const COMPUTED = ['absences.summarise', 'planning.get', 'projects.breakDown', 'recurrings.listRenewals'];
    for (const operation of lists) {
      const { input, path } = operation;
      expect([path, 'cursor' in input.shape, 'por_pagina' in input.shape]).toEqual([path, true, true]);
      expect([path, 'modificado_desde' in input.shape]).toEqual([path, !COMPUTED.includes(path)]);
      if (COMPUTED.includes(path)) continue;
      const { pagina, por_pagina, ...filters } = exampleOf(operation);
      const ask = async (modificado_desde: string) =>
        (await reader.alias(operation.alias, { ...filters, modificado_desde })).body;
      const whole = (await reader.alias(operation.alias, filters)).body;
      for (const long of ['0001-01-01', '0001-01-01T00:00:00+14:00']) expect(await ask(long), path).toEqual(whole);
      for (const never of ['9999-12-31', '9999-12-31T23:59:59.999999-12:00']) {
        const { data } = await ask(never);
        const rows = Object.values(data).find((value) => Array.isArray(value));
        expect([path, rows, data.num_paginas]).toEqual([path, [], 0]);
      }
      for (const bad of [
        'ayer',
        '2026-02-30',
        '2026-03-01T10:00:00',
        '2026-03-01 10:00',
        '0000-01-01',
        '0000-01-01T00:00:00Z',
        5,
      ]) {
        const { errorCode, data } = await ask(String(bad));
        expect([path, errorCode, data[0].campo], String(bad)).toEqual([path, 400, 'modificado_desde']);
      }
    }
  });

  test.each(lists.map((operation) => [operation.path, operation] as const))(
    '[PAG-01] [PAG-02] %s',
    async (_, operation) => {
      const { pagina, por_pagina, ...filters } = exampleOf(operation);
      const ask = async (more: Input) => {
        const { status, body } = await reader.alias(operation.alias, { ...filters, ...more });
        return { status, ...body };
      };
      const [size, max] = WHOLE.has(operation.path)
        ? [10_000, 10_000]
        : LONG.has(operation.path)
          ? [200, 1000]
          : [100, 500];
      const usual = await ask({});
      expect(usual.data).toMatchObject({ pagina: 1, por_pagina: size });
      const total =
        usual.data[Object.keys(usual.data).find((name) => name.startsWith('total_') && name !== 'total_horas') ?? ''];
      expect(total).toBeGreaterThan(0);
      expect(usual.data.num_paginas).toBe(1);

      expect((await ask({ por_pagina: max })).data.por_pagina).toBe(max);
      for (const more of [max + 1, 1_000_000_000]) expect((await ask({ por_pagina: more })).data.por_pagina).toBe(max);
      for (const bad of [0, -1, 1.5, '0', '1.0', 'x', true, [], {}]) {
        for (const name of ['pagina', 'por_pagina']) {
          const answer = await ask({ [name]: bad });
          expect([answer.status, answer.data[0].campo], `${name} ${bad}`).toEqual([400, name]);
        }
      }

      const rowsOf = (data: Record<string, unknown>) => Object.values(data).find((value) => Array.isArray(value));
      for (const beyond of [total + 1, 1_000_000, 2 ** 31, 2 ** 53 - 1]) {
        const past = await ask({ pagina: beyond, por_pagina: 1 });
        expect(past.status, String(beyond)).toBe(200);
        expect({ ...past.data, pagina: 1, por_pagina: size, num_paginas: 1 }, String(beyond)).toEqual({
          ...usual.data,
          ...Object.fromEntries(
            Object.entries(usual.data).flatMap(([name, value]) => (Array.isArray(value) ? [[name, []]] : [])),
          ),
        });
        expect(past.data).toMatchObject({ pagina: beyond, por_pagina: 1, num_paginas: total });
      }
      const furthest = await ask({ pagina: 2 ** 53 - 1, por_pagina: max });
      expect([furthest.status, rowsOf(furthest.data)]).toEqual([200, []]);
    },
  );

  test('[PAG-02] pages neither repeat nor skip a record, and are those of the whole list in order', async () => {
    // The copies have their own projects; the example's has more hours than its two entries.
    const moment = (day: number, hora: string) => ({ fecha: `2026-02-${day}`, hora, metodo: 'app' });
    const hours = [17, 18].map((day) => ({
      coleccion: 'fichajes',
      ref: `f${day}`,
      empleado: 'ana',
      proyecto: 'p1',
      entrada: moment(day, '08:00'),
      salida: moment(day, '10:00'),
    }));
    const moved = [17, 18, 19].map((day) => ({
      coleccion: 'movimientos_stock',
      ref: `m${day}`,
      articulo: 'silla',
      fecha: `2026-02-${day} 10:00:00`,
      cantidad: 1,
    }));
    const company = await newCompany([...exampleRecords, ...copiesOf(6), ...hours, ...moved]);
    // Calls, for the list of who did what.
    for (const titulo of ['a', 'b', 'c']) await company.post('/product-families', { datos: { titulo } });
    for (const operation of lists) {
      // Without the filters that leave one row.
      const wide = Object.fromEntries(
        Object.entries(exampleOf(operation)).filter(
          ([name]) =>
            name === 'fecha_inicio' ||
            name === 'fecha_fin' ||
            operation.routes.every(({ parameters }) => parameters.includes(name)),
        ),
      );
      const ask = async (more: Input) => (await company.alias(operation.alias, { ...wide, ...more })).body.data;
      const rowsOf = (data: Record<string, unknown>) =>
        Object.values(data).find((value): value is unknown[] => Array.isArray(value)) ?? [];
      const whole = await ask({});
      expect(rowsOf(whole).length, operation.path).toBeGreaterThan(3);
      for (const por_pagina of [1, 3]) {
        const num_paginas = Math.ceil(rowsOf(whole).length / por_pagina);
        const pages = [];
        for (let pagina = 1; pagina <= num_paginas; pagina++) {
          const page = await ask({ pagina, por_pagina });
          expect(page, operation.path).toMatchObject({ pagina, por_pagina, num_paginas });
          pages.push(...rowsOf(page));
        }
        expect(pages, operation.path).toEqual(rowsOf(whole));
        const walked = [];
        let cursor: string | null | undefined;
        for (let pagina = 1; cursor !== null; pagina++) {
          const page = await ask({ por_pagina, cursor });
          expect(page, operation.path).toMatchObject({ pagina, por_pagina, num_paginas });
          walked.push(...rowsOf(page));
          cursor = page.cursor;
        }
        expect(walked, `${operation.path} by cursor`).toEqual(rowsOf(whole));
      }
    }
  });
});

describe('[ENV-04] nothing that is sent makes a fault of ours:', () => {
  let company: Company;
  beforeAll(async () => {
    company = await newCompany();
  });
  const junk = [
    null,
    true,
    0,
    -1,
    1.5,
    1e308,
    2 ** 53,
    99_999_999_999,
    '',
    ' ',
    'x',
    'a\0b',
    '\u0000',
    '\ud800',
    "'; drop table accounts --",
    '%',
    '_',
    '\\',
    '🙂'.repeat(300),
    'x'.repeat(20_000),
    [],
    [null],
    [[]],
    {},
    { id: null },
    { __proto__x: 1 },
  ];

  test.each(operations.map((operation) => [operation.path, operation] as const))(
    '%s',
    { timeout: 60_000 },
    async (_, operation) => {
      for (const { path } of places(operation.input)) {
        await Promise.all(
          junk.map(async (value) => {
            const answer = await company.alias(operation.alias, withValue(exampleOf(operation), path, value));
            const about = `${fieldName(path)} ${JSON.stringify(value)?.slice(0, 50)}: ${answer.text.slice(0, 300)}`;
            expect([200, 400, 404], about).toContain(answer.status);
          }),
        );
      }
    },
  );

  test('NUL, which the database can’t hold, is refused in every text and names no record', async () => {
    for (const operation of operations) {
      for (const path of placesOf(operation, isText)) {
        const answer = await reader.alias(operation.alias, withValue(exampleOf(operation), path, 'a\0b@example.com'));
        expect([400, 404], `${operation.path} ${fieldName(path)}: ${answer.text}`).toContain(answer.status);
        expect(answer.body.errorMsg, operation.path).toContain(fieldName(path));
      }
    }
  });
});

describe('the statements of every operation:', () => {
  const companyTables = new Set(
    entities
      .map(({ meta }) => meta)
      .filter(({ rowLevelSecurity }) => rowLevelSecurity)
      .map(({ tableName }) => tableName),
  );
  const WORKING_TIME = [
    'time_entries',
    'contracts',
    'absences',
    'calendar_entries',
    'employees',
    'shifts',
    'contract_types',
    'departments',
    'day_types',
    'machines',
  ];
  /** Tables found by a value that is unique in the service, before the company is known. */
  const BEFORE_THE_COMPANY = /^select \* from "api_keys" where "key" = \$1 and "revoked_at" is null$/;

  const tablesIn = ({ text }: Statement) =>
    [...text.matchAll(/\b(?:from|join|into|update)\s+(?:only\s+)?"?(\w+)"?/gi)].flatMap(([, table = '']) =>
      companyTables.has(table) ? [table] : [],
    );

  async function statementsOf(operation: Operation, company: Company, statements: ReturnType<typeof recordStatements>) {
    statements.take();
    const answer = await company.alias(operation.alias, exampleOf(operation));
    expect([answer.status, answer.body.errorMsg], operation.path).toEqual([200, '']);
    return statements.take();
  }

  test('[TEN-02] each that touches a company’s table names the company itself, once for every table at least', async () => {
    await using own = await startServer({ clock: new TestClock(EXAMPLE_NOW) });
    const statements = recordStatements(own.service);
    expect(companyTables.size).toBeGreaterThan(40);
    const company = await own.company([...exampleRecords], { cuenta: exampleAccount });
    const seen = new Set<string>();
    for (const operation of operations) {
      for (const statement of await statementsOf(operation, company, statements)) {
        const tables = tablesIn(statement);
        for (const table of tables) seen.add(table);
        if (tables.length === 0 || BEFORE_THE_COMPANY.test(statement.text)) continue;
        const named = statement.text.match(/\baccount_id\b/g)?.length ?? 0;
        const byId = tables.every((table) => table === 'accounts') && /"?id"? = \$\d/.test(statement.text);
        if (!byId) expect(named, `${operation.path}: ${statement.text}`).toBeGreaterThanOrEqual(tables.length);
      }
    }
    expect(seen.size).toBeGreaterThan(10);
  });

  /** What a cluster refuses, or can't send to the one node that the company is on (docs/scale.md). */
  const REFUSED_BY_A_CLUSTER = {
    'an inner table whose company is another table’s, not the value':
      /\bwhere\s+"?\w+"?\."?account_id"?\s*=\s*"?\w+"?\."?account_id/i,
    'what is not immutable, in a conflict’s clause':
      /do update\s+set(?:(?!\breturning\b).)*(?:\b(?:now|nextval|currval|make_interval)\s*\(|\binterval ')/is,
    'an id drawn or looked up by a statement that writes': /^(?=.*\b(?:insert|update)\b).*\b(?:nextval|currval)\s*\(/is,
    'rows inserted in a WITH, which every node would be told of': /\bas\s*\(\s*insert\b/i,
    'a subquery in what is returned': /\breturning\b[^()]*(?:\([^()]*\)[^()]*)*\(\s*select\b/i,
    'rows of a select without anything returned':
      /^(?=[\s\S]*\binsert into[^(]+\([^)]*\)\s*select\b)(?![\s\S]*\breturning\b)/i,
  };

  test('[TEN-02] each can be run on a cluster, on the node of its company', async () => {
    await using own = await startServer({ clock: new TestClock(EXAMPLE_NOW) });
    const statements = recordStatements(own.service);
    const company = await own.company([...exampleRecords], { cuenta: exampleAccount });
    for (const operation of operations) {
      for (const { text } of await statementsOf(operation, company, statements)) {
        for (const [what, pattern] of Object.entries(REFUSED_BY_A_CLUSTER)) {
          expect(pattern.test(text), `${operation.path}: ${what}: ${text}`).toBe(false);
        }
      }
    }
  });

  test('[TIM-01] none writes working time, nor has a way in that could', async () => {
    await using own = await startServer({ clock: new TestClock(EXAMPLE_NOW) });
    const statements = recordStatements(own.service);
    const company = await own.company([...exampleRecords], { cuenta: exampleAccount });
    const contents = async () => {
      const found: Record<string, unknown> = {};
      for (const table of WORKING_TIME) {
        const { rows } = await own.service.database.pool.query(
          `select * from ${table} where account_id = $1 order by id`,
          [company.id],
        );
        expect(rows.length, table).toBeGreaterThan(0);
        found[table] = rows;
      }
      return found;
    };
    const before = await contents();
    const writes = /\b(?:insert\s+into|update|delete\s+from|merge\s+into|truncate)\s+(?:only\s+)?"?(\w+)"?/gi;
    for (const operation of operations) {
      const sent = await statementsOf(operation, company, statements);
      const written = sent.flatMap(({ text }) => [...text.matchAll(writes)].map(([, table = '']) => table));
      for (const table of WORKING_TIME) expect(written, operation.path).not.toContain(table);
    }
    expect(await contents()).toEqual(before);
    for (const { write, routes, area } of operations) {
      if (!write) continue;
      expect(area).not.toBe('time');
      for (const { path } of routes) expect(path).not.toMatch(/employees|work-calendar|time|contract|absence/);
    }
  });

  // Callers are cached for some seconds, and the quota is taken in blocks: now and then a call needs more statements.
  const OF_THE_CALLER = /quota_|api_keys|failed_attempts|"accounts"|^begin|^set|^commit/;

  test('a read sends as many for many records as for few', async () => {
    await using own = await startServer({ clock: new TestClock(EXAMPLE_NOW) });
    const statements = recordStatements(own.service);
    const few = await own.company([...exampleRecords], { cuenta: exampleAccount });
    const many = await own.company([...exampleRecords, ...copiesOf(15)], { cuenta: exampleAccount });
    for (const operation of operations.filter(({ write }) => !write)) {
      const { pagina, por_pagina, ...input } = exampleOf(operation);
      // With and without filters, which change a list's statements.
      const wide = Object.fromEntries(
        Object.entries(input).filter(
          ([name]) => operation.input.shape[name] && !z.safeParse(operation.input.shape[name], undefined).success,
        ),
      );
      for (const asked of [input, wide]) {
        const counts = [];
        for (const company of [few, many]) {
          await company.alias(operation.alias, asked);
          statements.take();
          expect((await company.alias(operation.alias, asked)).status, operation.path).toBe(200);
          counts.push(statements.take().filter(({ text }) => !OF_THE_CALLER.test(text)).length);
        }
        expect(counts[1], operation.path).toBe(counts[0]);
      }
    }
  });

  test('a read writes nothing: its transaction is read-only', async () => {
    await using own = await startServer({ alone: true, clock: new TestClock(EXAMPLE_NOW) });
    const statements = recordStatements(own.service);
    const company = await own.company([...exampleRecords], { cuenta: exampleAccount });
    await company.get('/crm/funnels');
    await own.service.keys.close();
    for (const operation of operations.filter(({ write }) => !write)) {
      const sent = await statementsOf(operation, company, statements);
      const begins = sent.filter(({ text }) => text.startsWith('begin') && !text.includes('quota'));
      expect(
        begins.some(({ text }) => /^begin read only(;|$)/.test(text)),
        operation.path,
      ).toBe(true);
    }
  });
});
