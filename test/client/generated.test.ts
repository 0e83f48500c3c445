// The client's generated source matches the operations, and the package builds.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Operation, operations } from '../../bridges/operations.ts';
import { CLIENT_SOURCE, clientSource, ROUTER_SOURCE, routerSource } from '../../scripts/generate-client.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The generated type of one output, on one line. */
function typeOf(output: z.ZodType): string {
  const [operation] = operations;
  const table = operation ? [{ ...operation, path: 'a.b', output } satisfies Operation] : [];
  const [, type = ''] = /(?:interface|type) ABOutput (?:= )?([\s\S]*?);?\n\n/.exec(clientSource(table)) ?? [];
  return type.replace(/\s+/g, ' ');
}

test.each([
  ['operations.ts', CLIENT_SOURCE, clientSource],
  ['trpc.ts', ROUTER_SOURCE, routerSource],
])('client/src/%s is up to date', async (_name, file, source) => {
  const kept = await readFile(file, 'utf8');
  expect(kept === source(operations), 'The operations have changed: run `npm run client`').toBe(true);
});

test.each([
  [z.object({ a: z.string().nullable(), b: z.int().optional() }), '{ a: string | null; b?: number; }'],
  [z.array(z.union([z.object({ a: z.null() }), z.boolean()])), 'Array<{ a: null; } | boolean>'],
  [z.record(z.string(), z.object({ num: z.int() })), 'Record<string, { num: number; }>'],
  [z.partialRecord(z.enum(['a', 'b']), z.number()), "Partial<Record<'a' | 'b', number>>"],
  [z.enum(['a', "it's"]), "'a' | 'it\\'s'"],
  [z.union([z.literal(''), z.email()]), 'string'],
  [z.object({ 'a-b': z.literal(1) }), "{ 'a-b': 1; }"],
  [
    z.object({ a: z.int().describe('An end */ of comments').default(1) }),
    '{ /** An end *\\/ of comments */ a: number; }',
  ],
])('a schema becomes its type (%#)', (schema, type) => {
  const withDefault = type.replace('/** An end *\\/ of comments */', '/** * An end *\\/ of comments * @default 1 */');
  expect(typeOf(schema)).toBe(withDefault);
});

test('a schema that has no exact type is an error', () => {
  expect(() => typeOf(z.object({ a: z.unknown() }))).toThrow('No type for the schema');
  expect(() => typeOf(z.tuple([z.string()]))).toThrow('No type for the schema');
});

test('no type of the client is loose', async () => {
  expect(await readFile(CLIENT_SOURCE, 'utf8')).not.toMatch(/: (any|unknown|object|\{\})\b/);
  expect(await readFile(ROUTER_SOURCE, 'utf8')).not.toMatch(/\bany\b/);
});

test('the package builds to plain JavaScript with types, and needs neither the server nor Node', async () => {
  const dist = await mkdtemp(join(tmpdir(), 'albaran-client-'));
  try {
    await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', join(ROOT, 'client'), '--outDir', dist]);
    const files = (await readdir(dist)).sort();
    expect(files).toEqual(
      ['client', 'error', 'index', 'methods', 'operations', 'transport', 'trpc'].flatMap((name) => [
        `${name}.d.ts`,
        `${name}.js`,
      ]),
    );
    const { dependencies, peerDependencies } = JSON.parse(await readFile(join(ROOT, 'client/package.json'), 'utf8'));
    expect(dependencies).toBeUndefined();
    // The code needs nothing else; the types need tRPC's.
    const code = await Promise.all(files.map((file) => readFile(join(dist, file), 'utf8')));
    const imported = code.flatMap((text) => [...text.matchAll(/ from ['"]([^'"]+)['"]/g)].map(([, from = '']) => from));
    expect(imported.filter((from) => !from.startsWith('./') && !(from in peerDependencies))).toEqual([]);
    const { createClient } = await import(join(dist, 'index.js'));
    expect(createClient({ baseUrl: 'http://x', apiKey: 'k', apiSecret: 's' }).timeEntries.list).toBeTypeOf('function');
  } finally {
    await rm(dist, { recursive: true, force: true });
  }
});
