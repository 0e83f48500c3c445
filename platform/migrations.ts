// Brings a database forward to this version's schema: the SQL files of entities/migrations, in order, each once.
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';

const FOLDER = new URL('../entities/migrations/', import.meta.url);
// Any number will do, as long as every process of the service uses the same.
const LOCK = 7_203_118_001;
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Runs what is missing, under an advisory lock: two servers may start at once. Answers the names of what was run.
 * Throws when the database is newer than this version.
 */
export async function migrate(url: string): Promise<string[]> {
  const available = await migrationNames();
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => {}); // A connection that is lost fails the statement under way, which says so.
  await client.connect();
  try {
    // Nearly always there is nothing to do, and nobody to wait for to find that out.
    if ((await missing(client, available)).length === 0) return [];
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    const names = await missing(client, available);
    if (names.length > 0) await run(url, available);
    return names;
  } finally {
    await client.end();
  }
}

const migrationNames = async () =>
  (await readdir(FOLDER))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -4))
    .sort();

async function missing(client: pg.Client, available: readonly string[]): Promise<string[]> {
  const done = await executed(client);
  const unknown = done.filter((name) => !available.includes(name));
  if (unknown.length > 0) {
    throw new Error(`The database is newer than this version of Albaran: it has ${unknown.join(', ')}`);
  }
  return available.filter((name) => !done.includes(name));
}

async function executed(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('public.mikro_orm_migrations') is not null as there`,
  );
  if (!rows[0]?.there) return [];
  return (await client.query<{ name: string }>('select name from mikro_orm_migrations order by id')).rows.map(
    ({ name }) => name,
  );
}

async function run(url: string, names: string[]): Promise<void> {
  // Loaded here, because it takes longer than all the rest and a start rarely needs it.
  const { Migration, Migrator } = await import('@mikro-orm/migrations');
  const { MikroORM } = await import('@mikro-orm/postgresql');
  const { entities } = await import('../entities/index.ts');
  const migrationsList = await Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(`${name}.sql`, FOLDER), 'utf8');
      return {
        name,
        class: class extends Migration {
          override up() {
            this.addSql(sql);
          }
        },
      };
    }),
  );
  const orm = await MikroORM.init({
    entities: [...entities],
    clientUrl: url,
    extensions: [Migrator],
    // What was run is the answer of migrate(); whoever asked tells it in a log of its own.
    logger: () => {},
    migrations: { migrationsList, snapshot: false, disableForeignKeys: false, allOrNothing: true },
  });
  try {
    await orm.migrator.up();
  } finally {
    await orm.close();
  }
}
