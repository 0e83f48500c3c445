// Fair turns: nobody holds more than a share or waits for another's, and the longest wait is served first.
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { oneByOne, Turns } from '../../platform/turns.ts';

afterEach(() => void vi.useRealTimers());

const refuse = () => new Error('busy');

test('[FAIR-01] whatever is taken and given back in whatever order, a share is never passed and no place stays empty', async () => {
  const step = fc.oneof(
    fc.record({ holder: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ giveBack: fc.nat({ max: 20 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 60 }), async (share, steps) => {
      const turns = new Turns({ share, waitMs: 60_000, refuse });
      const inside: { holder: number; leave: () => void }[] = [];
      const order = new Map<number, { asked: number[]; entered: number[] }>();
      let asked = 0;
      for (const one of steps) {
        if ('holder' in one) {
          const { holder } = one;
          const number = asked++;
          const line = order.get(holder) ?? { asked: [], entered: [] };
          order.set(holder, line);
          line.asked.push(number);
          void turns.take(holder).then((leave) => {
            line.entered.push(number);
            inside.push({ holder, leave });
          });
        } else inside.splice(one.giveBack % Math.max(1, inside.length), 1)[0]?.leave();
        await new Promise(setImmediate);
        for (const [holder, line] of order) {
          const held = inside.filter((place) => place.holder === holder).length;
          const waiting = line.asked.length - line.entered.length;
          expect(held).toBeLessThanOrEqual(share);
          expect(waiting === 0 || held === share, 'who waits, waits for a place').toBe(true);
          expect(line.entered, 'first come, first served').toEqual(line.asked.slice(0, line.entered.length));
        }
      }
      while (inside.length > 0) {
        inside.pop()?.leave();
        await new Promise(setImmediate);
      }
      expect(turns.waitingCount).toBe(0);
    }),
    { numRuns: 50 },
  );
});

test('[FAIR-01] one that waits too long is refused, and the place goes to the next', async () => {
  vi.useFakeTimers();
  const turns = new Turns({ share: 1, waitMs: 10_000, refuse });
  const leave = await turns.take(7);
  const late = turns.take(7);
  late.catch(() => {});
  await vi.advanceTimersByTimeAsync(6_000);
  const later = turns.take(7);
  await vi.advanceTimersByTimeAsync(4_000);
  await expect(late).rejects.toThrow('busy');
  leave();
  (await later)();
  expect(turns.waitingCount).toBe(0);
  expect(vi.getTimerCount(), 'nothing is left waiting').toBe(0);
});

test('[FAIR-01] no more may wait than the line holds, of each holder', async () => {
  const turns = new Turns({ share: 1, queue: 1, waitMs: 60_000, refuse });
  const [mine, theirs] = [await turns.take(1), await turns.take(2)];
  const waiting = turns.take(1);
  await expect(turns.take(1)).rejects.toThrow('busy');
  const other = turns.take(2);
  mine();
  theirs();
  for (const place of await Promise.all([waiting, other])) place();
});

test('jobs one by one keep their order, and a failure stops none', async () => {
  const run = oneByOne();
  const begun: number[] = [];
  let under = 0;
  const job = (number: number) => async () => {
    begun.push(number);
    expect(++under).toBe(1);
    await new Promise(setImmediate);
    under--;
    if (number === 1) throw new Error('one');
    return number;
  };
  const done = await Promise.allSettled([0, 1, 2].map((number) => run(job(number))));
  expect(begun).toEqual([0, 1, 2]);
  expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
