// What is done by the clock, by one process of all: whoever holds the run's row does it, and leaves there which time of the
// schedule it was. The row is held by an open transaction, so that a process that dies lets go of it at once.
import pg from 'pg';

const CONNECT_TIMEOUT_MS = 10_000;

// The transaction waits idly while the work is done; a machine that vanished without a word is noticed within a minute.
const BEGIN = `begin; set local idle_in_transaction_session_timeout = 0;
  set local tcp_keepalives_idle = 30; set local tcp_keepalives_interval = 10; set local tcp_keepalives_count = 3`;

/**
 * Does `work` for this time (`slot`) of the schedule `name`. `seen`: it was done already, for this time or a later one;
 * `held`: another process is at it. `url` is the database's own, without a pooler; a connection is open meanwhile.
 */
export async function runOnce(
  url: string,
  name: string,
  slot: Temporal.Instant,
  work: () => Promise<void>,
): Promise<'ran' | 'seen' | 'held'> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: `albaran ${name}`,
  });
  client.on('error', () => {}); // Losing it lets another process in, no more: the statement that follows says so.
  await client.connect();
  try {
    await client.query('insert into scheduled_runs (name) values ($1) on conflict (name) do nothing', [name]);
    await client.query(BEGIN);
    const { rows } = await client.query<{ seen: boolean | null }>(
      'select slot >= $2 as seen from scheduled_runs where name = $1 for update skip locked',
      [name, slot.toString()],
    );
    const [run] = rows;
    if (!run) return 'held';
    if (run.seen) return 'seen';
    await work();
    await client.query('update scheduled_runs set slot = $2, finished_at = clock_timestamp() where name = $1', [
      name,
      slot.toString(),
    ]);
    await client.query('commit');
    return 'ran';
  } finally {
    await client.end();
  }
}
