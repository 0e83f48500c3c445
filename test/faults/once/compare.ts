// Compares the answers to the writers with the rows of their company.
import { Ids } from '../../../platform/ids.ts';
import { ID_KEY, type Stand } from '../stand.ts';
import { NEVER } from './never.ts';
import type { Doors, Proof } from './proof.ts';
import { CREATED, writes } from './writes.ts';

type Rows = Map<string, number[]>;

/** The company's rows of this query by their first column, a mark. */
async function byMark({ admin }: Stand, account: number, query: string): Promise<Rows> {
  const { rows } = await admin.query<{ mark: string; id: string }>(query, [account]);
  const found: Rows = new Map();
  for (const { mark, id } of rows) found.set(mark, [...(found.get(mark) ?? []), Number(id)]);
  return found;
}

export interface Comparison {
  /** The table of operations. */
  rows: (string | number)[][];
  /**
   * Calls by interface whose first received answer was a replay: the service ended between commit and answer, or the answer was not
   * read.
   */
  late: Record<Doors, number>;
}

/** Compares the answers with the rows; differences are violations. */
export async function compare(proof: Proof, stand: Stand, account: number): Promise<Comparison> {
  const ids = new Ids([ID_KEY]);
  const keys = await byMark(
    stand,
    account,
    `select key as mark, case when answer is null then 0 else 1 end as id from idempotency_records where account_id = $1`,
  );
  // The attempts that changed something, counted once each.
  const journal = await byMark(
    stand,
    account,
    `select split_part(request_id, '.', 1) as mark, split_part(request_id, '.', 2) as id from journal_entries
     where account_id = $1 and request_id like 'w%.%' group by 1, 2, operation`,
  );
  const created = new Map<string, Rows>();
  for (const [path, { table: name, column }] of Object.entries(CREATED)) {
    const query = `select ${column} as mark, id from ${name} where account_id = $1 and ${column} like 'w%-%'`;
    created.set(path, await byMark(stand, account, query));
  }
  const late: Record<Doors, number> = { connector: 0, others: 0, all: 0 };
  const changes = new Map<string, Map<number, number>>();
  const rows: (string | number)[][] = [['', 'acknowledged', 'given up', 'of these written', 'violations']];
  const calls = new Set(proof.done.map(({ mark }) => mark));
  for (const operation of writes) {
    const found = proof.violations.length;
    let [acknowledged, givenUp, written] = [0, 0, 0];
    for (const done of proof.done.filter((one) => one.operation === operation)) {
      const { mark, answer, changes: changing, shared } = done;
      const name = `${operation.path} ${mark}`;
      const journalled = journal.get(mark)?.length ?? 0;
      const kept = keys.get(mark)?.[0] ?? 0;
      if (journalled > 1) proof.violation(`${name} was done ${journalled} times, by the journal`);
      // What is as it was asked to be is answered, and changes nothing.
      if (journalled > kept) proof.violation(`${name}: it is in the journal, and its key is not kept`);
      if (answer === undefined) {
        givenUp++;
        written += kept;
      } else {
        acknowledged++;
        if (kept === 0) proof.violation(`${name} was acknowledged, and its key is not kept`);
        else if (journalled > 0 && journal.get(mark)?.[0] !== done.attempt) late[done.doors]++;
      }
      const place = CREATED[operation.path];
      if (place) {
        const made = created.get(operation.path)?.get(mark) ?? [];
        if (made.length > 1) proof.violation(`${name} is there ${made.length} times`);
        if (made.length !== journalled && !(shared && made.length < journalled)) {
          proof.violation(`${name}: ${made.length} records, ${journalled} in the journal`);
        }
        if (answer !== undefined && made[0] !== undefined) {
          const id = ids.open(account, place.kind, JSON.parse(answer));
          if (id !== made[0]) proof.violation(`${name} was answered ${answer}, and is ${made[0]}`);
        }
      }
      if (changing) {
        const { table, id } = changing;
        const times = changes.get(table) ?? new Map<number, number>();
        changes.set(table, times.set(id, (times.get(id) ?? 0) + journalled));
      }
    }
    rows.push([operation.path, acknowledged, givenUp, written, proof.violations.length - found]);
  }

  for (const mark of [...keys.keys(), ...journal.keys(), ...[...created.values()].flatMap((one) => [...one.keys()])]) {
    if (!calls.has(mark)) proof.violation(`${mark} was written, and nobody called it`);
  }
  for (const [table, times] of changes) {
    const versions = await stand.admin.query<{ id: string; version: number }>(
      `select id, version from ${table} where account_id = $1 and id = any($2)`,
      [account, [...times.keys()]],
    );
    for (const { id, version } of versions.rows) {
      const expected = 1 + (times.get(Number(id)) ?? 0);
      if (version !== expected)
        proof.violation(`${id} of ${table} changed ${version - 1} times, ${expected - 1} by its calls`);
    }
  }
  for (const [what, query] of Object.entries(NEVER)) {
    const { rows: wrong } = await stand.admin.query(query, [account]);
    if (wrong.length > 0) proof.violation(`${what}: ${JSON.stringify(wrong.slice(0, 3))}`);
  }
  return { rows, late };
}
