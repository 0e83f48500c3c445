// Connection settings of a database URL, TLS included.
import pg from 'pg';

/**
 * Reads the files that the URL names (`sslrootcert`, `sslcert`, `sslkey`) once. pg would read them for each connection; if one
 * were missing then, the pool would throw inside an event handler, and the uncaught error would end the process.
 */
export function connectionTo(url: string): pg.PoolConfig {
  const { ssl } = new pg.Client(url);
  const bare = new URL(url);
  const direct = bare.searchParams.get('sslnegotiation') === 'direct';
  // Parameters in the URL would override `ssl`.
  for (const name of [...bare.searchParams.keys()]) if (name.startsWith('ssl')) bare.searchParams.delete(name);
  return { connectionString: bare.href, ssl, ...(direct && { sslnegotiation: 'direct' }) };
}
