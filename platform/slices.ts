// Runs long computations in short slices, so that other calls can run between them. FAIR-02
import { scheduler } from 'node:timers/promises';

/** Short, because a light call needs several turns of the event loop and may wait for one slice at each. */
const SLICE_MS = 2;

/** The queue of computations that have yielded. One continues per turn of the event loop, so several block it no longer than one. */
let turn = Promise.resolve();

/** Calls `each` for every item in order, and yields to the event loop after each slice of time. */
export async function inSlices<Item>(items: Iterable<Item>, each: (item: Item) => void): Promise<void> {
  let started = performance.now();
  for (const item of items) {
    each(item);
    if (performance.now() - started < SLICE_MS) continue;
    turn = turn.then(() => scheduler.yield());
    await turn;
    started = performance.now();
  }
}
