// The databases of a run: copies of kept templates, so that every run starts with the same data. A template is named by the
// version of what fills it. Migrations update it as they would a real database; it is made anew if an applied one has changed.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { importAccountFile } from '../account-file/import.ts';
import { createAccount } from '../account-file/new-account.ts';
import { Database } from '../platform/database.ts';
import { migrate } from '../server/postgres/migrations.ts';
import { onDatabase } from './cluster.ts';
import { companyAt } from './company/index.ts';
import { smallCompany } from './company/small.ts';

const MIGRATIONS = join(import.meta.dirname, '../entities/migrations');
const COMPANY = join(import.meta.dirname, 'company');
const FLOOR_SCHEMA = join(import.meta.dirname, 'floor/schema.sql');
const IMPORT_MS = 3_600_000;

export const SLUG = 'medida';

type Tell = (line: string) => void;

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 10);
const textsOf = (folder: string) =>
  readdirSync(folder)
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8'));

const tagOf = (scale: number) => String(scale).replace('.', '_');

/** The floor's script; for trials at a smaller scale with fewer of the slow rows. */
function floorSchema(scale: number): string {
  const script = readFileSync(FLOOR_SCHEMA, 'utf8');
  const fewer = (count: string) => String(Math.round(Number(count) * Math.min(scale, 1)));
  return script.replace(/(?<=generate_series\([01], )(999999|66668)(?=\) n)/g, fewer);
}

/** The URL of another database of the same server. */
export function sibling(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

/** The name of the template with the company at this scale; made if missing. */
export async function productTemplate(url: string, scale: number, tell: Tell): Promise<string> {
  const prefix = `bench_product_${tagOf(scale)}_`;
  const name = prefix + digest(textsOf(COMPANY).join('\0'));
  const wanted = textsOf(MIGRATIONS).map(digest);
  await keep(url, { prefix, name }, async (kept) => {
    const done = kept?.split(' ') ?? [];
    if (kept !== undefined && done.every((migration, index) => wanted[index] === migration)) {
      if (done.length < wanted.length) await bringForward(sibling(url, name));
    } else await remake(url, name, () => fillProduct(sibling(url, name), scale, tell));
    return wanted.join(' ');
  });
  return name;
}

/** The name of the template with so many small companies, each with a key; made if missing or of other migrations. */
export async function manyTemplate(url: string, companies: number, tell: Tell): Promise<string> {
  const prefix = `bench_many_${companies}_`;
  const name = prefix + digest([...textsOf(COMPANY), ...textsOf(MIGRATIONS)].join('\0'));
  await keep(url, { prefix, name }, async (kept) => {
    if (kept === undefined) await remake(url, name, () => fillMany(sibling(url, name), companies, tell));
    return 'made';
  });
  return name;
}

/** The name of the template with the floor's data; made if missing. */
export async function floorTemplate(url: string, scale: number, tell: Tell): Promise<string> {
  const schema = floorSchema(scale);
  const prefix = `bench_floor_${tagOf(scale)}_`;
  const name = prefix + digest(schema);
  await keep(url, { prefix, name }, async (kept) => {
    if (kept === undefined) {
      tell("Making the floor's database");
      await remake(url, name, () => fillFloor(sibling(url, name), schema));
    }
    return 'made';
  });
  return name;
}

/** A copy of a template, dropped when disposed; `label` distinguishes copies. */
export async function copyOf(url: string, template: string, label = ''): Promise<{ url: string } & AsyncDisposable> {
  const name = `bench_run_${template}${label}`;
  const drop = () => onDatabase(url, (client) => client.query(`drop database if exists ${name} with (force)`));
  await drop();
  await onDatabase(url, (client) => client.query(`create database ${name} template ${template} strategy file_copy`));
  return { url: sibling(url, name), [Symbol.asyncDispose]: async () => void (await drop()) };
}

/**
 * Makes or updates a template. `prepare` gets the note on an existing complete one and returns the new note. Drops those of
 * earlier versions.
 */
async function keep(
  url: string,
  { prefix, name }: { prefix: string; name: string },
  prepare: (note: string | undefined) => Promise<string>,
): Promise<void> {
  const { rows } = await onDatabase(url, (client) =>
    client.query<{ name: string; note: string | null }>(
      `select datname as name, shobj_description(oid, 'pg_database') as note from pg_database where starts_with(datname, $1)`,
      [prefix],
    ),
  );
  for (const old of rows.filter((row) => row.name !== name)) {
    await onDatabase(url, (client) => client.query(`drop database ${old.name} with (force)`));
  }
  const note = await prepare(rows.find((row) => row.name === name)?.note ?? undefined);
  await onDatabase(url, (client) => client.query(`comment on database ${name} is '${note}'`));
}

async function remake(url: string, name: string, fill: () => Promise<void>): Promise<void> {
  await onDatabase(url, async (client) => {
    await client.query(`drop database if exists ${name} with (force)`);
    await client.query(`create database ${name}`);
  });
  await fill();
}

async function bringForward(url: string): Promise<void> {
  await migrate(url);
  await onDatabase(url, (client) => client.query('vacuum analyze'));
}

async function fillProduct(url: string, scale: number, tell: Tell): Promise<void> {
  await migrate(url);
  await addCompany(url, SLUG, scale, tell);
  await onDatabase(url, (client) => client.query('vacuum analyze'));
}

async function fillMany(url: string, companies: number, tell: Tell): Promise<void> {
  await migrate(url);
  await importCompany(url, SLUG, smallCompany(), tell);
  await onDatabase(url, (client) => copyCompany(client, companies, tell));
}

/** Numbers from here on are those of the service's sequences; smaller ones a company brings along. */
const FIRST_NUMBER = 1_000_000_000;
/** More than a small company has of anything. */
const NUMBERS_A_COMPANY = 1000;

/**
 * Copies the only company until there are so many, as a superuser and without checks: the copies of what an import wrote. Own
 * numbers stay as they are, the service's follow those of the company before.
 */
async function copyCompany(client: pg.Client, companies: number, tell: Tell): Promise<void> {
  await client.query('set session_replication_role = replica');
  // Automatic issuing is on, and nothing is due.
  await client.query('update accounts set automatic_issuing_since = current_date - 60');
  await client.query('update recurrings set entered_on = current_date - 60, last_invoiced_on = current_date');
  const { rows: tables } = await client.query<{ name: string; columns: string[]; numbers: string[] }>(
    `select c.relname as name, array_agg(quote_ident(a.attname) order by a.attnum) as columns,
       array_agg(a.attname::text) filter (where a.atttypid = 'bigint'::regtype and a.attname ~ '^(.*_)?id$') as numbers
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
     group by c.oid having c.relname = 'accounts' or bool_or(a.attname = 'account_id') order by c.relname`,
  );
  for (const { name, columns, numbers } of tables) {
    const values = columns.map((column) => {
      if (column === 'account_id' || (name === 'accounts' && column === 'id')) return `t.${column} + k.copy`;
      if (name === 'accounts' && column === 'slug') return `t.slug || '-' || k.copy`;
      if (!numbers.includes(column)) return `t.${column}`;
      return `case when t.${column} > ${FIRST_NUMBER} then t.${column} + k.copy * ${NUMBERS_A_COMPANY} else t.${column} end`;
    });
    await client.query(
      `insert into ${name} (${columns.join(', ')})
       select ${values.join(', ')} from generate_series(1, ${companies - 1}) as k (copy), ${name} t`,
    );
    tell(`Copied ${name}`);
  }
  await client.query(KEYS);
  await client.query(
    `select setval(c.oid::regclass, ${FIRST_NUMBER} + ${(companies + 1) * NUMBERS_A_COMPANY}) from pg_class c
     where c.relkind = 'S' and c.relnamespace = 'public'::regnamespace and c.relname <> 'accounts_id_seq'`,
  );
  await client.query(`select setval('accounts_id_seq', ${companies})`);
  await client.query('vacuum analyze');
}

/** Gives every company its key: ak_1 with sk_1, and so on. */
const KEYS = `insert into api_keys (account_id, key, secret_hash, name, can_write)
  select id, 'ak_' || id, sha256(convert_to('sk_' || id, 'UTF8')), 'bench', true from accounts`;

/** Imports a company of this scale into a migrated database. */
export const addCompany = (url: string, slug: string, scale: number, tell: Tell): Promise<void> =>
  importCompany(url, slug, companyAt(scale), tell);

async function importCompany(url: string, slug: string, lines: Iterable<string>, tell: Tell): Promise<void> {
  const database = new Database({ url, statementTimeoutMs: IMPORT_MS });
  try {
    await database.prepareRole();
    const { id } = await createAccount(database, { slug, name: slug });
    let told = 0;
    const onProgress = (records: number) => {
      if (records < told + 100_000) return;
      told = records;
      tell(`Importing ${slug}: ${records} records`);
    };
    const { records } = await importAccountFile(database, id, lines, { onProgress });
    tell(`Imported ${slug}: ${records} records`);
  } finally {
    await database.pool.end();
  }
}

async function fillFloor(url: string, schema: string): Promise<void> {
  // psql's own commands, and statements that must run alone, are not for the driver.
  const vacuum = 'VACUUM ANALYZE;';
  const [first = '', after = ''] = schema.replace(/^\\.*$/gm, '').split(vacuum);
  await onDatabase(url, async (client) => {
    for (const part of [first, 'VACUUM ANALYZE', after]) if (part.trim()) await client.query(part);
  });
}
