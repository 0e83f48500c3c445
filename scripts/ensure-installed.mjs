// Before `npm start` and `npm test`: installs what package-lock.json asks for if node_modules holds something else.
// Runs on whatever Node the machine has (20 or later), as the one the project runs on may be what is yet to be installed.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const reason = whyInstall();
if (reason) process.exitCode = install(reason);

/**
 * npm leaves what it installed in node_modules/.package-lock.json, last of all. Its packages are compared, not its date: a
 * clone, a checkout or a restored cache give every file a new one.
 * @returns {string | undefined}
 */
function whyInstall() {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  if (!wanted) return undefined;
  const installed = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  if (!installed) return 'there is no complete node_modules';
  // An installation without the development packages is enough to start, where the machine's own Node is.
  const devNeeded = process.env.npm_lifecycle_event === 'pretest' || Number(process.versions.node.split('.')[0]) < 26;
  for (const [path, { version, integrity, optional, dev, devOptional, link }] of Object.entries(wanted)) {
    if (link || !path.includes('node_modules/')) continue; // Not npm's to download.
    const present = installed[path];
    if (!present && (optional || ((dev || devOptional) && !devNeeded))) continue;
    if (!present) return `${path} is missing`;
    if (present.version !== version || (present.integrity ?? integrity) !== (integrity ?? present.integrity)) {
      return `${path} is not the one in package-lock.json`;
    }
  }
  return undefined;
}

/**
 * @param {string} file
 * @returns {Record<string, { version?: string, integrity?: string, optional?: boolean, dev?: boolean, devOptional?: boolean, link?: boolean }> | undefined}
 */
function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** @param {string} why */
function install(why) {
  console.error(`Installing packages (npm ci): ${why}`);
  // npm hands its own options down as npm_config_*. Those that were meant for `npm start` must not change what `npm ci` does.
  const notForUs =
    /^npm_config_(dry_run|global|location|package_lock_only|workspaces?|include_workspace_root|omit|include|only|also|production)$/i;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !notForUs.test(name)));
  // The node in node_modules/.bin is about to be deleted: neither npm nor the packages' own scripts may run on it.
  const bin = join(root, 'node_modules', '.bin');
  const path = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  env[path] = (env[path] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== bin)
    .join(delimiter);
  const args = [
    'ci',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--no-progress',
    '--loglevel=error',
  ];
  const { npm_execpath: cli, npm_node_execpath: node } = env;
  const outer =
    cli && /npm-cli\.c?js$/.test(cli) && node && !node.startsWith(join(root, 'node_modules')) ? cli : undefined;
  const [command, ...before] = outer ? [node ?? 'node', outer] : ['npm'];
  const { status, error } = spawnSync(command, [...before, ...args], {
    cwd: root,
    env,
    stdio: 'inherit',
    shell: !outer && process.platform === 'win32',
  });
  if (status === 0) return 0;
  console.error(`npm ci failed${error ? `: ${error.message}` : ''}`);
  return status ?? 1;
}
