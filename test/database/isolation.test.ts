// Isolation by the database itself, whatever the code does: read from the catalogue, so that future tables are checked too, and
// tried with rows of two companies in every table.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Database } from '../../platform/database.ts';
import { migrate } from '../../server/postgres/migrations.ts';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { poolerOptions } from '../helpers/pgbouncer.ts';

/** Tables without company data. */
const SERVICE_TABLES = new Set([
  'mikro_orm_migrations',
  'failed_attempts',
  'service_secrets',
  'id_keys',
  'scheduled_runs',
  'webhook_queue',
  'register_queue',
  'users',
  'user_sessions',
  'sign_in_attempts',
  'sign_ins',
  'oauth_clients',
  'oauth_registrations',
]);
/** Columns unique across companies, by which a company is found. */
const UNIQUE_BEYOND_A_COMPANY = new Set(['accounts_pkey', 'accounts_slug_unique', 'api_keys_key_unique']);
/** `*_id` columns that refer to no single table. */
const NAMES_NO_RECORD = new Set([
  'assistant_calls.request_id',
  'audit_records.record_id',
  'audit_records.request_id',
  'journal_entries.record_id',
  'journal_entries.request_id',
  'document_links.record_id',
  'seals.record_id',
  'seals.related_id',
  'accounts.tax_id',
  'clients.tax_id',
  'suppliers.tax_id',
  // A person belongs to no company.
  'memberships.user_id',
  'grants.user_id',
  // An application belongs to no company and may expire before its grants.
  'grants.client_id',
]);
const ONE = 71;
const OTHER = 72;

interface Column {
  name: string;
  type: string;
  required: boolean;
  generated: boolean;
}

/** The tests' shared schema, read-only. */
const catalogue = new pg.Client({ connectionString: inject('databaseUrl') });
/** The same schema with rows of two companies in every table, without the constraints that such rows would break. */
let database: OwnDatabase;
let tables: string[];
let columns: Map<string, Column[]>;

beforeAll(async () => {
  await catalogue.connect();
  database = await ownDatabase();
  const { rows } = await catalogue.query<Column & { table: string; identity: boolean }>(
    `select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
            a.attnotnull and not a.atthasdef as required, a.attgenerated <> '' as generated
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where n.nspname = 'public' and c.relkind in ('r', 'p') order by c.relname, a.attnum`,
  );
  columns = new Map([...Map.groupBy(rows, ({ table }) => table)].filter(([table]) => !SERVICE_TABLES.has(table)));
  tables = [...columns.keys()];

  // One row of each company in every table, written as that company. The values don't matter.
  const { rows: constraints } = await database.admin.query<{ drop: string }>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop
     from pg_constraint where contype in ('f', 'c') and connamespace = 'public'::regnamespace`,
  );
  for (const { drop } of constraints) await database.admin.query(drop);
  for (const account of [ONE, OTHER]) {
    await database.admin.query(`begin; set local role albaran_app; set local app.account_id = '${account}'`);
    for (const table of tables) await database.admin.query(insertOf(table, account));
    await database.admin.query('commit');
  }
});

afterAll(async () => {
  await catalogue.end();
  await database[Symbol.asyncDispose]();
});

/** Rows of a catalogue query as `table: problem`. */
async function found(query: string): Promise<string[]> {
  const { rows } = await catalogue.query<{ table: string; name: string }>(query);
  return rows.filter(({ table }) => !SERVICE_TABLES.has(table)).map(({ table, name }) => `${table}: ${name}`);
}

test('[TEN-02] every table is a company’s, and says whose each row is', () => {
  expect(tables.length).toBeGreaterThan(50);
  const without = tables.filter((table) => !columns.get(table)?.some(({ name }) => name === 'account_id'));
  expect(without).toEqual(['accounts']);
  // Without default: a forgotten account_id must not fall to some company.
  const unsaid = tables.filter((table) =>
    columns.get(table)?.some(({ name, required }) => name === 'account_id' && !required),
  );
  expect(unsaid).toEqual([]);
});

test('[TEN-02] row-level security is on, forced, and has a policy for the company of the transaction on every table', async () => {
  const unprotected = await found(
    `select relname as table, 'not forced' as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not (relrowsecurity and relforcerowsecurity)`,
  );
  expect(unprotected).toEqual([]);

  const { rows } = await catalogue.query<{ table: string; policy: string }>(
    `select tablename as table, policyname || ' ' || permissive || ' ' || cmd || ' ' || qual || coalesce(' check ' || with_check, '') as policy
     from pg_policies where schemaname = 'public' order by policyname`,
  );
  const current = `(NULLIF(current_setting('app.account_id'::text, true), ''::text))::bigint`;
  const policies = Map.groupBy(rows, ({ table }) => table);
  expect([...policies.keys()].sort()).toEqual(tables.toSorted());
  for (const table of tables) {
    const column = table === 'accounts' ? 'id' : 'account_id';
    const own = [`company PERMISSIVE ALL (${column} = ${current})`];
    // A key, a slug and a person also show the rows that they name, read-only.
    if (table === 'accounts')
      own.push(`named PERMISSIVE SELECT (slug = NULLIF(current_setting('app.account_slug'::text, true), ''::text))`);
    if (table === 'api_keys')
      own.push(`presented PERMISSIVE SELECT (key = NULLIF(current_setting('app.api_key'::text, true), ''::text))`);
    if (table === 'memberships')
      own.push(
        `own PERMISSIVE SELECT (user_id = (NULLIF(current_setting('app.user_id'::text, true), ''::text))::bigint)`,
      );
    expect(
      policies.get(table)?.map(({ policy }) => policy),
      table,
    ).toEqual(own);
  }
});

test('[TEN-02] every primary key begins with the company', async () => {
  const others = await found(
    `select c.relname as table, coalesce(a.attname, 'no primary key') as name
     from pg_class c left join pg_index i on i.indrelid = c.oid and i.indisprimary
       left join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attname is distinct from 'account_id'`,
  );
  expect(others).toEqual(['accounts: id']);
});

test('[TEN-02] foreign keys stay inside one company', async () => {
  const { rows } = await catalogue.query<{ table: string; name: string; target: string; from: string[]; to: string[] }>(
    `select c.conrelid::regclass::text as table, c.conname as name, c.confrelid::regclass::text as target,
       (select array_agg(a.attname::text order by k.n) from unnest(c.conkey) with ordinality k(num, n)
          join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.num) as from,
       (select array_agg(a.attname::text order by k.n) from unnest(c.confkey) with ordinality k(num, n)
          join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.num) as to
     from pg_constraint c where c.contype = 'f'`,
  );
  expect(rows.length).toBeGreaterThan(50);
  for (const { table, name, target, from, to } of rows) {
    if (SERVICE_TABLES.has(table) && SERVICE_TABLES.has(target)) continue;
    const whose = target === 'accounts' ? 'id' : 'account_id';
    // Both rows belong to one company: account_id has the same position on both sides.
    expect(from.indexOf('account_id'), `${table}.${name}`).toBeGreaterThanOrEqual(0);
    expect(to[from.indexOf('account_id')], `${table}.${name}`).toBe(whose);
  }
});

test('[TEN-02] every column that names a record has a foreign key', async () => {
  const { rows } = await catalogue.query<{ column: string }>(
    `select c.conrelid::regclass::text || '.' || a.attname as column
     from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any(c.conkey)
     where c.contype = 'f'`,
  );
  const bound = new Set(rows.map(({ column }) => column));
  const free = tables.flatMap((table) =>
    (columns.get(table) ?? [])
      .filter(({ name }) => name.endsWith('_id') && name !== 'account_id')
      .map(({ name }) => `${table}.${name}`)
      .filter((column) => !bound.has(column) && !NAMES_NO_RECORD.has(column)),
  );
  expect(free).toEqual([]);
});

test('[TEN-02] whatever is unique is unique within a company', async () => {
  const { rows } = await catalogue.query<{ table: string; index: string; columns: string[] }>(
    `select i.indrelid::regclass::text as table, i.indexrelid::regclass::text as index,
       array(select a.attname::text from pg_attribute a where a.attrelid = i.indrelid and a.attnum = any(i.indkey)) as columns
     from pg_index i join pg_class c on c.oid = i.indrelid
     where c.relnamespace = 'public'::regnamespace and i.indisunique`,
  );
  const beyond = rows
    .filter(({ table, columns }) => !SERVICE_TABLES.has(table) && !columns.includes('account_id'))
    .map(({ index }) => index);
  expect(beyond.toSorted()).toEqual([...UNIQUE_BEYOND_A_COMPANY].sort());
});

test('no identity columns, no triggers, no rules: what a write does stands in its own code', async () => {
  const identities = `select attrelid::regclass::text as table, attname as name from pg_attribute
    where attidentity <> '' and attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)`;
  const triggers = `select tgrelid::regclass::text as table, tgname as name from pg_trigger where not tgisinternal`;
  const rules = `select tablename as table, rulename as name from pg_rules where schemaname = 'public'`;
  expect([...(await found(identities)), ...(await found(triggers)), ...(await found(rules))]).toEqual([]);
});

test('every table knows when its rows were written, when changed, and how often', () => {
  for (const table of tables) {
    expect(columns.get(table), table).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'created_at', type: 'timestamp with time zone' }),
        expect.objectContaining({ name: 'updated_at', type: 'timestamp with time zone' }),
        expect.objectContaining({ name: 'version', type: 'integer' }),
      ]),
    );
  }
});

test('[ID-06] numbers come from one sequence a kind for the whole service, above a thousand million', async () => {
  const { rows } = await catalogue.query<{ table: string; value: string; start: string }>(
    `select c.relname as table, pg_get_expr(d.adbin, d.adrelid) as value, s.start_value as start
     from pg_attrdef d join pg_class c on c.oid = d.adrelid
       join pg_attribute a on a.attrelid = c.oid and a.attnum = d.adnum
       left join pg_sequences s on s.sequencename = c.relname || '_id_seq'
     where c.relnamespace = 'public'::regnamespace and a.attname = 'id'`,
  );
  const numbered = rows.filter(({ table }) => !SERVICE_TABLES.has(table));
  const withId = tables.filter((table) => columns.get(table)?.some(({ name }) => name === 'id'));
  expect(numbered.map(({ table }) => table).sort()).toEqual(withId.toSorted());
  for (const { table, value, start } of numbered) {
    expect(value, table).toBe(`nextval('${table}_id_seq'::regclass)`);
    if (table !== 'accounts') expect(Number(start), table).toBeGreaterThan(1_000_000_000);
  }
});

test('[TEN-02] the role of every company’s work can’t bypass row-level security, nor become one that does', async () => {
  const { rows } = await catalogue.query(
    `select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin,
       (select count(*)::int from pg_auth_members m where m.member = r.oid) as memberships,
       (select count(*)::int from pg_class c where c.relowner = r.oid) as owns
     from pg_roles r where rolname = 'albaran_app'`,
  );
  expect(rows).toEqual([
    {
      rolsuper: false,
      rolbypassrls: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolcanlogin: false,
      memberships: 0,
      owns: 0,
    },
  ]);
});

/** A login for the test with rights on the tables; `drop` removes it. */
async function makeLogin(attributes: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `albaran_login_${randomUUID().replaceAll('-', '')}`;
  await database.admin.query(`create role ${name} login password 'secret' ${attributes}`);
  await database.admin.query(`grant select, insert, update, delete on accounts, clients to ${name}`);
  const url = new URL(database.directUrl);
  url.username = name;
  url.password = 'secret';
  return {
    url: url.href,
    async drop() {
      await database.admin.query(`drop owned by ${name}`);
      await database.admin.query(`drop role ${name}`);
    },
  };
}

test.each(['bypassrls', 'nobypassrls', 'createrole'])(
  '[TEN-02] a database login that may not act as the role of companies’ work is refused at start: %s',
  async (attributes) => {
    const login = await makeLogin(attributes);
    const open = new Database({ url: login.url });
    const name = new URL(login.url).username;
    try {
      await expect(open.prepareRole()).rejects.toThrow(
        `albaran_app, in which companies are kept apart, is not granted to the login ${name}. As an administrator of the server: grant albaran_app to ${name};`,
      );
      // Its own rights are not used either.
      const seen = open.transaction(ONE, {}, (db) => db.selectFrom('clients').select('account_id').execute());
      await expect(seen).rejects.toThrow('permission denied to set role');
      await database.admin.query(`grant albaran_app to ${name}`);
      await open.prepareRole();
      expect(await open.transaction(ONE, {}, (db) => db.selectFrom('clients').select('account_id').execute())).toEqual([
        { account_id: ONE },
      ]);
    } finally {
      await open.close();
      await login.drop();
    }
  },
);

/** Companies may add to these tables and change nothing. */
const APPEND_ONLY = [
  ...['assistant_calls', 'audit_records', 'company_images', 'invoice_registers', 'journal_entries', 'register_answers'],
];
/** The only tables from which companies may delete: expired rows, lines, formats and stages, and recomputed figures. */
const DELETED_FROM = [
  'api_keys',
  'assistant_calls',
  'audit_records',
  'call_counts',
  'delivery_note_lines',
  'document_links',
  'estimate_lines',
  'funnel_stages',
  'grants',
  'idempotency_records',
  'invoice_due_dates',
  'invoice_lines',
  'journal_entries',
  'memberships',
  'oauth_tokens',
  'product_formats',
  'product_stocks',
  'product_variations',
  'project_totals',
  'purchase_delivery_note_lines',
  'purchase_invoice_due_dates',
  'purchase_invoice_lines',
  'quota_days',
  'record_counts',
  'recurring_lines',
  'stock_movements',
  'time_entry_days',
  'webhook_deliveries',
  'webhooks',
];

/** The rights of the tenant role on each table and sequence, from PostgreSQL's catalogue. */
async function rights(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; may: string[] }>(
    `select c.relname as name, case c.relkind when 'S'
       then array(select p from unnest(array['USAGE', 'SELECT', 'UPDATE']) p where has_sequence_privilege('albaran_app', c.oid, p))
       else array(select p from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']
                    || case when current_setting('server_version_num')::int >= 170000 then array['MAINTAIN'] else '{}' end) p
                  where has_table_privilege('albaran_app', c.oid, p)
                     or (p in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES') and has_any_column_privilege('albaran_app', c.oid, p))) end as may
     from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'S', 'v', 'm', 'f')`,
  );
  return new Map(rows.map(({ name, may }) => [name, may.join(' ')]));
}

test('[TEN-02] a company’s work may do with each table and sequence what it does, and nothing else', async () => {
  const found = await rights(catalogue);
  for (const table of SERVICE_TABLES) expect(found.get(table), table).toBe('');
  for (const table of tables) {
    const update = APPEND_ONLY.includes(table) ? '' : ' UPDATE';
    expect(found.get(table), table).toBe(`SELECT INSERT${update}${DELETED_FROM.includes(table) ? ' DELETE' : ''}`);
  }
  const drawn = tables.filter((table) => table !== 'accounts').map((table) => `${table}_id_seq`);
  const others = [...found.keys()].filter((name) => !tables.includes(name) && !SERVICE_TABLES.has(name));
  expect(others).toEqual(expect.arrayContaining(['users_id_seq', 'accounts_id_seq', 'mikro_orm_migrations_id_seq']));
  for (const name of others) expect(found.get(name), name).toBe(drawn.includes(name) ? 'USAGE' : '');
});

test('[TEN-02] a start takes rights back that the role should not have, and gives those that it lacks', async () => {
  await using other = await ownDatabase();
  const before = await rights(other.admin);
  await other.admin.query(
    `grant all on all tables in schema public to albaran_app; grant all on all sequences in schema public to albaran_app;
     revoke select on invoices from albaran_app`,
  );
  await other.admin.query('alter default privileges in schema public grant select on tables to albaran_app');
  expect(await rights(other.admin)).not.toEqual(before);
  await migrate(other.directUrl);
  expect(await rights(other.admin)).toEqual(before);
  // New tables are closed until their rights are granted.
  await other.admin.query('create table notes (account_id bigint); create sequence notes_id_seq');
  const after = await rights(other.admin);
  expect([after.get('notes'), after.get('notes_id_seq')]).toEqual(['', '']);
});

/** Runs statements as the tenant role, with or without a tenant, and rolls them back. */
async function asTenant<T>(account: number | '', work: () => Promise<T>): Promise<T> {
  await database.admin.query(`begin; set local role albaran_app; set local app.account_id = '${account}'`);
  try {
    return await work();
  } finally {
    await database.admin.query('rollback');
  }
}

/** A statement's error, or the number of rows it changed; the transaction goes on. */
async function outcome(statement: string): Promise<string | number | null> {
  await database.admin.query('savepoint before');
  try {
    const { rowCount } = await database.admin.query(statement);
    await database.admin.query('release savepoint before');
    return rowCount;
  } catch (error) {
    await database.admin.query('rollback to savepoint before');
    if (!(error instanceof pg.DatabaseError)) throw error;
    // PostgreSQL uses one SQLSTATE for both.
    return error.code !== '42501' ? `${error.code}` : /row-level security/.test(error.message) ? 'isolated' : 'denied';
  }
}

const SAMPLE: Record<string, string> = {
  bigint: '1',
  integer: '1',
  numeric: '1',
  boolean: 'true',
  date: `'2026-01-01'`,
  'timestamp with time zone': 'now()',
  bytea: `''`,
  jsonb: `'{}'`,
};

/** An INSERT of a row of this company with some value for every required column. */
function insertOf(table: string, account: number): string {
  const given = (columns.get(table) ?? []).filter(({ required, generated }) => required && !generated);
  const names = given.map(({ name }) => name);
  const values = given.map(({ name, type }) => {
    if (name === 'account_id') return String(account);
    return SAMPLE[type] ?? `'${table} ${account}'`;
  });
  if (table === 'accounts')
    return `insert into accounts (id, slug, name) values (${account}, 'company-${account}', 'x')`;
  return `insert into ${table} (${names.join(', ')}) values (${values.join(', ')})`;
}

test('[TEN-02] without a company set, nothing is seen and nothing can be written, in any table', async () => {
  await asTenant('', async () => {
    for (const table of tables) {
      expect(await outcome(`select from ${table}`), table).toBe(0);
      expect(await outcome(insertOf(table, ONE)), table).toBe('isolated');
      const updated = await outcome(`update ${table} set version = version + 1`);
      expect(updated, table).toBe(APPEND_ONLY.includes(table) ? 'denied' : 0);
      expect(await outcome(`delete from ${table}`), table).toBe(DELETED_FROM.includes(table) ? 0 : 'denied');
    }
  });
});

test('[TEN-02] under one company, another’s rows are neither seen, written, changed, removed nor given away', async () => {
  await asTenant(ONE, async () => {
    for (const table of tables) {
      const whose = table === 'accounts' ? 'id' : 'account_id';
      const { rows } = await database.admin.query(`select ${whose}::int as company from ${table}`);
      expect(rows, table).toEqual([{ company: ONE }]);
      expect(await outcome(`select from ${table} where ${whose} = ${OTHER}`), table).toBe(0);
      // Without row-level security these would be duplicates, or succeed.
      expect(await outcome(insertOf(table, OTHER)), table).toBe('isolated');
      const removed = await outcome(`delete from ${table} where ${whose} = ${OTHER}`);
      expect(removed, table).toBe(DELETED_FROM.includes(table) ? 0 : 'denied');
      const updated = await outcome(`update ${table} set version = version + 1 where ${whose} = ${OTHER}`);
      expect(updated, table).toBe(APPEND_ONLY.includes(table) ? 'denied' : 0);
      if (APPEND_ONLY.includes(table)) continue;
      expect(await outcome(`update ${table} set ${whose} = ${OTHER}`), table).toBe('isolated');
      expect(await outcome(`update ${table} set version = version + 1`), table).toBe(1);
    }
  });
});

test('[TEN-02] naming another company’s key or slug shows that one row and lets nobody change it', async () => {
  await asTenant(ONE, async () => {
    await database.admin.query(
      `set local app.api_key = 'api_keys ${OTHER}'; set local app.account_slug = 'company-${OTHER}'`,
    );
    expect(await outcome('select from api_keys')).toBe(2);
    expect(await outcome('select from accounts')).toBe(2);
    expect(await outcome('select from clients')).toBe(1);
    expect(await outcome(`update api_keys set can_write = false where account_id = ${OTHER}`)).toBe(0);
    expect(await outcome(`delete from api_keys where account_id = ${OTHER}`)).toBe(0);
    expect(await outcome(`update accounts set name = 'mine' where id = ${OTHER}`)).toBe(0);
  });
});

test('[TEN-02] a company’s work can’t read the secrets of the service, nor change what was audited', async () => {
  await asTenant(ONE, async () => {
    for (const table of SERVICE_TABLES) {
      expect(await outcome(`select from ${table}`), table).toBe('denied');
      expect(await outcome(`delete from ${table}`), table).toBe('denied');
    }
    for (const table of APPEND_ONLY) {
      expect(await outcome(`update ${table} set created_at = now()`), table).toBe('denied');
      // Old changes are purged; what was audited of access stays.
      expect(await outcome(`delete from ${table}`), table).toBe(DELETED_FROM.includes(table) ? 1 : 'denied');
      expect(await outcome(`truncate ${table}`), table).toBe('denied');
    }
    expect(await outcome('truncate clients')).toBe('denied');
    expect(await outcome('alter table clients disable row level security')).toBe('denied');
    expect(await outcome('create table hideout ()')).toBe('denied');
  });
});

test('[TEN-02] the tenant of one transaction is gone in the next one on the same connection', async () => {
  const open = new Database({ url: database.url, poolSize: 1, ...poolerOptions() });
  try {
    await open.prepareRole();
    const mine = async (account: number) =>
      open.transaction(account, {}, (db) => db.selectFrom('clients').select('account_id').execute());
    expect(await mine(ONE)).toEqual([{ account_id: ONE }]);
    expect(await mine(OTHER)).toEqual([{ account_id: OTHER }]);
    await expect(open.transaction(ONE, { write: true }, () => Promise.reject(new Error('stop')))).rejects.toThrow(
      'stop',
    );
    expect(await mine(OTHER)).toEqual([{ account_id: OTHER }]);
    await expect(mine(0)).rejects.toThrow('Not a company');
    await expect(mine(1.5)).rejects.toThrow('Not a company');
    await expect(mine(Number.NaN)).rejects.toThrow('Not a company');
  } finally {
    await open.close();
  }
});
