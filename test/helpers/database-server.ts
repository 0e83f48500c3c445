// One PostgreSQL for the whole run: TEST_DATABASE_URL, else a container where Docker answers, else the embedded one.
// On it, one migrated database that all tests share (each has companies of its own) and another that nobody connects to, from
// which a test's own are copied; both are dropped at the end.
// With TEST_POOLER=pgbouncer the service reaches it, and every database of a test's own, through PgBouncer.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgreSqlContainer } from '@testcontainers/postgresql';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../platform/embedded-postgres.ts';
import { migrate } from '../../platform/migrations.ts';
import { startPgBouncer } from './pgbouncer.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The shared, migrated database. */
    databaseUrl: string;
    /** A database of the same server from which others can be created and dropped. */
    adminUrl: string;
    /** The name of a migrated database to copy. */
    template: string;
    /** Where the pooler listens, on 127.0.0.1, if the tests run with one: `databaseUrl` leads there. */
    poolerPort: number | undefined;
  }
}

interface Running {
  url: string;
  stop(): Promise<void>;
}

async function startServer(): Promise<Running> {
  const given = process.env.TEST_DATABASE_URL;
  if (given) return { url: given, stop: async () => {} };
  if (dockerAnswers()) {
    const container = await new PostgreSqlContainer('postgres:18').start();
    return { url: container.getConnectionUri(), stop: async () => void (await container.stop()) };
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'albaran-test-'));
  const embedded = await startEmbeddedPostgres({ dataDir, ephemeral: true });
  return {
    url: embedded.url,
    async stop() {
      await embedded.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function dockerAnswers(): boolean {
  try {
    execFileSync('docker', ['info'], { stdio: 'ignore', timeout: 5_000 });
    return true;
  } catch {
    return false;
  }
}

export default async function setup(project: TestProject) {
  const server = await startServer();
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  const name = `albaran_test_${process.pid}_${Date.now()}`;
  const template = `${name}_template`;
  const url = new URL(server.url);
  await admin.query(`create database ${template}`);
  url.pathname = `/${template}`;
  await migrate(url.href);
  await admin.query(`create database ${name} template ${template}`);
  url.pathname = `/${name}`;
  const pooler = process.env.TEST_POOLER === 'pgbouncer' ? await startPgBouncer(server.url) : undefined;
  project.provide('databaseUrl', pooler?.through(url.href) ?? url.href);
  project.provide('adminUrl', server.url);
  project.provide('template', template);
  project.provide('poolerPort', pooler?.port);
  return async () => {
    await pooler?.[Symbol.asyncDispose]();
    for (const made of [name, template]) await admin.query(`drop database ${made} with (force)`);
    await admin.end();
    await server.stop();
  };
}
