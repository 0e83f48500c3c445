// Runs a probe in a process of its own and returns its result.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** `probe`: a file in this folder that answers one message with one. Throws if it ends without an answer. */
export async function ask<Found>(probe: 'read-rows' | 'typed-client', question: object): Promise<Found> {
  const child = fork(join(import.meta.dirname, `${probe}.ts`), {
    stdio: 'inherit',
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
  });
  child.send(question);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The probe ${probe} ended with ${code}`);
  });
  ended.catch(() => {}); // It is ended here after its answer.
  // The type of the probe's answer: nothing else uses this channel.
  const [found] = (await Promise.race([once(child, 'message'), ended])) as [Found];
  child.kill();
  await ended.catch(() => {});
  return found;
}
