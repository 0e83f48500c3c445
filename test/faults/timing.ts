// `npm run prove:timing`: the time of a refusal does not reveal its reason.
//
//   npm run prove:timing                              400 refusals by key of each kind, 80 by sign-in
//   npm run prove:timing -- --keys 40 --people 10     a trial
//
// Over HTTP to the service as a process, with the kinds in a new order each round. It prints the median of each kind, and compares
// the distance of the medians of two kinds with that of two halves of one kind, which is noise. Exit 1 if kinds are further apart
// than noise explains.
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createUser } from '../../platform/identity/users.ts';
import { hashSecret, newKey } from '../../platform/principal.ts';
import { openBrowser, PASSWORD } from '../pages/browser.ts';
import { Random } from './random.ts';
import { newApiKey, newCompany, openStand, startService, table } from './stand.ts';

const { values: options } = parseArgs({
  options: { keys: { type: 'string', default: '400' }, people: { type: 'string', default: '80' } },
});
/** Halves of one kind differ by chance; kinds may differ by this multiple of it, or by this share of the median. */
const NOISE = { times: 3, share: 0.05 };
/** Rounds that are not counted: statements are planned and code is compiled. */
const WARM_ROUNDS = 5;

/** Prepares one refusal and returns a function that sends it and gives its status: only that is timed. */
type Refusal = () => Promise<() => Promise<number>>;

function median(times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

const half = (times: readonly number[], which: 0 | 1) => times.filter((_, index) => index % 2 === which);

/** Sends refusals of these kinds in turns; false if their times differ. */
async function compare(kinds: Record<string, Refusal>, rounds: number, status: number): Promise<boolean> {
  const random = new Random(rounds);
  const taken = new Map(Object.keys(kinds).map((kind) => [kind, [] as number[]]));
  for (let round = -WARM_ROUNDS; round < rounds; round++) {
    const order = Object.entries(kinds)
      .map(([kind, refuse]) => ({ kind, refuse, at: random.next() }))
      .sort((one, other) => one.at - other.at);
    for (const { kind, refuse } of order) {
      const call = await refuse();
      const began = performance.now();
      const answered = await call();
      const ms = performance.now() - began;
      if (answered !== status) throw new Error(`${kind}: ${answered}, and ${status} was expected`);
      if (round >= 0) taken.get(kind)?.push(ms);
    }
  }
  const all = [...taken].map(([kind, times]) => ({ kind, times, median: median(times) }));
  const medians = all.map((each) => each.median);
  const apart = Math.max(...medians) - Math.min(...medians);
  const noise = Math.max(...all.map(({ times }) => Math.abs(median(half(times, 0)) - median(half(times, 1)))));
  const ms = (value: number) => value.toFixed(3);
  console.log(
    `\n${table([['', 'refusals', 'median ms'], ...all.map((each) => [each.kind, each.times.length, ms(each.median)])])}`,
  );
  console.log(`apart by ${ms(apart)} ms; the halves of one kind by up to ${ms(noise)} ms`);
  return apart <= Math.max(NOISE.times * noise, NOISE.share * Math.min(...medians));
}

async function main(): Promise<boolean> {
  await using stand = await openStand();
  await using service = await startService(stand);
  const accountId = await newCompany(stand, []);
  const known = await newApiKey(stand, accountId);
  const of = async (row: { revoked_at?: string; expires_at?: string }) => {
    const { key, secret } = newKey();
    const common = { account_id: accountId, key, secret_hash: hashSecret(secret), name: 'proof', can_write: true };
    await stand.database.transaction(accountId, { write: true }, (db) =>
      db
        .insertInto('api_keys')
        .values({ ...common, ...row })
        .execute(),
    );
    return { 'x-api-key': key, 'x-api-secret': secret };
  };
  const LONG_AGO = '2020-01-01T00:00:00Z';
  const revoked = await of({ revoked_at: LONG_AGO });
  const expired = await of({ expires_at: LONG_AGO });
  const byKey = (made: () => Record<string, string>) => async () => {
    const headers = made();
    return async () => {
      const response = await fetch(`${service.url}/api/v1/account`, { headers });
      await response.text();
      return response.status;
    };
  };
  const fresh = () => {
    const { key, secret } = newKey();
    return { 'x-api-key': key, 'x-api-secret': secret };
  };
  const byKeys = await compare(
    {
      'unknown key': byKey(fresh),
      'wrong secret': byKey(() => ({ ...known, 'x-api-secret': newKey().secret })),
      'revoked key': byKey(() => revoked),
      'expired key': byKey(() => expired),
    },
    Number(options.keys),
    401,
  );

  const browser = openBrowser(service.url);
  await browser.get('/signin');
  const email = `${randomUUID()}@example.com`;
  await createUser(stand.database, { email, name: 'Ana', password: PASSWORD });
  const signIn = (who: () => string) => async () => {
    // So that it is not refused for its earlier attempts.
    await stand.admin.query('delete from sign_in_attempts');
    const fields = { email: who(), password: 'not the password', next: '/' };
    return async () => (await browser.submit('/signin', fields)).status;
  };
  const bySignIn = await compare(
    { 'unknown e-mail': signIn(() => `${randomUUID()}@example.com`), 'wrong password': signIn(() => email) },
    Number(options.people),
    400,
  );
  const alike = byKeys && bySignIn;
  console.log(alike ? '\nRefusals take as long whatever they are for.' : '\nRefusals can be told apart by their time.');
  return alike;
}

process.exitCode = (await main()) ? 0 : 1;
