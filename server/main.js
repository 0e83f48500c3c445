// Where the process begins. JavaScript, since what is imported before the compile cache is on is compiled anew at every start,
// and for TypeScript Node would keep its compiler in memory, some 20 MB.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Halves what a command takes; where it can't be written there is none.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/albaran'));
const { runProcess } = await import('./process.ts');
await runProcess(process.argv.slice(2));
