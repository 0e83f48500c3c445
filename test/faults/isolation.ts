// `npm run prove:isolation`: every id parameter of every operation, through every interface, with ids of other companies.
//
//   npm run prove:isolation                   everything
//   npm run prove:isolation -- --seed 7       companies from another seed
//   npm run prove:isolation -- --few          four operations and fewer companies: a trial
//
// Four runs: the service as it is; without the statements' conditions on the company, so that only row-level security isolates;
// without row-level security, so that only the statements do; and without both, which must leak, or the proof proves nothing.
// Exit 1 if something leaks, or if the last run does not.
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { z } from 'zod';
import { type Operation, operations } from '../../bridges/operations.ts';
import { fieldName } from '../../platform/errors.ts';
import { Ids, KINDS, type Kind } from '../../platform/ids.ts';
import { idMarks } from '../../routers/shared/id.ts';
import { arbitraryCompany } from '../account-file/arbitrary-company.ts';
import { exampleAccount, exampleRecords, examples } from '../helpers/examples.ts';
import { type Input, type Path, places, withValue } from '../helpers/places.ts';
import { type Call, type Caller, callsOf, type Outcome, send } from './doors.ts';
import { ID_KEY, inParallel, newCompany, newMarker, openStand, type Stand, startService, table } from './stand.ts';

const WIDTH = 6;
const NOBODYS = 999_999_999_999;
const CREATED_APART = 1_000_000_000;
const SHOWN = 10;
const FEW = new Set(['account.get', 'contacts.get', 'deliveryNotes.create', 'timeEntries.list']);

const { values: options } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, few: { type: 'boolean', default: false } },
});

interface Foreign {
  account: number;
  number: number;
}

/** The companies of the proof, and the markers of the others. */
interface World {
  own: number;
  others: number[];
  ids: Ids;
  /** Records of the others by kind, and one of our own. */
  foreign: ReadonlyMap<Kind, Foreign[]>;
  ours: ReadonlyMap<Kind, number>;
  marker: string;
  markedColumns: number;
  /** Columns with a fixed list of values or with keys: they can't hold a marker. */
  unmarkedColumns: string[];
  /** Sealed ids of the others. */
  sealed: ReadonlySet<string>;
}

const kinds = Object.keys(KINDS) as Kind[]; // the keys of the table are the type

async function makeWorld(stand: Stand, seed: number): Promise<World> {
  const own = await newCompany(stand, exampleRecords, exampleAccount);
  // The examples' records with other ids, so that every kind exists, and arbitrary others.
  const anew = JSON.parse(JSON.stringify(exampleRecords, (name, value) => (name === 'id' ? undefined : value)));
  const arbitrary = fc.sample(arbitraryCompany, { numRuns: options.few ? 1 : 3, seed });
  const others = [await newCompany(stand, anew, exampleAccount)];
  for (const records of arbitrary) others.push(await newCompany(stand, records));

  const ids = new Ids([ID_KEY]);
  const foreign = new Map<Kind, Foreign[]>();
  const ours = new Map<Kind, number>();
  const sealed = new Set<string>();
  for (const kind of kinds) {
    const { rows } = await stand.admin.query<{ account: string; number: string }>(
      `select account_id as account, id as number from ${KINDS[kind].table} where account_id <> $1 order by account_id, id`,
      [own],
    );
    const found = rows.map(({ account, number }) => ({ account: Number(account), number: Number(number) }));
    for (const { account, number } of found) sealed.add(ids.seal(account, kind, number));
    const firsts = [...Map.groupBy(found, ({ account }) => account).values()].flatMap((all) => all.slice(0, 1));
    if (firsts.length === 0) throw new Error(`The other companies have no ${kind}`);
    foreign.set(kind, firsts);
    const { rows: mine } = await stand.admin.query<{ id: string }>(
      `select id from ${KINDS[kind].table} where account_id = $1 order by id limit 1`,
      [own],
    );
    ours.set(kind, Number(mine[0]?.id));
  }
  // What the calls create has numbers that no record of the others has, of any kind: some parameters take several kinds.
  for (const [index, kind] of kinds.entries()) {
    await stand.admin.query('select setval($1, $2)', [`${KINDS[kind].table}_id_seq`, (index + 2) * CREATED_APART]);
  }
  const marker = newMarker();
  return { own, others, ids, foreign, ours, marker, sealed, ...(await mark(stand, others, marker)) };
}

/** Writes the marker into every text column and file of these companies that can hold it; which record a seal is of stays. */
async function mark({ admin }: Stand, accounts: number[], marker: string) {
  const { rows } = await admin.query<{ table: string; column: string; type: string; company: string }>(
    `select c.table_name as table, c.column_name as column, c.data_type as type,
            case when c.table_name = 'accounts' then 'id' else 'account_id' end as company
     from information_schema.columns c
     where c.table_schema = 'public' and c.data_type in ('text', 'character varying', 'bytea') and c.is_generated = 'NEVER'
       and c.column_name <> 'record_table' and (c.table_name = 'accounts' or exists (select from information_schema.columns a where a.table_schema = 'public'
            and a.table_name = c.table_name and a.column_name = 'account_id'))
     order by 1, 2`,
  );
  let markedColumns = 0;
  const unmarkedColumns: string[] = [];
  for (const { table: name, column, type, company } of rows) {
    const text = `'${marker}' || left(md5(t.ctid::text), 8)`;
    const value = type === 'bytea' ? `convert_to(${text}, 'utf8')` : text;
    try {
      const { rowCount } = await admin.query(`update ${name} t set "${column}" = ${value} where ${company} = any($1)`, [
        accounts,
      ]);
      if (rowCount) markedColumns++;
    } catch {
      unmarkedColumns.push(`${name}.${column}`);
    }
  }
  return { markedColumns, unmarkedColumns };
}

/** A digest of all rows of the other companies. */
async function digest({ admin }: Stand, accounts: number[]): Promise<Map<string, string>> {
  const { rows } = await admin.query<{ table: string; company: string }>(
    `select c.table_name as table, c.column_name as company from information_schema.columns c
     where c.table_schema = 'public' and (c.column_name = 'account_id' or c.table_name = 'accounts' and c.column_name = 'id')
     order by 1`,
  );
  const parts = rows.map(
    ({ table: name, company }) =>
      `select '${name}' as name, coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as digest from ${name} t where ${company} = any($1)`,
  );
  const all = await admin.query<{ name: string; digest: string }>(parts.join(' union all '), [accounts]);
  return new Map(all.rows.map(({ name, digest }) => [name, digest]));
}

/** The id parameters of an operation. */
function parametersOf({ input }: Operation) {
  const found = new Map<string, { path: Path; kind: Kind; status: number }>();
  for (const { path, schema } of places(input)) {
    const known = idMarks.get(schema);
    if (known) found.set(fieldName(path), { path, kind: known.kind, status: known.unknown === 'notFound' ? 404 : 400 });
  }
  return found;
}

/** The values tried for an id of this kind. */
function attempts({ own, ids, foreign, ours }: World, kind: Kind): [string, string | number][] {
  const stolen = (foreign.get(kind) ?? []).flatMap(({ account, number }): [string, string | number][] => [
    ['their number', number],
    ['their number in digits', String(number)],
    ['their sealed id', ids.seal(account, kind, number)],
    ['their number, sealed for us', ids.seal(own, kind, number)],
  ]);
  const other: Kind = kind === 'client' ? 'project' : 'client';
  const mine = ids.seal(own, kind, ours.get(kind) ?? 0);
  const altered = mine.slice(0, 9) + (mine[9] === 'A' ? 'B' : 'A') + mine.slice(10);
  return [
    ...stolen,
    ['our record of another kind', ids.seal(own, other, ours.get(other) ?? 0)],
    ['forged with another key', new Ids(['another key']).seal(own, kind, ours.get(kind) ?? 0)],
    ['cut short', mine.slice(0, -1)],
    ['altered', altered],
    ['no id at all', 'x'],
  ];
}

interface Found {
  calls: number;
  /** Calls with ids of others. */
  attempted: number;
  leaks: string[];
  wrong: string[];
}

function traceIn(world: World, text: string): string | undefined {
  if (text.toLowerCase().includes(world.marker)) return 'a text';
  for (const [, id = ''] of text.matchAll(/(?<![\w-])([a-z][\w-]{22})(?![\w-])/g)) {
    if (world.sealed.has(id)) return 'an id';
  }
  return undefined;
}

/** Every attempt on every parameter of these operations through every interface, and their valid calls. */
async function walk(url: string, caller: Caller, world: World, chosen: readonly Operation[]): Promise<Found> {
  const found: Found = { calls: 0, attempted: 0, leaks: [], wrong: [] };
  async function tell(call: Call, about: string): Promise<Outcome> {
    const outcome = await send(url, call, caller);
    found.calls++;
    const trace = traceIn(world, outcome.everything);
    if (trace) found.leaks.push(`${about}: ${trace} of another company`);
    return outcome;
  }
  function* jobs(): Generator<() => Promise<void>> {
    for (const operation of chosen) {
      const example = structuredClone(examples[operation.path] ?? {});
      for (const [name, { path, kind, status }] of parametersOf(operation)) {
        const nobodys = callsOf(operation, withValue(example, path, NOBODYS));
        const expected = nobodys.map((call) => tell(call, `${operation.path} ${name} nobody’s`));
        for (const each of expected) each.catch(() => {});
        for (const [form, value] of attempts(world, kind)) {
          for (const [index, call] of callsOf(operation, withValue(example, path, value)).entries()) {
            yield async () => {
              const about = `${operation.path} ${name}, ${form}, by ${call.door}`;
              const outcome = await tell(call, about);
              const nobody = await expected[index];
              found.attempted++;
              if (outcome.status !== status || outcome.told !== nobody?.told) {
                found.wrong.push(`${about}: ${outcome.status} ${outcome.told.slice(0, 200)}`);
              }
            };
          }
        }
      }
    }
  }
  await inParallel(WIDTH, jobs());
  await inParallel(
    WIDTH,
    chosen.flatMap((operation) =>
      validInputs(operation).flatMap((input) =>
        callsOf(operation, input).map((call) => async () => {
          const about = `${operation.path}, a valid call, by ${call.door}`;
          const { status, told } = await tell(call, about);
          // An earlier write may be the reason for a refusal.
          if (status !== 200 && !(operation.write && status === 400))
            found.wrong.push(`${about}: ${status} ${told.slice(0, 200)}`);
        }),
      ),
    ),
  );
  return found;
}

/** The example; for a read also its answer without narrowing filters. */
function validInputs({ path, write, input, routes }: Operation): Input[] {
  const example = structuredClone(examples[path] ?? {});
  if (write) return [example];
  const kept = Object.entries(example).filter(
    ([name]) =>
      routes.some(({ parameters }) => parameters.includes(name)) || !z.safeParse(input.shape[name], undefined).success,
  );
  return [example, Object.fromEntries(kept)];
}

const MODES = [
  { name: 'as it is', filters: true, rowSecurity: true, leaks: false },
  { name: 'row-level security alone', filters: false, rowSecurity: true, leaks: false },
  { name: 'the statements alone', filters: true, rowSecurity: false, leaks: false },
  { name: 'neither (has to leak)', filters: false, rowSecurity: false, leaks: true },
];

async function setRowSecurity({ admin }: Stand, on: boolean): Promise<void> {
  const { rows } = await admin.query<{ name: string }>(`select distinct tablename as name from pg_policies`);
  for (const { name } of rows) await admin.query(`alter table ${name} ${on ? 'enable' : 'disable'} row level security`);
}

async function main(): Promise<boolean> {
  const chosen = options.few ? operations.filter(({ path }) => FEW.has(path)) : operations;
  await using stand = await openStand();
  const world = await makeWorld(stand, Number(options.seed));
  const rows: (string | number)[][] = [
    ['', 'calls', 'with ids of others', 'leaked', 'not as nobody’s', 'in the log', 'tables changed'],
  ];
  let proved = true;
  let conditions = '';
  const without: string[] = [];
  for (const { name, filters, rowSecurity, leaks } of MODES) {
    console.log(`${name} ...`);
    await setRowSecurity(stand, rowSecurity);
    const before = await digest(stand, world.others);
    await using service = await startService(stand, { filters });
    const caller = await service.caller(world.own);
    const found = await walk(service.url, caller, world, chosen);
    const { opened, onCompanies, withoutCondition, notOpened } = await service.statements();
    await service.stop();
    const logged = service.log.flatMap((line) => (traceIn(world, line) ? [line] : []));
    const after = await digest(stand, world.others);
    const changed = [...before].filter(([table, digest]) => after.get(table) !== digest).map(([table]) => table);
    rows.push([
      name,
      found.calls,
      found.attempted,
      found.leaks.length,
      found.wrong.length,
      logged.length,
      changed.length,
    ]);
    const clean = found.leaks.length + found.wrong.length + logged.length + changed.length === 0;
    if (leaks ? found.leaks.length === 0 : !clean) {
      proved = false;
      const told = [
        ...found.leaks,
        ...found.wrong,
        ...logged.map((line) => `in the log: ${line}`),
        ...changed.map((table) => `rows of other companies changed in ${table}`),
      ];
      console.error(
        leaks ? 'Nothing leaked, with nothing to hold it: this proves nothing' : told.slice(0, SHOWN).join('\n'),
      );
    }
    if (!filters && rowSecurity) {
      conditions = `${opened} conditions on the company made true in ${onCompanies} statements`;
      if (opened === 0 || notOpened.length > 0) proved = false;
      for (const text of notOpened) console.error(`a condition on the company was left in: ${text}`);
      for (const text of withoutCondition) without.push(text.replace(/\s+/g, ' ').trim().slice(0, 110));
    }
  }

  const parameters = chosen.flatMap((operation) => [...parametersOf(operation).keys()]).length;
  const calls = chosen.flatMap((operation) => callsOf(operation, examples[operation.path] ?? {}));
  const doors = new Set(calls.map(({ door }) => door));
  console.log(`
seed ${options.seed}: ${chosen.length} operations, ${parameters} parameters that take an id, ${doors.size} doors (${[...doors].join('; ')})
other companies: ${world.others.length}, ${world.sealed.size} records of ${kinds.length} kinds; ${world.markedColumns} columns marked, ${world.unmarkedColumns.length} hold codes and can't be
${conditions}; without one, beside inserts:
${without.map((text) => `  ${text}`).join('\n')}

${table(rows)}
`);
  if (process.env.FAULTS_VERBOSE) console.log(`not marked: ${world.unmarkedColumns.join(', ')}`);
  console.log(proved ? 'Isolation holds.' : 'Isolation does not hold.');
  return proved;
}

process.exitCode = (await main()) ? 0 : 1;
