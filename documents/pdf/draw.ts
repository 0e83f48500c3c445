import type { Threads } from '../../platform/threads.ts';
import type { PdfJob } from './thread.ts';

const THREAD = new URL('./thread.ts', import.meta.url);

/** `documentPdf` in a thread of its own. FAIR-02 */
export async function drawPdf(threads: Threads, accountId: number, job: PdfJob): Promise<Buffer> {
  const bytes = await threads.run(accountId, THREAD, job);
  if (!(bytes instanceof Uint8Array)) throw new Error('A thread answered no PDF');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
