// Reads acknowledged writes through the API and repeats their calls.
import type { Random } from '../random.ts';
import { inParallel } from '../stand.ts';
import type { Proof } from './proof.ts';

const MOST = 500;

const READ: Readonly<Record<string, (id: unknown) => string>> = {
  'contacts.create': (id) => `/crm/contacts/${id}`,
  'opportunities.create': (id) => `/crm/opportunities/${id}`,
  'deliveryNotes.create': (id) => `/delivery-notes/${id}`,
  'invoices.create': (id) => `/invoices/${id}`,
};

/** Reads what was acknowledged through the API, and repeats each call through any interface. Returns their number. */
export async function readBack(
  proof: Proof,
  url: string,
  headers: Record<string, string>,
  random: Random,
): Promise<number> {
  const acknowledged = proof.done.filter(({ answer }) => answer !== undefined);
  const sample = Array.from({ length: Math.min(MOST, acknowledged.length) }, () => random.pick(acknowledged));
  const jobs = sample.map((done) => async () => {
    const { operation, mark, answer, shared } = done;
    if (answer === undefined) return;
    await proof.again(done, answer, random, 'all');
    const path = READ[operation.path]?.(JSON.parse(answer));
    if (path === undefined) return;
    const response = await fetch(`${url}/api/v1${path}`, { headers });
    const text = await response.text();
    if (response.status !== 200 || !(shared || text.includes(mark))) {
      proof.violation(`${operation.path} ${mark} is read back as ${response.status} ${text.slice(0, 200)}`);
    }
  });
  await inParallel(4, jobs);
  return sample.length;
}
