// Runs a probe as a process of its own and answers what it found.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** `probe`: a file beside this one, which answers one message with one. Throws when it ends without an answer. */
export async function ask<Found>(probe: 'read-rows' | 'typed-client', question: object): Promise<Found> {
  const child = fork(join(import.meta.dirname, `${probe}.ts`), {
    stdio: 'inherit',
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
  });
  child.send(question);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The probe ${probe} ended with ${code}`);
  });
  ended.catch(() => {}); // Once it has answered, it is ended here.
  // The probe's own type of answer: it is the other end of this channel.
  const [found] = (await Promise.race([once(child, 'message'), ended])) as [Found];
  child.kill();
  await ended.catch(() => {});
  return found;
}
