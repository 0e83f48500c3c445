import { z } from 'zod';
import { badInput } from '../../platform/errors.ts';
import type { Threads } from '../../platform/threads.ts';
import type { EInvoiceJob } from './thread.ts';

const THREAD = new URL('./thread.ts', import.meta.url);

const eInvoice = z.union([
  z.object({ xml: z.string() }),
  z.object({ problems: z.array(z.object({ campo: z.string(), mensaje: z.string() })) }),
]);

/** An e-invoice, written in a thread of its own; 400 for all that it needs and the content lacks. DOC-04, FAIR-02 */
export async function writeEInvoice(threads: Threads, accountId: number, job: EInvoiceJob): Promise<Buffer> {
  const made = eInvoice.parse(await threads.run(accountId, THREAD, job));
  if ('problems' in made) throw badInput(made.problems);
  return Buffer.from(made.xml);
}
