#!/usr/bin/env node
// `npx albaran ...`. Plain JavaScript, because npx may run it on a Node that is too old for the rest. Then it starts the Node that
// was installed with the project.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = new URL('main.js', import.meta.url);
const args = process.argv.slice(2);
if (args.length === 0) args.push('--help');

if (Number.parseInt(process.versions.node, 10) >= 26) {
  process.argv = [process.execPath, fileURLToPath(main), ...args];
  await import(main.href);
} else {
  const node = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
  if (existsSync(node)) {
    const child = spawn(node, [fileURLToPath(main), ...args], { stdio: 'inherit' });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    child.on('exit', (code) => process.exit(code ?? 1));
  } else {
    console.error('Albaran runs on Node 26, which comes with its packages: run "npm install" first');
    process.exitCode = 1;
  }
}
