// `albaran verify` as a process, on exports that are right, changed, cut and hostile.
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { envelopeOf } from '../../documents/verifactu/envelope.ts';
import { run } from '../server/processes.ts';
import { invoice } from './arbitrary-invoice.ts';
import { chain } from './registers.ts';
import { altas, anulaciones, vectorXml } from './verifactu-vectors.ts';

vi.setConfig({ testTimeout: 60_000 });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'albaran-verify-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Six registers: of 26/1 an alta, of 26/2 an alta, of 26/3 alta and annulment, of 26/4 alta and correction. */
const xmls = (installation?: string) =>
  [
    ...chain(
      [1, 2, 3, 4].map((number) => invoice({ numero: `26/${number}` })),
      installation,
    ),
  ].map(({ xml }) => xml);
const right = xmls();
const lines = (records: readonly string[]) =>
  records.map((registro, n) => `${JSON.stringify({ n, registro, csv: null })}\n`).join('');

/** The command on standard input, without any settings. */
const verify = (text: string, ...args: string[]) => run(['verify', '-', ...args], {}, text);
const failing = async (text: string) => {
  const { code, stdout, stderr } = await verify(text);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  return stderr.split('\n').filter((line) => line !== '');
};
const changed = (index: number, from: string | RegExp, to: string) => {
  const before = right[index] ?? '';
  const after = before.replace(from, to);
  expect(after).not.toBe(before);
  return right.with(index, after);
};

test('[DOC-02] an export that is right: NDJSON, XML by envelope and by any element, a file, and JSON', async () => {
  const file = join(folder, 'export.ndjson');
  await writeFile(file, lines(right));
  const fine = { code: 0, stdout: '6 registros, cadena íntegra\n', stderr: '' };
  expect(await run(['verify', file], {})).toEqual(fine);
  expect(
    await verify(
      envelopeOf(
        { nombre: 'Talleres', nif: '89890001K' },
        right.map((xml) => ({ xml })),
      ),
    ),
  ).toEqual(fine);
  expect(await verify(`\uFEFF\n<registros>${right.join('\n')}</registros>`)).toEqual(fine);
  expect(await verify(lines(right.slice(0, 1)).trim())).toMatchObject({ stdout: '1 registro, cadena íntegra\n' });
  const { code, stdout } = await verify(lines(right), '--json');
  expect({ code, json: JSON.parse(stdout) }).toEqual({
    code: 0,
    json: { registros: 6, correctos: 6, continuaciones: [], fallos: [] },
  });
});

test('[DOC-02] the published chain of the agency is right', async () => {
  const [one, two] = altas;
  const [three] = anulaciones;
  if (!one || !two || !three) throw new Error('no vectors');
  const all = [
    vectorXml(one.of, one.hash),
    vectorXml(two.of, two.hash, one.of),
    vectorXml(three.of, three.hash, two.of),
  ];
  expect(await verify(lines(all))).toMatchObject({ code: 0, stdout: '3 registros, cadena íntegra\n' });
  expect((await failing(lines(all.toReversed()))).at(-1)).toBe('3 registros, 2 con fallos');
});

test('[DOC-02] a changed amount, number, date, type or time is named, once, with its register', async () => {
  const changes: [string | RegExp, string][] = [
    ['<sf:ImporteTotal>121.00<', '<sf:ImporteTotal>121.0<'],
    ['<sf:NumSerieFactura>26/2<', '<sf:NumSerieFactura>26/9<'],
    ['<sf:FechaExpedicionFactura>02-11-2026<', '<sf:FechaExpedicionFactura>03-11-2026<'],
    ['<sf:TipoFactura>F1<', '<sf:TipoFactura>F2<'],
    [/(\d\d)\+01:00</, '00+01:00<'],
    [/<sf:Huella>[^<]+<\/sf:Huella><\/sf:RegistroAlta>/, `<sf:Huella>${'A'.repeat(64)}</sf:Huella></sf:RegistroAlta>`],
  ];
  const found = await Promise.all(changes.map(([from, to]) => failing(lines(changed(1, from, to)))));
  for (const [index, told] of found.entries()) {
    expect(told[0]).toMatch(
      /^Registro 2 \(alta de 26\/[29]\): su huella es [0-9A-F]{64}, y la de su contenido [0-9A-F]{64}$/,
    );
    // With another number, date or hash the next one does not follow it either.
    expect(told.at(-1)).toMatch(
      [1, 2, 5].includes(index) ? /^6 registros, 2 con fallos$/ : /^6 registros, 1 con fallos$/,
    );
  }
});

test('[DOC-02] a missing, repeated, moved or foreign register breaks the chain where it is', async () => {
  expect(await failing(lines(right.toSpliced(2, 1)))).toEqual([
    expect.stringMatching(
      /^Registro 3 \(anulacion de 26\/3\): sigue a 26\/3 \(89890001K, 02-11-2026\) con la huella .*, y el anterior es 26\/2 /,
    ),
    '5 registros, 1 con fallos',
  ]);
  expect((await failing(lines(right.toSpliced(2, 0, right[1] ?? '')))).at(-1)).toBe('7 registros, 1 con fallos');
  expect((await failing(lines([1, 0, 2, 3, 4, 5].map((at) => right[at] ?? '')))).at(-1)).toBe(
    '6 registros, 2 con fallos',
  );
  const first = await failing(lines([...right, ...right]));
  expect(first).toEqual([
    expect.stringMatching(/^Registro 7 \(alta de 26\/1\): dice ser el primero, pero sigue a 26\/4 /),
    '12 registros, 1 con fallos',
  ]);
});

test('[DOC-02] a chain that says another invoice than the one before', async () => {
  const said = changed(2, /(<sf:RegistroAnterior>.*?<sf:NumSerieFactura>)26\/2</, '$126/8<');
  expect(await failing(lines(said))).toEqual([
    expect.stringMatching(/^Registro 3 \(alta de 26\/3\): sigue a 26\/8 .*, y el anterior es 26\/2 /),
    '6 registros, 1 con fallos',
  ]);
});

test('[DOC-02] a later part of a chain is right, and says what it follows', async () => {
  const huella = /<sf:Huella>([^<]+)<\/sf:Huella><\/sf:RegistroAlta>/.exec(right[1] ?? '')?.[1];
  const note = `El registro 1 sigue a uno que no está en el fichero, de huella ${huella}`;
  expect(await verify(lines(right.slice(2)))).toEqual({
    code: 0,
    stdout: `4 registros, cadena íntegra\n${note}\n`,
    stderr: '',
  });
});

test('[DOC-02] chains of several installations may alternate', async () => {
  const both = xmls('i-2').flatMap((other, index) => [right[index] ?? '', other]);
  expect(await verify(lines(both))).toMatchObject({ code: 0, stdout: '12 registros, cadena íntegra\n' });
});

test('[DOC-02] what can’t be read is named, and the rest is still checked', async () => {
  const [one = '', two = ''] = right;
  const told = await failing(
    [
      JSON.stringify({ registro: one }),
      'no json',
      JSON.stringify({ xml: two }),
      JSON.stringify({ registro: '<a/>' }),
      JSON.stringify({ registro: '<a>' }),
      JSON.stringify({ registro: `<!DOCTYPE a [<!ENTITY b "c">]>${two}` }),
      JSON.stringify({ registro: two.replace('26/2', '&nbsp;') }),
      JSON.stringify({ registro: two.replace(/<sf:CuotaTotal>.*?<\/sf:CuotaTotal>/, '') }),
      JSON.stringify({ registro: two.replace('<sf:TipoHuella>01', '<sf:TipoHuella>02') }),
      JSON.stringify({ registro: '<a>'.repeat(100) }),
      JSON.stringify({ registro: two }),
    ].join('\n'),
  );
  expect(told).toEqual([
    'Registro 2: la línea no es JSON',
    'Registro 3: la línea no tiene "registro" con el XML',
    'Registro 4: a no es RegistroAlta ni RegistroAnulacion',
    'Registro 5: el XML está mal formado (Unclosed root tag)',
    'Registro 6: el XML declara un DOCTYPE, que no se admite',
    'Registro 7: el XML está mal formado (Invalid character entity)',
    'Registro 8: falta CuotaTotal en RegistroAlta',
    'Registro 9: TipoHuella no es 01 (SHA-256)',
    'Registro 10: el XML tiene demasiados niveles',
    '11 registros, 9 con fallos',
  ]);
  const cut = `<registros>${right.join('')}`.slice(0, -10);
  expect(await failing(cut)).toEqual([
    'Registro 6: el XML está mal formado (Unclosed root tag)',
    '6 registros, 1 con fallos',
  ]);
});

test('[DOC-02] nothing to check, nothing to read, and no UTF-8 are failures', async () => {
  expect(await failing('')).toEqual(['-: ningún registro']);
  expect(await failing('<registros/>')).toEqual(['-: ningún registro']);
  expect(await run(['verify', join(folder, 'none')], {})).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("can't be read: ENOENT"),
  });
  const latin = join(folder, 'latin1');
  await writeFile(latin, Buffer.from(lines(right).replace('Trabajos', 'Añadido'), 'latin1'));
  expect(await run(['verify', latin], {})).toMatchObject({ code: 1, stderr: expect.stringContaining("can't be read") });
});

test('[DOC-02] only the first hundred failures are named, all are counted', async () => {
  const { code, stdout } = await verify('x\n'.repeat(1234), '--json');
  const json: { registros: number; correctos: number; fallos: unknown[] } = JSON.parse(stdout);
  expect({ code, ...json, fallos: json.fallos.length }).toMatchObject({
    code: 1,
    registros: 1234,
    correctos: 0,
    fallos: 100,
  });
  expect((await failing('x\n'.repeat(1234))).slice(100)).toEqual([
    '... y 1,134 más',
    '1,234 registros, 1,234 con fallos',
  ]);
});

test('[DOC-02] an export larger than the process’s memory is read through', async () => {
  // A hundred megabytes.
  const filler = `<sf:Relleno>${'x'.repeat(50_000)}</sf:Relleno><sf:IDVersion>`;
  const invoices = Array.from({ length: 1200 }, (_, n) => invoice({ numero: String(n) }));
  const records = [...chain(invoices)].map(({ xml }) => xml);
  async function verifyLarge(name: string, pieces: () => Iterable<string>) {
    const file = join(folder, name);
    await pipeline(Readable.from(pieces()), createWriteStream(file));
    return run(['verify', file], { NODE_OPTIONS: '--max-old-space-size=72' });
  }
  const fine = { code: 0, stdout: '1,900 registros, cadena íntegra\n', stderr: '' };
  const large = (xml: string) => xml.replace('<sf:IDVersion>', filler);
  const asLines = () => Iterator.from(records).map((xml) => lines([large(xml)]));
  expect(await verifyLarge('large.ndjson', asLines)).toEqual(fine);
  const asXml = () => Iterator.from(['<todo>', ...records, '</todo>']).map(large);
  expect(await verifyLarge('large.xml', asXml)).toEqual(fine);
});
