// The entry point. It is JavaScript: modules imported before the compile cache is enabled are compiled at every start, and
// TypeScript ones would make Node keep its compiler in memory, about 20 MB.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Halves the time of a command. If the folder can't be written, there is no cache.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/albaran'));
const { runProcess } = await import('./process.ts');
await runProcess(process.argv.slice(2));
