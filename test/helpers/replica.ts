// A PostgreSQL with a streaming replica for one test, from the embedded binaries, which every machine has.
import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { vi } from 'vitest';
import { startEmbeddedPostgres } from '../../server/postgres/embedded-postgres.ts';
import { migrate } from '../../server/postgres/migrations.ts';

export interface Replicated extends AsyncDisposable {
  url: string;
  replicaUrl: string;
  /** Stops replay on the replica; it still receives new data. */
  pause(): Promise<void>;
  /** Delays replay on the replica by an hour. */
  delay(): Promise<void>;
  /** Undoes both. */
  resume(): Promise<void>;
  /** Resolves when the replica has replayed everything. */
  untilReplayed(): Promise<void>;
}

/** A migrated database with its replica. Not an ephemeral one, which acknowledges commits before they are in its log. */
export async function startReplicated(): Promise<Replicated> {
  const folder = await mkdtemp(join(tmpdir(), 'albaran-replica-'));
  await chmod(folder, 0o755); // Lets PostgreSQL's user enter if the tests run as root.
  const dataDir = join(folder, 'primary');
  const first = await startEmbeddedPostgres({ dataDir });
  await migrate(first.url);
  await first.stop();
  const replicaDir = join(folder, 'replica');
  await cp(dataDir, replicaDir, { recursive: true });
  await rm(join(replicaDir, 'postgres.port'));
  const primary = await startEmbeddedPostgres({ dataDir });
  const { username, password, port } = new URL(primary.url);
  const upstream = `host=127.0.0.1 port=${port} user=${username} password=${password}`;
  await writeFile(join(replicaDir, 'postgres', 'standby.signal'), '');
  await writeFile(join(replicaDir, 'postgres', 'postgresql.auto.conf'), `primary_conninfo = '${upstream}'\n`);
  const replica = await startEmbeddedPostgres({ dataDir: replicaDir });
  const here = new pg.Client({ connectionString: primary.url });
  const there = new pg.Client({ connectionString: replica.url });
  await Promise.all([here.connect(), there.connect()]);
  const value = async (client: pg.Client, sql: string, values: unknown[] = []): Promise<unknown> =>
    (await client.query<{ value: unknown }>(sql, values)).rows[0]?.value;
  const setDelay = async (delay: string) => {
    await there.query(`alter system set recovery_min_apply_delay = '${delay}'`);
    await there.query('select pg_reload_conf()');
    await vi.waitUntil(() => value(there, `select current_setting('recovery_min_apply_delay') = '${delay}' as value`));
  };
  return {
    url: primary.url,
    replicaUrl: replica.url,
    async pause() {
      await there.query('select pg_wal_replay_pause()');
      const paused = () => value(there, `select pg_get_wal_replay_pause_state() = 'paused' as value`);
      await vi.waitUntil(paused, { timeout: 10_000 });
    },
    delay: () => setDelay('1h'),
    async resume() {
      await there.query('select pg_wal_replay_resume()');
      await setDelay('0');
    },
    async untilReplayed() {
      const written = await value(here, 'select pg_current_wal_flush_lsn()::text as value');
      const replayed = () => value(there, 'select pg_last_wal_replay_lsn() >= $1::pg_lsn as value', [written]);
      await vi.waitUntil(replayed, { timeout: 10_000 });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([here.end(), there.end()]);
      await replica.stop();
      await primary.stop();
      await rm(folder, { recursive: true });
    },
  };
}
