// `npm run prove:documents`: every issued document is sealed, in one chain a kind, while the service is killed; and whatever is changed
// behind the service's back is named.
//
//   npm run prove:documents                     10 kills, 3 restarts and 4 imports, random seed
//   npm run prove:documents -- --seed 7         the same inputs and choices; their timing differs
//   npm run prove:documents -- --kills 2 --restarts 1 --imports 1    a trial
//
// Twelve writers, four of them through the connector, call every writing operation. At the end every document has its seal, a second
// implementation recomputes each seal from what it is made over, and `albaran check`'s verification finds nothing. Then documents and
// seals are changed by SQL, one at a time: each has to be named. Exit 1 otherwise.
import { createHash, randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { CompiledQuery } from 'kysely';
import { verifyDocuments } from '../../documents/verification.ts';
import { SEALED_TABLES, type SealedTable } from '../../entities/values.ts';
import { canonicalJson } from '../helpers/canonical-json.ts';
import { exampleAccount } from '../helpers/examples.ts';
import { disturb } from './disturb.ts';
import { Proof } from './once/proof.ts';
import { keepWriting, records, writes } from './once/writes.ts';
import { newApiKey, newCompany, type Stand, table } from './stand.ts';
import { runProof, standOn, startOwnPostgres, supervise } from './supervisor.ts';

const WRITERS = 12;
const BY_CONNECTOR = 4;
const SHOWN = 20;

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    kills: { type: 'string', default: '10' },
    restarts: { type: 'string', default: '3' },
    imports: { type: 'string', default: '4' },
  },
});
const seed = Number(options.seed);

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

interface SealRow {
  n: string;
  record_table: string;
  action: string;
  at: string;
  actor: string;
  door: string;
  operation: string;
  subject: string | null;
  content: string;
  hash: string;
}

/** Recomputes a chain from what its seals are made over. Answers how many there are. */
async function recompute({ admin }: Stand, account: number, of: SealedTable, proof: Proof): Promise<number> {
  const { rows } = await admin.query<SealRow>(
    `select *, to_char(sealed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from seals
      where account_id = $1 and record_table = $2 order by n`,
    [account, of],
  );
  let before: string | null = null;
  for (const [index, row] of rows.entries()) {
    const hash: string = sha256(
      canonicalJson({
        n: index + 1,
        tipo: of,
        anterior: before,
        accion: row.action,
        momento: row.at,
        autor: row.actor,
        puerta: row.door,
        operacion: row.operation,
        documento: row.subject,
        contenido: sha256(row.content),
      }),
    );
    if (hash !== row.hash) proof.violation(`${of} ${row.n}: its seal is another`);
    if (canonicalJson(JSON.parse(row.content)) !== row.content) proof.violation(`${of} ${row.n}: not canonical JSON`);
    before = row.hash;
  }
  return rows.length;
}

/** Changes that nobody may make unseen: SQL for one row of a table's documents `$2`, and back. */
const CHANGES: readonly { what: string; on: readonly SealedTable[]; change: string }[] = [
  { what: 'a date', on: SEALED_TABLES, change: 'update TABLE set date = date - 1 where account_id = $1 and id = $2' },
  {
    what: 'a number',
    on: SEALED_TABLES,
    change: `update TABLE set number = number || 'x' where account_id = $1 and id = $2`,
  },
  {
    what: 'a client',
    on: SEALED_TABLES,
    change: `update TABLE set party = party || '{"tax_id": "X"}' where account_id = $1 and id = $2`,
  },
  {
    what: 'a price',
    on: ['invoices'],
    change: 'update invoice_lines set unit_price = unit_price + 1 where account_id = $1 and invoice_id = $2',
  },
  {
    what: 'a due date',
    on: ['invoices'],
    change: 'update invoice_due_dates set date = date + 1 where account_id = $1 and invoice_id = $2',
  },
  {
    what: 'an annulment',
    on: ['delivery_notes'],
    change: `update delivery_notes set annulled_at = case when annulled_at is null then now() end
      where account_id = $1 and id = $2`,
  },
  {
    what: 'who issued it',
    on: SEALED_TABLES,
    change: `update seals set actor = 'key:1' where account_id = $1 and record_id = $2 and record_table = 'TABLE' and content ~ '"tipo"'`,
  },
];

/** Makes each change alone, in a transaction that is rolled back, and asks what is found. */
async function tamper({ admin, database }: Stand, account: number, of: SealedTable, proof: Proof): Promise<number> {
  const { rows } = await admin.query<{ id: string }>(
    `select d.id from ${of} d where account_id = $1 and number is not null and exists (select from seals s
      where s.account_id = $1 and s.record_table = $2 and s.record_id = d.id) order by md5(id::text || $3) limit 3`,
    [account, of, String(seed)],
  );
  let made = 0;
  for (const { id } of rows) {
    for (const { what, on, change } of CHANGES) {
      if (!on.includes(of)) continue;
      const found = await database
        .transaction(account, { write: true }, async (db) => {
          const statement = change.replaceAll('TABLE', of);
          const { numAffectedRows } = await db.executeQuery(CompiledQuery.raw(statement, [account, Number(id)]));
          const { failures } = await verifyDocuments(db, account, { tables: [of], limit: SHOWN });
          throw new Found(
            Number(numAffectedRows ?? 0n),
            failures.map((failure) => failure.id),
          );
        })
        .catch((error: unknown) => {
          if (error instanceof Found) return error;
          throw error;
        });
      made++;
      if (found.rows === 0) proof.violation(`${of} ${id}: ${what} was not changed`);
      else if (!found.ids.includes(Number(id))) {
        proof.violation(`${of} ${id}: ${what} was changed, and found was ${found.ids.join(', ') || 'nothing'}`);
      }
    }
  }
  return made;
}

/** Ends a transaction with what was found in it. */
class Found extends Error {
  readonly rows: number;
  readonly ids: readonly (number | null)[];
  constructor(rows: number, ids: readonly (number | null)[]) {
    super('found');
    this.rows = rows;
    this.ids = ids;
  }
}

async function main(stack: AsyncDisposableStack): Promise<boolean> {
  console.log(
    `seed ${seed}: ${WRITERS} writers, ${writes.length} operations, ${options.kills} kills, ${options.restarts} restarts, ${options.imports} imports`,
  );
  const started = performance.now();
  const postgres = stack.use(await startOwnPostgres());
  let account: number;
  let headers: Record<string, string>;
  {
    await using stand = await standOn(postgres.url);
    account = await newCompany(stand, records, exampleAccount);
    headers = await newApiKey(stand, account);
  }
  const service = stack.use(await supervise(postgres.url));
  const proof = new Proof(service.url, headers);
  const over = new AbortController();
  const writing = Array.from({ length: WRITERS }, (_, index) =>
    keepWriting(proof, { seed, index, doors: index < BY_CONNECTOR ? 'connector' : 'others' }, over.signal),
  );
  try {
    await disturb(proof, { ...options, service, postgres, account, seed });
  } finally {
    over.abort();
    await Promise.all(writing);
  }

  await using stand = await standOn(postgres.url);
  let [documents, seals, changes] = [0, 0, 0];
  for (const of of SEALED_TABLES) {
    seals += await recompute(stand, account, of, proof);
    const { rows } = await stand.admin.query<{ id: string }>(
      `select d.id from ${of} d where account_id = $1 and not exists (select from seals s
        where s.account_id = $1 and s.record_table = $2 and s.record_id = d.id)`,
      [account, of],
    );
    for (const { id } of rows) proof.violation(`${of} ${id} has no seal`);
  }
  const found = await stand.database.transaction(account, {}, (db) => verifyDocuments(db, account, { limit: SHOWN }));
  documents = found.documents;
  for (const { table: of, id, fault } of found.failures) proof.violation(`${of} ${id}: ${fault}`);
  for (const of of SEALED_TABLES) changes += await tamper(stand, account, of, proof);
  for (const text of service.endedByItself) proof.violation(`The service ended by itself:\n${text}`);

  const { violations } = proof;
  const summary = [
    [`seed ${seed}`, ''],
    ['calls acknowledged', proof.acknowledged],
    ['documents', documents],
    ['seals recomputed', seals],
    ['changes behind the service, each named', changes],
    ['starts of the service', service.starts],
    ['seconds', Math.round((performance.now() - started) / 1000)],
    ['violations', violations.length],
  ];
  console.log(`\n${table(summary)}\n`);
  if (violations.length > 0) console.error(violations.slice(0, SHOWN).join('\n'));
  console.log(violations.length === 0 ? 'Every document is as it was sealed.' : `Not proved; seed ${seed}.`);
  return violations.length === 0;
}

await runProof(main);
