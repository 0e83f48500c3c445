// The figures of a phase, and those that are out of bounds.
import type { Answer } from '../once/proof.ts';

const QUIET_MS = 1_000;

/** The percentile of the answers' times, in milliseconds. */
export function within(share: number, answers: readonly Answer[]): number {
  const times = answers.map(({ ms }) => ms).sort((one, other) => one - other);
  return Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0);
}

export const served = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200);
export const refused = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 503);

/** The time from this moment to the first second without refusals, in milliseconds. */
export function quietAfter(begun: number, answers: readonly Answer[]): number {
  let quiet = 0;
  for (const at of refused(answers)
    .map((answer) => answer.at - begun)
    .sort((one, other) => one - other)) {
    if (at - quiet >= QUIET_MS) break;
    quiet = at;
  }
  return quiet;
}

export const seconds = (milliseconds: number) => Math.round(milliseconds / 100) / 10;

export class Report {
  readonly rows: (string | number)[][] = [
    ['', 'calls a second', 'served', '503', '409', 'other', 'median ms', '99 of 100', 'longest', 'longest 503'],
  ];
  readonly notes: (string | number)[][] = [['', '']];
  readonly failures: string[] = [];

  /**
   * A phase: its figures; and its calls had only answers or refusals that say when to try again. 409: the same call, by its
   * idempotency key, is still running.
   */
  phase(name: string, answers: readonly Answer[], milliseconds: number): void {
    const [good, busy] = [served(answers), refused(answers)];
    const waiting = answers.filter(({ status }) => status === 409).length;
    const other = answers.length - good.length - busy.length - waiting;
    const figures = [within(0.5, good), within(0.99, good), within(1, good), within(1, busy)];
    const rate = Math.round((answers.length / milliseconds) * 1000);
    this.rows.push([name, rate, good.length, busy.length, waiting, other, ...figures]);
    const odd = answers.find(({ status }) => ![200, 409, 503].includes(status));
    if (odd) this.failures.push(`${name}: ${other} answers were neither served nor refused: ${odd.status} ${odd.text}`);
    const mute = busy.find(({ retryAfter, text }) => !retryAfter || !text.includes('(petición '));
    if (mute) this.failures.push(`${name}: a refusal without Retry-After or request id: ${mute.text}`);
  }

  check(holds: boolean, otherwise: string): void {
    if (!holds) this.failures.push(otherwise);
  }
}
