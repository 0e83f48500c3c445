import { scheduler } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { Ids } from '../../platform/ids.ts';
import { inSlices } from '../../platform/slices.ts';

afterEach(() => vi.restoreAllMocks());

/** Each element takes `each` milliseconds, on any machine. */
function working(ms: number) {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  return () => {
    now += ms;
  };
}

test('[FAIR-02] the event loop turns whenever a slice of 2 ms is over, and the items stay in order', async () => {
  const work = working(1);
  const turned = vi.spyOn(scheduler, 'yield');
  const done: number[] = [];
  await inSlices(Array(100).keys(), (item) => {
    work();
    done.push(item);
  });
  expect(done).toEqual([...Array(100).keys()]);
  expect(turned).toHaveBeenCalledTimes(50);
});

test('[FAIR-02] what is short does not wait', async () => {
  const turned = vi.spyOn(scheduler, 'yield');
  working(1);
  await inSlices([1, 2, 3], () => {});
  expect(turned).not.toHaveBeenCalled();
});

test('[FAIR-02] of several who compute at once, one goes on each time the event loop turns', async () => {
  const work = working(8);
  let turns = 0;
  let counting = true;
  const count = () => {
    turns++;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const doneInTurn: number[] = [];
  await Promise.all(
    Array.from({ length: 5 }, () =>
      inSlices(Array(10).keys(), () => {
        work();
        doneInTurn[turns] = (doneInTurn[turns] ?? 0) + 1;
      }),
    ),
  );
  counting = false;
  // All but those handled before the first pause.
  expect(doneInTurn.slice(1).filter((done) => done === 1)).toHaveLength(45);
});

test('[FAIR-02] a failure is the caller’s, and the next one computes on', async () => {
  const work = working(8);
  const failing = inSlices([1, 2], (item) => {
    work();
    if (item === 2) throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  await expect(inSlices([1, 2], work)).resolves.toBeUndefined();
});

test('[FAIR-02] [ID-01] marked ids are sealed wherever long text is cut', async () => {
  const ids = new Ids(['a key of the tests, long enough']);
  for (let shift = 0; shift < 24; shift += 5) {
    const rows = Array.from({ length: 4000 }, (_, row) => `{"articuloId":\t18:${1000 + row}\t,"titulo":"ñ 12\\t34"}`);
    const text = `${' '.repeat(shift)}[${rows.join(',')}]`;
    expect(JSON.parse(await ids.sealMarked(7, text))).toEqual(
      rows.map((_, row) => ({ articuloId: ids.seal(7, 'product', 1000 + row), titulo: 'ñ 12\t34' })),
    );
  }
});
