// Consumers' projects in test/consumers, each installed from its lock file into a temporary folder. Their lock files are made by
// `npm install` in a copy with what `prepare` puts there, and name no registry.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const CONSUMERS = join(import.meta.dirname, '..', 'consumers');
const INSTALL_MS = 180_000;

const execute = promisify(execFile);

/** Runs a program and returns its standard output; if it fails, throws with all of its output. */
export async function run(file: string, args: string[], options: { cwd: string; timeout?: number }): Promise<string> {
  const { cwd, timeout = 60_000 } = options;
  const env = { ...process.env, DO_NOT_TRACK: '1', DENO_DIR: join(cwd, '.deno'), DENO_NO_UPDATE_CHECK: '1' };
  try {
    const { stdout } = await execute(file, args, { cwd, timeout, killSignal: 'SIGKILL', maxBuffer: 64 << 20, env });
    return stdout;
  } catch (cause) {
    const {
      stdout = '',
      stderr = '',
      killed = false,
    } = cause as { stdout?: string; stderr?: string; killed?: boolean };
    const how = killed ? `did not end in ${timeout} ms` : 'failed';
    throw new Error(`${file} ${args.join(' ')} ${how}:\n${stdout}${stderr}`, { cause });
  }
}

/** A project of test/consumers with its packages; `prepare` puts the files into the folder that it is installed from. */
export async function installConsumer(name: string, prepare: (folder: string) => Promise<void> = async () => {}) {
  const folder = await mkdtemp(join(tmpdir(), `albaran-${name}-consumer-`));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await cp(join(CONSUMERS, name), folder, { recursive: true });
    await prepare(folder);
    const install = 'ci --prefer-offline --no-audit --no-fund --fetch-retries=1 --fetch-retry-mintimeout=1000';
    await run('npm', [...install.split(' '), '--fetch-timeout=60000'], { cwd: folder, timeout: INSTALL_MS }).catch(
      (cause) => {
        throw new Error(`This test needs the npm registry, or its packages in npm's cache: ${cause.message}`, {
          cause,
        });
      },
    );
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    folder,
    /** Runs a program of the project's packages. */
    bin: (program: string, ...args: string[]) => run(join(folder, 'node_modules/.bin', program), args, { cwd: folder }),
    /** Runs a script, with the Node of the tests by default. */
    node: (args: string[], node = process.execPath) => run(node, args, { cwd: folder }),
    [Symbol.asyncDispose]: remove,
  };
}

export type Consumer = Awaited<ReturnType<typeof installConsumer>>;

/** A Node of this major version in PATH, if there is one. */
export async function nodeOfMajor(major: number): Promise<string | undefined> {
  for (const folder of new Set(process.env.PATH?.split(':'))) {
    const node = join(folder, 'node');
    const version = await execute(node, ['--version'], { timeout: 10_000 }).catch(() => undefined);
    if (version?.stdout.startsWith(`v${major}.`)) return node;
  }
  return undefined;
}
