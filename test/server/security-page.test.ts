// The tests that docs/security.md names exist, with those titles.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

test('every test that the page names is there', () => {
  const named = [...page.matchAll(/`(test\/[\w./-]+\.ts)`: (.+?)(?= \(|<br>| \|$|$)/gm)];
  expect(named.length).toBeGreaterThan(80);
  const missing = named.filter(([, file = '', title = '']) => !read(file).includes(title.replace(/:$/, '')));
  expect(missing.map(([, file, title]) => `${file}: ${title}`)).toEqual([]);
});

test('every command that the page names is there', () => {
  const { scripts } = JSON.parse(read('package.json'));
  for (const [, name = ''] of page.matchAll(/npm run ([\w:]+)/g)) expect(Object.keys(scripts)).toContain(name);
});
