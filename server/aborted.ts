// Waiting for a signal to be aborted.
import { once } from 'node:events';

/** Resolves when the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Resolves after this time, or when the signal is aborted. */
export const within = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  aborted(AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]));
