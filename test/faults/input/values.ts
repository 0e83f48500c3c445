// The values of `npm run prove:input`: those that the OpenAPI document allows, and invalid ones.
import { z } from 'zod';
import { examples } from '../../helpers/examples.ts';
import type { Random } from '../random.ts';

const schemaOf: z.ZodType<JsonSchema> = z.lazy(() =>
  z.object({
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    anyOf: z.array(schemaOf).optional(),
    oneOf: z.array(schemaOf).optional(),
    properties: z.record(z.string(), schemaOf).optional(),
    required: z.array(z.string()).optional(),
    items: schemaOf.optional(),
    format: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    maxLength: z.number().optional(),
    maxItems: z.number().optional(),
    examples: z.array(z.unknown()).optional(),
  }),
);

interface JsonSchema {
  type?: string | string[] | undefined;
  enum?: unknown[] | undefined;
  const?: unknown;
  anyOf?: JsonSchema[] | undefined;
  oneOf?: JsonSchema[] | undefined;
  properties?: Record<string, JsonSchema> | undefined;
  required?: string[] | undefined;
  items?: JsonSchema | undefined;
  format?: string | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  maxLength?: number | undefined;
  maxItems?: number | undefined;
  examples?: unknown[] | undefined;
}

/** The fields of the OpenAPI document that are read. */
export const openApi = z.object({
  paths: z.record(z.string(), z.unknown()),
  components: z.object({ schemas: z.record(z.string(), schemaOf) }),
});
export type OpenApi = z.output<typeof openApi>;

export const TEXTS = [
  ...['', ' ', 'x', '\0', 'a\0b', '\ud800', 'a\udc00b', '\ufeff', '\u202e', 'ﷺ', '🙂', 'é', 'İ', 'ß', '\r\n', '\t'],
  ...["'", '"', "'; drop table accounts --", "' or '1'='1", '1; select pg_sleep(9)', '$1', '%', '_', '\\', '#{7*7}'],
  ...[
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    '{{7*7}}',
    '../../etc/passwd',
    'file:///etc/passwd',
  ],
  ...[
    'null',
    'undefined',
    'NaN',
    'true',
    '[object Object]',
    '__proto__',
    'constructor',
    'toString',
    '0x10',
    '1e3',
    '-0',
  ],
  ...['2025-02-29', '2025-1-5', '0000-00-00', '9999-12-31', '+010000-01-01', '٢٠٢٥-٠١-٠٥', '2025-01-01T00:00:00Z'],
  ...[
    'ana@example.com',
    'a@b',
    '@',
    'ana@exämple.com',
    '99999999999999999999',
    '-1',
    '1.5',
    'B12345678',
    '+34 600 11 22 33',
  ],
  ...['%s%s%n', '() { :;}; echo', '\u0000\u0001\u0002\u001f', 'a'.repeat(255), 'ñ'.repeat(2000), '🙂'.repeat(6000)],
];
const NUMBERS = [
  ...[0, -0, 1, -1, 1.5, 0.1, 1e-7, 5e-324, 1e15, 1e16, 1e21, 1e308, -1e308, 2 ** 31, 2 ** 31 - 1, -(2 ** 31)],
  ...[2 ** 53, 2 ** 53 - 1, -(2 ** 53), 2 ** 63, 999_999_999_999, 0.005, 99.999, 12345678901.125],
];
const DATES = ['2026-02-01', '2026-03-31', '2026-03-02', '2024-02-29', '1900-01-01', '2999-12-31', '0001-01-01'];
/** Names of properties. */
export const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  'a.b',
  'a[0]',
  'id',
  'account_id',
  '\ud800',
  '\0',
  'é',
  'x'.repeat(3000),
];

function nested(depth: number, random: Random): unknown {
  let value: unknown = random.pick(TEXTS);
  for (let level = 0; level < depth; level++) value = random.chance(0.5) ? [value] : { a: value };
  return value;
}

/** An invalid value. */
export function junk(random: Random): unknown {
  const kind = random.int(0, 11);
  if (kind < 5) return random.pick(TEXTS);
  if (kind < 8) return random.pick(NUMBERS);
  if (kind === 8) return random.pick([null, true, false, [], {}, [null], [[]], [{}], { id: null }, ['x', 1]]);
  if (kind === 9) return nested(random.pick([2, 10, 63, 64, 65, 200]), random);
  if (kind === 10) return Array.from({ length: random.pick([2, 50, 1001]) }, () => random.pick(NUMBERS));
  return withName({}, random.pick(NAMES), random.pick(TEXTS));
}

/** Sets a property of any name, `__proto__` included. */
export const withName = <Named extends object>(object: Named, name: string, value: unknown): Named =>
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });

/** The examples' values by parameter name, with which a generated call reaches its handler. */
const known = new Map<string, unknown[]>();
JSON.stringify(examples, (name, value) => {
  if (value !== null && typeof value !== 'object') known.set(name, [...(known.get(name) ?? []), value]);
  return value;
});

/** A value that the schema allows, or almost. */
export function fromSchema(schema: JsonSchema, random: Random, name = ''): unknown {
  if (random.chance(0.04)) return junk(random);
  const values = known.get(name);
  if (values && random.chance(0.5)) return random.pick(values);
  if (schema.enum) return random.chance(0.9) ? random.pick(schema.enum) : String(schema.enum[0]).toUpperCase();
  if (schema.const !== undefined) return schema.const;
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return fromSchema(random.pick(options), random, name);
  switch (random.pick([schema.type ?? 'object'].flat())) {
    case 'object': {
      const object = {};
      for (const [key, property] of Object.entries(schema.properties ?? {})) {
        const share = schema.required?.includes(key) ? 0.97 : 0.4;
        if (random.chance(share)) withName(object, key, fromSchema(property, random, key));
      }
      if (random.chance(0.05)) withName(object, random.pick(NAMES), junk(random));
      return object;
    }
    case 'array': {
      const most = schema.maxItems ?? 3;
      const length = random.chance(0.01) ? most + 1 : random.int(0, Math.min(3, most));
      const { items = {} } = schema;
      return Array.from({ length }, () => fromSchema(items, random, name));
    }
    case 'integer':
    case 'number': {
      const { minimum = -5, maximum = 1000 } = schema;
      return random.pick([minimum, maximum, minimum - 1, maximum + 1, random.int(1, 20), random.next() * 100, 1]);
    }
    case 'boolean':
      return random.chance(0.5);
    default: {
      if (schema.format === 'date') return random.pick(random.chance(0.9) ? DATES : TEXTS);
      const { maxLength = 100 } = schema;
      const long = random.pick(['a', 'ñ', '🙂', ' ', '%']);
      return random.pick([
        ...(schema.examples ?? []),
        ...[random.pick(TEXTS), random.pick(TEXTS), long.repeat(maxLength), long.repeat(maxLength + 1), 'Silla'],
      ]);
    }
  }
}
