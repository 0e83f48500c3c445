// Runs before `npm start` and `npm test`: installs the packages of package-lock.json if node_modules differs from it.
// It runs on the machine's own Node (20 or later), because the project's Node may not be installed yet.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const reason = whyInstall();
if (reason) process.exitCode = install(reason);

/**
 * npm's last step writes what it installed to node_modules/.package-lock.json. The packages are compared, not the file's date: a
 * clone, a checkout or a restored cache changes the dates.
 * @returns {string | undefined}
 */
function whyInstall() {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  if (!wanted) return undefined;
  const installed = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  if (!installed) return 'there is no complete node_modules';
  // Starting does not need the development packages if the machine's Node is new enough.
  const devNeeded = process.env.npm_lifecycle_event === 'pretest' || Number(process.versions.node.split('.')[0]) < 26;
  for (const [path, { version, integrity, optional, dev, devOptional, link }] of Object.entries(wanted)) {
    if (link || !path.includes('node_modules/')) continue; // npm does not download it.
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
 * @returns {Record<string, { version?: string, integrity?: string, optional?: boolean, dev?: boolean, devOptional?: boolean,
 *   link?: boolean }> | undefined}
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
  // npm passes its options on as npm_config_*. Options given to `npm start` must not change what `npm ci` does.
  const notForUs =
    /^npm_config_(dry_run|global|location|package_lock_only|workspaces?|include_workspace_root|omit|include|only|also|production)$/i;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !notForUs.test(name)));
  // `npm ci` deletes node_modules/.bin/node: neither npm nor install scripts may run on it.
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
