// Which build of the service this is: what its answers look like follows from its own files and those of its libraries.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDERS = ['account-file', 'bridges', 'documents', 'entities', 'figures', 'platform', 'routers'];

/** A text that is another one after any change of these files. */
export async function thisBuild(): Promise<string> {
  const found = await Promise.all(
    FOLDERS.map(async (folder) => {
      const files = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
      return files.filter((file) => file.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    }),
  );
  const files = [join(ROOT, 'package.json'), ...found.flat().sort()];
  const all = createHash('sha256');
  for (const content of await Promise.all(files.map((file) => readFile(file)))) all.update(content).update('\0');
  return all.digest('base64url');
}
