// The OpenAPI 3.1 document: every operation at each of its REST paths and at its v0 alias, made from the table of
// operations. It only describes: what is served, checked and answered is decided in rest.ts and by the operations.
import { z } from 'zod';
import manifest from '../package.json' with { type: 'json' };
import { Ids } from '../platform/ids.ts';
import { idMarks } from '../routers/shared/id.ts';
import { exampleOf } from './openapi-examples.ts';
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

type Json = Record<string, unknown>;
type Schema = z.core.JSONSchema.BaseSchema;

/** The document. `baseUrl`: where the service is reached from outside; by default the host that gave the document. */
export function openApiDocument(baseUrl = '/'): Json {
  const schemas: Json = { Error: ERROR_SCHEMA };
  const responses: Json = failureComponents();
  const requestBodies: Json = {};
  const v1: Record<string, Json> = {};
  const v0: Record<string, Json> = {};

  for (const operation of operations) {
    const { alias, routes, title, description, write } = operation;
    const component = capitalised(alias);
    const { schema: input, takesId } = describe(operation.input, 'input', schemas);
    schemas[`${component}Parametros`] = input;
    schemas[`${component}Datos`] = describe(operation.output, 'output', schemas).schema;
    responses[component] = success(`${component}Datos`, write);
    requestBodies[component] = body({ $ref: `#/components/schemas/${component}Parametros` }, input);
    const answers = (withBody: boolean) => ({
      200: { $ref: `#/components/responses/${component}` },
      ...failuresOf({ body: withBody, write, id: takesId }),
    });

    for (const [index, route] of routes.entries()) {
      const withBody = route.method !== 'GET';
      const path = `/api/v1${route.path}`;
      v1[path] = {
        ...v1[path],
        [route.method.toLowerCase()]: {
          ...names(operation, index),
          tags: [tagOf(operation.area).name],
          description: `${description}\n\nPermiso \`${operation.scope}\`. Alias v0: \`POST /${alias}\`. Herramienta del conector: \`${operation.tool}\`.`,
          parameters: [...parameters(route, input), write ? IDEMPOTENCY_KEY : MAX_LAG],
          ...(withBody && { requestBody: bodyBeside(route, input, component) }),
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
        requestBody: { $ref: `#/components/requestBodies/${component}` },
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
      license: { name: manifest.license, identifier: manifest.license },
    },
    servers: [{ url: baseUrl }],
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
      requestBodies,
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

/** The alias for the main path; for another, what its path adds: `consultarFichajesPorEmpleado`. */
function names({ alias, title, routes }: Operation, index: number) {
  if (index === 0) return { operationId: alias, summary: title };
  const added = (routes[index]?.parameters ?? []).filter((name) => !routes[0]?.parameters.includes(name));
  const by = added.map((name) => capitalised(name.replace(/Id$/, '')));
  return { operationId: `${alias}Por${by.join('Y')}`, summary: `${title} (por ${added.join(' y ')})` };
}

// Parameters and bodies

const IDEMPOTENCY_KEY = { $ref: '#/components/parameters/IdempotencyKey' };
const MAX_LAG = { $ref: '#/components/parameters/MaxLag' };

/** What stands in the path and, without a body, in the query. There everything is a text: an id is a string. */
function parameters(route: Route, input: Schema): Json[] {
  const inQuery = route.method === 'GET' ? Object.keys(input.properties ?? {}) : [];
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
      schema: { type: Array.isArray(type) ? 'string' : type, ...schema },
      ...(Array.isArray(examples) && (required ? { example: examples[0] } : notSent(examples[0]))),
    };
  });
}

const body = (schema: Json, { required = [] }: Schema) => ({
  required: required.length > 0,
  content: { 'application/json': { schema } },
});

/** A body need not repeat what stands in the path. */
function bodyBeside(route: Route, input: Schema, component: string): Json {
  if (route.parameters.length === 0) return { $ref: `#/components/requestBodies/${component}` };
  const beside = (name: string) => !route.parameters.includes(name);
  const { required = [], ...rest } = input;
  const schema: Schema = {
    ...rest,
    properties: Object.fromEntries(Object.entries(input.properties ?? {}).filter(([name]) => beside(name))),
    ...(required.some(beside) && { required: required.filter(beside) }),
  };
  return body(schema, schema);
}

const success = (dataComponent: string, write: boolean) => ({
  description: 'Respuesta correcta.',
  headers: {
    ...headers('X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'X-Ignored-Parameters'),
    ...headers(write ? 'Idempotent-Replayed' : 'X-Lag'),
  },
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['errorCode', 'errorMsg', 'data'],
        properties: {
          errorCode: { type: 'integer', const: 200 },
          errorMsg: { type: 'string', const: '' },
          data: { $ref: `#/components/schemas/${dataComponent}` },
        },
      },
    },
  },
});

// Schemas

const exampleIds = new Ids(['example']);

/** JSON Schema of an input or output, and whether it takes ids; parts with a name (`meta({ id })`) go to `named`. */
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
        jsonSchema.examples = [exampleIds.seal(1, mark.kind, 1)];
      }
      tidy(jsonSchema);
    },
  });
  const { $defs = {}, ...own }: Schema = JSON.parse(
    JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'),
  );
  Object.assign(named, $defs);
  return { schema: own, takesId };
}

/** Leaves out what only a validator would miss, and adds examples by the names of fields. */
function tidy(schema: Schema): void {
  if ('example' in schema) {
    schema.examples = [schema.example];
    delete schema.example;
  }
  if (schema.format) delete schema.pattern;
  if (schema.format === 'date') schema.examples ??= ['2026-01-31'];
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  // Unknown inputs are ignored (ENV-06), and callers have to bear fields that later versions add to an answer.
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  const [first, second, ...others] = schema.anyOf ?? [];
  const nullable = second?.type === 'null' && others.length === 0;
  if (nullable && typeof first?.type === 'string' && !('enum' in first || 'const' in first)) {
    delete schema.anyOf;
    Object.assign(schema, { ...first, ...schema, type: [first.type, 'null'] });
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (typeof property === 'boolean') continue;
    if (['examples', 'enum', 'const', 'default'].some((keyword) => keyword in property)) continue;
    const types = [property.type ?? property.anyOf?.map(({ type }) => type)].flat(2);
    const example = exampleOf(name, types);
    if (example !== undefined) property.examples = [example];
  }
}
