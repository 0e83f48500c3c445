// Runs a scheduled job in one of the processes: the one that gets the job's lock runs it, and stores the handled time in the job's
// row. It is a session lock, because a transaction open during the run would keep vacuum from removing dead rows. If the process
// dies, the lock is released at once.
import pg from 'pg';

const CONNECT_TIMEOUT_MS = 10_000;

// An arbitrary number, the same in every process. Two-number locks do not conflict with one-number locks (migrations).
const LOCKS = 720_311_803;

// The session is idle during the run. Keepalives detect a vanished machine within a minute.
const SESSION = `set idle_session_timeout = 0;
  set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3`;

/**
 * Runs `work` for the time `slot` of the schedule `name`. Returns `seen` if this time or a later one was handled already, and `held`
 * if another process is running it. `url` must not go through a pooler; one connection stays open during the run.
 *
 * The previous version locks the row instead; if the row is locked, the result is `held`. It does not know this lock, so during an
 * upgrade two processes may run at once, and the work must tolerate that. Renewals do, through the unique key of a note's cycle;
 * the purge does, because it only deletes expired rows.
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
  client.on('error', () => {}); // If the connection is lost, another process may start; the next statement reports the error.
  await client.connect();
  try {
    await client.query(SESSION);
    const lock = 'select pg_try_advisory_lock($1, hashtext($2)) as mine';
    const { rows: locks } = await client.query<{ mine: boolean }>(lock, [LOCKS, name]);
    if (!locks[0]?.mine) return 'held';
    await client.query('insert into scheduled_runs (name) values ($1) on conflict (name) do nothing', [name]);
    const { rows } = await client.query<{ seen: boolean | null }>(
      'select slot >= $2 as seen from scheduled_runs where name = $1 for update skip locked',
      [name, slot.toString()],
    );
    const [run] = rows;
    if (!run) return 'held';
    if (run.seen) return 'seen';
    await work();
    await client.query(
      'update scheduled_runs set slot = greatest(slot, $2), finished_at = clock_timestamp() where name = $1',
      [name, slot.toString()],
    );
    return 'ran';
  } finally {
    await client.end();
  }
}
