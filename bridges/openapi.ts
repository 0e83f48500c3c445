// The OpenAPI 3.1 document: every operation at each of its REST paths and its v0 alias, generated from the table of operations. It
// only describes the API; rest.ts and the operations implement it.
import { z } from 'zod';
import manifest from '../package.json' with { type: 'json' };
import { Ids, type Kind } from '../platform/ids.ts';
import { idMarks } from '../routers/shared/id.ts';
import { exampleOf, REQUESTS } from './openapi-examples.ts';
import {
  ABOUT,
  ERROR_SCHEMA,
  failureComponents,
  failuresOf,
  HEADERS,
  headers,
  notSent,
  PARAMETERS,
  TAGS,
  V0_TAG,
} from './openapi-parts.ts';
import { type Operation, operations, type Route } from './operations.ts';
import { LINES_TYPE } from './rest.ts';

type Json = Record<string, unknown>;
type Schema = z.core.JSONSchema.BaseSchema;

/** Settings of the document. */
export interface DocumentOptions {
  /** The public address; default: the host that serves the document. */
  baseUrl?: string | undefined;
  /** The contact: an e-mail address or a URL. */
  contact?: string | undefined;
}

/** Generates the document. */
export function openApiDocument({ baseUrl, contact = baseUrl }: DocumentOptions = {}): Json {
  const schemas: Json = { Error: ERROR_SCHEMA };
  const responses: Json = {
    ...failureComponents(),
    SinCambios: {
      description: 'Nada ha cambiado desde la respuesta con esa etiqueta.',
      headers: headers('X-Request-Id', 'ETag'),
    },
  };
  const v1: Record<string, Json> = {};
  const v0: Record<string, Json> = {};

  for (const operation of operations) {
    const { alias, routes, title, description, write, lasts, file, gone = false } = operation;
    const component = capitalised(alias);
    const { schema: input, takesId } = describe(operation.input, 'input', schemas);
    schemas[`${component}Parametros`] = input;
    schemas[`${component}Datos`] = describe(operation.output, 'output', schemas).schema;
    const example = REQUESTS[operation.path]?.(exampleId) ?? exampleIn(input);
    responses[component] = success(`${component}Datos`, { write, lasts, file });
    const answers = (withBody: boolean) => ({
      200: { $ref: `#/components/responses/${component}` },
      ...(lasts && !withBody && { 304: { $ref: '#/components/responses/SinCambios' } }),
      ...failuresOf({ body: withBody, write, id: takesId, gone }),
    });

    for (const [index, route] of routes.entries()) {
      const withBody = hasBody(route);
      const path = `/api/v1${route.path}`;
      v1[path] = {
        ...v1[path],
        [route.method.toLowerCase()]: {
          ...names(operation, index),
          tags: [tagOf(operation.area).name],
          description: `${description}\n\nPermiso \`${operation.scope}\`. Alias v0: \`POST /${alias}\`. Herramienta del conector: \`${operation.tool}\`.`,
          parameters: [
            ...parameters(route, input),
            write ? IDEMPOTENCY_KEY : MAX_LAG,
            ...(lasts ? [IF_NONE_MATCH] : []),
          ],
          ...(withBody && {
            requestBody: body(
              ...besidePath(route, input, `${component}Parametros`, schemas),
              without(route.parameters, example),
              operation.lines,
            ),
          }),
          responses: answers(withBody),
        },
      };
    }
    v0[`/${alias}`] = {
      post: {
        operationId: `${alias}V0`,
        summary: title,
        tags: [V0_TAG.name],
        description: `Alias de \`${routes[0]?.method} /api/v1${routes[0]?.path}\`: los mismos parámetros, en el cuerpo, y la misma respuesta.`,
        parameters: [write ? IDEMPOTENCY_KEY : MAX_LAG],
        requestBody: body(`${component}Parametros`, input, example, operation.lines),
        responses: answers(true),
      },
    };
  }

  return {
    openapi: '3.1.1',
    info: {
      title: 'Albaran',
      version: manifest.version,
      summary: 'API REST de gestión de empresa',
      description: ABOUT,
      contact: {
        name: 'Quien opera este servicio',
        ...(contact && { [contact.includes('@') && !contact.includes('/') ? 'email' : 'url']: contact }),
      },
      license: { name: manifest.license, identifier: manifest.license },
    },
    servers: [{ url: baseUrl ?? '/' }],
    security: [{ 'X-API-KEY': [], 'X-API-SECRET': [] }],
    tags: [...new Set(operations.map(({ area }) => tagOf(area))), V0_TAG],
    paths: { ...v1, ...v0 },
    components: {
      securitySchemes: {
        'X-API-KEY': {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-KEY',
          description: 'La clave. Va siempre con su secreto.',
        },
        'X-API-SECRET': { type: 'apiKey', in: 'header', name: 'X-API-SECRET', description: 'El secreto de la clave.' },
      },
      parameters: PARAMETERS,
      headers: HEADERS,
      responses,
      schemas,
    },
  };
}

const capitalised = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

function tagOf(area: string) {
  const tag = TAGS[area];
  if (!tag) throw new Error(`The area ${area} has no tag`);
  return tag;
}

/** The alias for the first path; other paths add their extra parameter: `consultarFichajesPorEmpleado`. */
function names({ alias, title, routes }: Operation, index: number) {
  if (index === 0) return { operationId: alias, summary: title };
  const added = (routes[index]?.parameters ?? []).filter((name) => !routes[0]?.parameters.includes(name));
  const by = added.map((name) => capitalised(name.replace(/Id$/, '')));
  return { operationId: `${alias}Por${by.join('Y')}`, summary: `${title} (por ${added.join(' y ')})` };
}

// Parameters and bodies

const hasBody = ({ method }: Route) => method === 'POST' || method === 'PUT';

const IDEMPOTENCY_KEY = { $ref: '#/components/parameters/IdempotencyKey' };
const IF_NONE_MATCH = { $ref: '#/components/parameters/IfNoneMatch' };
const MAX_LAG = { $ref: '#/components/parameters/MaxLag' };

/** The parameters of the path and, without a body, of the query. There every value is text, so ids are strings. */
function parameters(route: Route, input: Schema): Json[] {
  const inQuery = !hasBody(route) ? Object.keys(input.properties ?? {}) : [];
  return [...new Set([...route.parameters, ...inQuery])].map((name) => {
    const property = input.properties?.[name];
    if (property === undefined || typeof property === 'boolean') throw new Error(`${route.path} has no ${name}`);
    const { description, examples, type, ...schema } = property;
    const inPath = route.parameters.includes(name);
    const required = inPath || input.required?.includes(name) === true;
    return {
      name,
      in: inPath ? 'path' : 'query',
      required,
      description,
      // A list is one text with commas.
      ...(type === 'array' && !inPath && { style: 'form', explode: false }),
      schema: { type: Array.isArray(type) ? 'string' : type, ...schema },
      ...(Array.isArray(examples) && (required ? { example: examples[0] } : notSent(examples[0]))),
    };
  });
}

/**
 * A request body. Every body is a named schema, from which generators make a type. Names that they invent would collide where an
 * operation's path and its alias have different bodies.
 */
const body = (name: string, { required = [] }: Schema, example: unknown, lines?: string) => ({
  required: required.length > 0,
  content: {
    'application/json': { schema: { $ref: `#/components/schemas/${name}` }, example },
    ...(lines !== undefined && { [LINES_TYPE]: { schema: { type: 'string', description: `\`${lines}\`` } } }),
  },
});

const without = (names: readonly string[], example: unknown) =>
  Object.fromEntries(Object.entries(example ?? {}).filter(([name]) => !names.includes(name)));

/** The body's schema without the parameters of the path, added to `named`. */
function besidePath(route: Route, input: Schema, name: string, named: Json): [name: string, schema: Schema] {
  if (route.parameters.length === 0) return [name, input];
  const beside = (name: string) => !route.parameters.includes(name);
  const { required = [], ...rest } = input;
  const schema: Schema = {
    ...rest,
    properties: Object.fromEntries(Object.entries(input.properties ?? {}).filter(([name]) => beside(name))),
    ...(required.some(beside) && { required: required.filter(beside) }),
  };
  const own = `${name}Sin${route.parameters.map(capitalised).join('Y')}`;
  named[own] = schema;
  return [own, schema];
}

const success = (
  dataComponent: string,
  { write, lasts, file }: { write: boolean; lasts: boolean; file: string | undefined },
) => ({
  description: 'Respuesta correcta.',
  headers: {
    ...headers('X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'X-Ignored-Parameters'),
    ...headers(write ? 'Idempotent-Replayed' : 'X-Lag', ...(lasts ? (['ETag'] as const) : [])),
  },
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['errorCode', 'errorMsg', 'data'],
        properties: {
          errorCode: { type: 'integer', const: 200 },
          // Not `const: ''`: generators treat an empty constant as missing.
          errorMsg: { type: 'string', maxLength: 0, examples: [''] },
          data: { $ref: `#/components/schemas/${dataComponent}` },
        },
      },
    },
    // For whom asks for this type in `Accept`.
    ...(file !== undefined && { [file]: { schema: { type: 'string', format: 'binary' } } }),
  },
});

// Schemas

const exampleIds = new Ids(['example']);
const exampleId = (kind: Kind) => exampleIds.seal(1, kind, 1);

/** The JSON Schema of an input or output, and whether it takes ids. Parts with a name (`meta({ id })`) are added to `named`. */
function describe(zodSchema: z.ZodType, io: 'input' | 'output', named: Json): { schema: Schema; takesId: boolean } {
  let takesId = false;
  const { $schema, ...schema } = z.toJSONSchema(zodSchema, {
    io,
    override({ zodSchema, jsonSchema }) {
      const mark = idMarks.get(zodSchema);
      if (mark) {
        takesId ||= mark.unknown === 'notFound';
        delete jsonSchema.anyOf;
        jsonSchema.type = io === 'input' ? ['string', 'integer'] : 'string';
        jsonSchema.examples = [exampleId(mark.kind)];
      }
      tidy(jsonSchema);
    },
  });
  const { $defs = {}, ...own }: Schema = JSON.parse(
    JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'),
  );
  for (const part of [own, ...Object.values($defs)]) illustrate(part);
  Object.assign(named, $defs);
  return { schema: own, takesId };
}

/** Removes details that only a validator needs. */
function tidy(schema: Schema): void {
  if ('example' in schema) {
    schema.examples = [schema.example];
    delete schema.example;
  }
  if (schema.format) delete schema.pattern;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // Unknown inputs are ignored (ENV-06), and callers must accept fields that later versions add.
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  const [first, second, ...others] = schema.anyOf ?? [];
  const nullable = second?.type === 'null' && others.length === 0;
  if (nullable && typeof first?.type === 'string' && !('enum' in first || 'const' in first)) {
    delete schema.anyOf;
    Object.assign(schema, { ...first, ...schema, type: [first.type, 'null'] });
  }
}

/** Adds examples to the fields of a schema, by field name and parent. */
function illustrate(schema: Schema | boolean | undefined, parent = ''): void {
  if (typeof schema !== 'object') return;
  const { items, additionalProperties, anyOf = [], oneOf = [], allOf = [] } = schema;
  for (const part of [Array.isArray(items) ? undefined : items, additionalProperties, ...anyOf, ...oneOf, ...allOf]) {
    illustrate(part, parent);
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (typeof property === 'boolean') continue;
    illustrate(property, name);
    if (['examples', 'enum', 'const', 'default'].some((keyword) => keyword in property)) continue;
    const types = [property.type ?? property.anyOf?.map(({ type }) => type)].flat(2);
    const example = exampleOf(parent, name, types);
    // The example may be a date with a time, while this field is a date only.
    if (property.format === 'date') property.examples = [String(example ?? '2026-01-31').slice(0, 10)];
    else if (example !== undefined) property.examples = [example];
  }
}

/** An example value of a schema: fields with examples, and one element for lists. Undefined if there is none. */
function exampleIn(schema: Schema | boolean | undefined): unknown {
  if (typeof schema !== 'object') return undefined;
  const { examples, enum: values, default: standard, properties, items } = schema;
  if (Array.isArray(examples)) return examples[0];
  if (schema.const ?? standard ?? values) return schema.const ?? standard ?? values?.[0];
  if (properties) {
    const fields = Object.entries(properties).map(([name, property]) => [name, exampleIn(property)] as const);
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  }
  const item = Array.isArray(items) ? undefined : exampleIn(items);
  return item === undefined ? undefined : [item];
}
