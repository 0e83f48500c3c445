// The published albaran-client: packed, installed by another project, compiled, and run in every runtime that it names.
import { cp, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Server, startServer } from '../helpers/world.ts';
import { type Consumer, installConsumer, nodeOfMajor, run } from './consumer.ts';
import { CHROMIUM_ARGUMENTS, chromiumPath } from './needs.ts';

const ROOT = join(import.meta.dirname, '..', '..');

let consumer: Consumer;
let installed: string;

beforeAll(async () => {
  consumer = await installConsumer('client', packClient);
  installed = join(consumer.folder, 'node_modules/albaran-client');
}, 240_000);
afterAll(() => consumer?.[Symbol.asyncDispose]());

/** `npm pack` of a copy of client/, which leaves the working tree unchanged. */
async function packClient(folder: string): Promise<void> {
  const copy = await mkdtemp(join(tmpdir(), 'albaran-client-'));
  try {
    const ours = (path: string) => !/client\/(dist|node_modules)$/.test(path);
    await cp(join(ROOT, 'client'), copy, { recursive: true, filter: ours });
    await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    await run('npm', ['pack', '--pack-destination', folder], { cwd: copy });
    const { version } = JSON.parse(await readFile(join(copy, 'package.json'), 'utf8'));
    await rename(join(folder, `albaran-client-${version}.tgz`), join(folder, 'albaran-client.tgz'));
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
  // With the hash of a former package npm would install that one from its cache.
  const lockFile = join(folder, 'package-lock.json');
  const lock = JSON.parse(await readFile(lockFile, 'utf8'));
  delete lock.packages['node_modules/albaran-client'].integrity;
  await writeFile(lockFile, JSON.stringify(lock));
}

const publishedTexts = async (ending: string) => {
  const names = (await readdir(join(installed, 'dist'))).filter((name) => name.endsWith(ending));
  return Promise.all(names.map((name) => readFile(join(installed, 'dist', name), 'utf8')));
};
const commentsIn = (text: string) => text.match(/\/\*\*[\s\S]*?\*\//g) ?? [];

describe('the package', () => {
  test('holds the built client, its types, its README and its license, and nothing else', async () => {
    const files = await readdir(installed, { recursive: true, withFileTypes: true });
    const paths = files.filter((file) => file.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    expect(paths.map((path) => path.slice(installed.length + 1)).sort()).toEqual(
      [
        ...['client', 'error', 'index', 'methods', 'operations', 'transport', 'trpc'].flatMap((name) => [
          `dist/${name}.d.ts`,
          `dist/${name}.js`,
          `dist/commonjs/${name}.d.ts`,
          `dist/commonjs/${name}.js`,
        ]),
        'dist/commonjs/package.json',
        'LICENSE',
        'README.md',
        'package.json',
      ].sort(),
    );
    for (const text of [...(await publishedTexts('.js')), ...(await publishedTexts('.ts'))]) {
      expect(text).not.toContain('sourceMappingURL');
    }
  });

  test('declares no `any`, and keeps what the sources say of each operation and parameter', async () => {
    for (const text of await publishedTexts('.d.ts')) {
      expect(text.replaceAll(/\/\*[\s\S]*?\*\//g, '')).not.toMatch(/\bany\b/);
    }
    const source = await readFile(join(ROOT, 'client/src/operations.ts'), 'utf8');
    const published = await readFile(join(installed, 'dist/operations.d.ts'), 'utf8');
    const words = (text: string) => commentsIn(text).map((comment) => comment.replaceAll(/\s+/g, ' '));
    expect(words(published)).toEqual(words(source));
  });
});

describe('a project that uses it', () => {
  const MODES = {
    nodenext: ['--module', 'nodenext'],
    bundler: ['--module', 'esnext', '--moduleResolution', 'bundler'],
  };
  const compile = (compiler: string, mode: keyof typeof MODES, ...more: string[]) => {
    const strict = '--strict --exactOptionalPropertyTypes --skipLibCheck false --target es2022 --noEmitOnError';
    const args = [...strict.split(' '), ...MODES[mode], ...more, 'main.ts', 'wrong.ts'];
    return consumer.node([`node_modules/${compiler}/bin/tsc`, ...args]);
  };

  test.each([
    ['typescript', 'bundler'],
    ['typescript-7', 'nodenext'],
    ['typescript-7', 'bundler'],
  ] as const)(
    'compiles under %s as %s, strictly, libraries included; what is wrong does not',
    { timeout: 60_000 },
    async (compiler, mode) => {
      await compile(compiler, mode, '--noEmit');
    },
  );

  test.each(['typescript', 'typescript-7'])(
    "compiles under %s with tRPC's own client, its inference and TanStack Query; what is wrong does not",
    { timeout: 60_000 },
    async (compiler) => {
      const args = '--strict --skipLibCheck --target es2022 --module nodenext --noEmit trpc.ts';
      await consumer.node([`node_modules/${compiler}/bin/tsc`, ...args.split(' ')]);
    },
  );

  test('can do what the README says, as it says it', async () => {
    const readme = await readFile(join(installed, 'README.md'), 'utf8');
    const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code);
    expect(blocks.length).toBeGreaterThan(5);
    const given = `import type { DeliveryNotesCreateInput } from 'albaran-client';
      declare const process: { env: Record<string, string | undefined> };
      declare const input: DeliveryNotesCreateInput;
      declare const order: { id: number };\n`;
    await writeFile(join(consumer.folder, 'readme.ts'), given + blocks.join('\n'));
    const args = '--strict --skipLibCheck --target es2022 --module nodenext --noEmit readme.ts';
    await consumer.node(['node_modules/typescript-7/bin/tsc', ...args.split(' ')]);
  });

  describe('compiled by typescript as nodenext,', { timeout: 60_000 }, () => {
    const records = [
      { coleccion: 'articulos', descripcion: 'Tornillo M4' },
      { coleccion: 'articulos', descripcion: 'Tornillo M6' },
      { coleccion: 'articulos', descripcion: 'Tuerca M6' },
      { coleccion: 'empleados', nombre: 'Ana' },
      { coleccion: 'funnels', ref: 'f', id: 1, titulo: 'Ventas', etapas: [{ ref: 'e', id: 2, titulo: 'Nuevo' }] },
    ];
    const outcome = {
      listed: ['Tornillo M4', 'Tornillo M6'],
      employee: 'Ana',
      pages: [['Tornillo M4', 'Tornillo M6'], ['Tuerca M6']],
      leads: 1,
      replayed: true,
      identified: true,
      limit: expect.any(Number),
      failed: {
        name: 'InvalidInputError',
        code: 400,
        message: 'El parámetro fecha_inicio no es válido: se esperaba una fecha real AAAA-MM-DD',
        field: 'fecha_inicio',
      },
      stopped: 'no longer needed',
    };
    const page = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><link rel="icon" href="data:,">');
    });
    let origin: string;
    let server: Server;

    beforeAll(async () => {
      await compile('typescript', 'nodenext', '--outDir', 'out');
      await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
      origin = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
      server = await startServer({ corsOrigins: [origin] });
    }, 60_000);
    afterAll(async () => {
      page.close();
      await server?.stop();
    });

    /** Runs the sample on a new company and expects the outcome. */
    async function expectOutcome(sampleOn: (args: [string, string, string, string, string]) => Promise<string>) {
      const { headers } = await server.company(records);
      const said = await sampleOn([server.url, headers['x-api-key'], headers['x-api-secret'], '1', '2']);
      const { written, ...seen } = JSON.parse(said);
      expect(seen).toEqual(outcome);
      expect(written[0]).toBeTypeOf('number');
      expect(written[1]).toBe(written[0]);
    }

    test('[IDEM-01] runs in Node 20, the oldest it names, where there is one', async () => {
      const node = await nodeOfMajor(20);
      await expectOutcome((args) => consumer.node(['out/main.js', ...args], node));
    });

    test('[IDEM-01] runs in the Node of the tests', async () => {
      await expectOutcome((args) => consumer.node(['out/main.js', ...args]));
    });

    test('runs in CommonJS, in a Node that loads no modules for it', async () => {
      const args = '--strict --skipLibCheck --target es2022 --module node16 --outDir out commonjs.cts';
      await consumer.node(['node_modules/typescript/bin/tsc', ...args.split(' ')]);
      const { headers } = await server.company(records);
      const key = [headers['x-api-key'], headers['x-api-secret']];
      const program = ['--no-experimental-require-module', 'out/commonjs.cjs', server.url, ...key];
      const said = await consumer.node(program, await nodeOfMajor(20));
      expect(JSON.parse(said)).toEqual(['Tornillo M4', 'Tornillo M6', 'Tuerca M6']);
    });

    test('[IDEM-01] runs in Bun', async () => {
      await expectOutcome((args) => consumer.bin('bun', 'out/main.js', ...args));
    });

    test('[IDEM-01] runs in Deno, which lets it use the network and nothing else', async () => {
      const permissions = ['--no-prompt', '--cached-only', '--node-modules-dir=manual', '--allow-net=127.0.0.1'];
      await expectOutcome((args) => consumer.bin('deno', 'run', ...permissions, 'out/main.js', ...args));
    });

    test('[IDEM-01] runs in a browser, on a page of another origin that CORS_ORIGINS names', async () => {
      const bundle = join(consumer.folder, 'out/browser.js');
      const iife = ['--format=iife', '--global-name=sample', '--platform=browser', `--outfile=${bundle}`];
      await consumer.bin('esbuild', 'out/sample.js', '--bundle', '--minify', '--log-level=warning', ...iife);
      const browser = await chromium.launch({ executablePath: chromiumPath(), args: CHROMIUM_ARGUMENTS });
      try {
        const tab = await browser.newPage();
        await tab.goto(origin);
        await tab.addScriptTag({ path: bundle });
        await expectOutcome(([baseUrl, apiKey, apiSecret, funnelId, etapaId]) => {
          const args = [
            { baseUrl, apiKey, apiSecret },
            { funnelId: Number(funnelId), etapaId: Number(etapaId) },
          ];
          return tab.evaluate(`sample.run(...${JSON.stringify(args)}).then(JSON.stringify)`);
        });
      } finally {
        await browser.close();
      }
    });
  });
});
