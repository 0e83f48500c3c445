// This version's migrations, or those up to one of them, and some more, in a folder of a test's own.
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const MIGRATIONS = join(import.meta.dirname, '../../entities/migrations');

export interface Folder extends AsyncDisposable {
  url: URL;
}

/** The migrations up to this one (default: all of this version) and some more. */
export async function migrations(more: Record<string, string>, { upTo = '9' } = {}): Promise<Folder> {
  const folder = await mkdtemp(join(tmpdir(), 'albaran-migrations-'));
  await cp(MIGRATIONS, folder, {
    recursive: true,
    filter: (path) => !path.endsWith('.sql') || (path.split('/').at(-1) ?? '') < upTo,
  });
  for (const [name, sql] of Object.entries(more)) await writeFile(join(folder, `${name}.sql`), sql);
  return { url: pathToFileURL(`${folder}/`), [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
