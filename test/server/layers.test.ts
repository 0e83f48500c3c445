// Layers: which folder may import from which. No import cycles.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

/** The folders that each may import from, nearest first; of `entities`, `platform` may import types only. */
const BELOW: Record<string, readonly string[]> = {
  server: ['bridges', 'routers', 'account-file', 'lifecycle', 'documents', 'figures', 'entities', 'platform'],
  bridges: ['routers', 'documents', 'platform'],
  routers: ['account-file', 'documents', 'figures', 'entities', 'platform'],
  'account-file': ['documents', 'figures', 'entities', 'platform'],
  lifecycle: ['documents', 'figures', 'entities', 'platform'],
  documents: ['entities', 'platform'],
  figures: ['entities', 'platform'],
  platform: ['entities'],
  entities: [],
};

const sources = globSync(`{${Object.keys(BELOW).join(',')}}/**/*.ts`, { cwd: ROOT }).map((path) => ({
  path,
  text: readFileSync(join(ROOT, path), 'utf8'),
}));
const folderOf = (path: string) => path.split('/')[0] ?? '';

/** What each file imports of the project, and whether only as types. */
const imports = new Map(
  sources.map(({ path, text }) => [
    path,
    [...text.matchAll(/^(?:import|export)( type)?[^;'"]*?from '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm)].map(
      ([, types, named = '', loaded = named]) => ({
        path: normalize(join(dirname(path), loaded)),
        types: types !== undefined,
      }),
    ),
  ]),
);

test('imports run down the line that CONTRIBUTING draws', () => {
  const wrong = [...imports].flatMap(([path, targets]) => {
    const from = folderOf(path);
    return targets
      .filter((target) => target.path.includes('/'))
      .filter((target) => {
        const to = folderOf(target.path);
        return to !== from && !(BELOW[from]?.includes(to) && (from !== 'platform' || target.types));
      })
      .map((target) => `${path} -> ${target.path}`);
  });
  expect(wrong).toEqual([]);
});

test('an area of the operations borrows from what areas share, not from another', () => {
  const areaOf = (path: string) => /^routers\/(\w+)\//.exec(path)?.[1];
  const wrong = [...imports].flatMap(([path, targets]) => {
    const area = areaOf(path);
    if (area === undefined) return [];
    const foreign = targets.filter((target) => ![area, 'shared', undefined].includes(areaOf(target.path)));
    return foreign.map((target) => `${path} -> ${target.path}`);
  });
  expect(wrong).toEqual([]);
});

test('no files import each other in a circle, types neither', () => {
  const done = new Set<string>();
  const circleFrom = (path: string, way: readonly string[]): string[] | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const target of imports.get(path) ?? []) {
      const circle = circleFrom(target.path, [...way, path]);
      if (circle) return circle;
    }
    done.add(path);
    return undefined;
  };
  expect(imports.size).toBeGreaterThan(150);
  expect(
    [...imports.keys()].map((path) => circleFrom(path, [])).find((circle) => circle !== undefined),
  ).toBeUndefined();
});
