// Runs the README's commands on a first start with the demo company, with the printed key.
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { firstStart } from './first-start.ts';

const README = new URL('../../README.md', import.meta.url);

/** The commands of a section, in order. */
async function commandsOf(section: string): Promise<string[]> {
  const text = (await readFile(README, 'utf8')).split('\n## ').find((part) => part.startsWith(`${section}\n`)) ?? '';
  return [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, commands = '']) => commands);
}

test('every call of the README is answered well', { timeout: 90_000 }, async () => {
  await using server = await firstStart();
  const [exports = '', ...calls] = await commandsOf('First calls');
  expect(exports).toBe('export ALBARAN_KEY=ak_... ALBARAN_SECRET=sk_...\n');
  const tour = await commandsOf('A tour');
  expect(calls.length).toBeGreaterThanOrEqual(3);
  expect(tour.length).toBeGreaterThanOrEqual(5);

  const stdout = await server.shell([...calls, ...tour].join('\necho\n'));
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
  const found = await fetch(`${server.url}/api/v1/products?busqueda=plataforma`, { headers: server.headers });
  const [, day = ''] = /"precio":([\d.]+)/.exec(await found.text()) ?? [];
  const [, amount] = /"descripcion":"Plataforma, 2 días"[^}]*"importe":([\d.]+)/.exec(stdout) ?? [];
  expect(Number(amount)).toBe(2 * Number(day));
  expect(stdout.match(/"proviene_albaranes":1/g)).toHaveLength(2);
});
