// Runs the README's commands on a first start with the demo company, with the printed key.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { serve } from './processes.ts';

const README = new URL('../../README.md', import.meta.url);

/** The commands of a section, in order. */
async function commandsOf(section: string): Promise<string[]> {
  const text = (await readFile(README, 'utf8')).split('\n## ').find((part) => part.startsWith(`${section}\n`)) ?? '';
  return [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, commands = '']) => commands);
}

test('every call of the README is answered well', { timeout: 90_000 }, async () => {
  await using database = await ownDatabase();
  await using server = await serve(databaseEnvironment(database.url));
  const key = /ak_[\w-]+/.exec(await server.says(/API key +ak_/))?.[0] ?? '';
  const secret = /sk_[\w-]+/.exec(await server.says(/Secret +sk_/))?.[0] ?? '';
  const [exports = '', ...calls] = await commandsOf('First calls');
  expect(exports).toBe('export ALBARAN_KEY=ak_... ALBARAN_SECRET=sk_...\n');
  const tour = await commandsOf('A tour');
  expect(calls.length).toBeGreaterThanOrEqual(3);
  expect(tour.length).toBeGreaterThanOrEqual(5);

  const script = [...calls, ...tour].join('\necho\n').replaceAll('http://127.0.0.1:3000', server.url);
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    env: { ...process.env, ALBARAN_KEY: key, ALBARAN_SECRET: secret },
  });
  // The connector answers with a stream of one event.
  const answers = stdout
    .split('\n')
    .flatMap((line) => (/^(event: .*)?$/.test(line) ? [] : [line.replace('data: ', '')]));
  expect(answers.length).toBeGreaterThanOrEqual(12);
  for (const answer of answers) expect(answer).toMatch(/^\{"errorCode":200,|^\{"(result|jsonrpc)":/);
  const [lead, won] = answers.filter((answer) => answer.includes('"titulo":"Cableado de la terraza"'));
  expect(lead).toContain('"etapa_anterior":');
  expect(won).toContain('"resultado":"ganado"');
  // One of three reserved on two days; the note invoiced once.
  expect(stdout).toContain('"stock":3,"minimo_disponible":2,"disponible":true');
  // Two days, billed as two.
  const found = await fetch(`${server.url}/api/v1/products?busqueda=plataforma`, {
    headers: { 'X-API-KEY': key, 'X-API-SECRET': secret },
  });
  const [, day = ''] = /"precio":([\d.]+)/.exec(await found.text()) ?? [];
  const [, amount] = /"descripcion":"Plataforma, 2 días"[^}]*"importe":([\d.]+)/.exec(stdout) ?? [];
  expect(Number(amount)).toBe(2 * Number(day));
  expect(stdout.match(/"proviene_albaranes":1/g)).toHaveLength(2);
});
