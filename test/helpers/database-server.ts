// One PostgreSQL for the whole run: TEST_DATABASE_URL, else a container if Docker is available, else the embedded one.
// It has one migrated database that all tests share (each with companies of its own) and a template from which tests copy their own
// databases. Both are dropped at the end. With TEST_POOLER=pgbouncer the service connects to all of them through PgBouncer.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgreSqlContainer } from '@testcontainers/postgresql';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { distribute, obstacle, planDistribution } from '../../server/postgres/distribution.ts';
import { startEmbeddedPostgres } from '../../server/postgres/embedded-postgres.ts';
import { migrate } from '../../server/postgres/migrations.ts';
import { startCitus } from './citus.ts';
import { startPgBouncer } from './pgbouncer.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The shared, migrated database. */
    databaseUrl: string;
    /** A database of the same server, to create and drop others from. */
    adminUrl: string;
    /** The name of a migrated database to copy. */
    template: string;
    /** The pooler's port on 127.0.0.1, if the tests run with one: `databaseUrl` connects through it. */
    poolerPort: number | undefined;
  }
}

interface Running {
  url: string;
  /** A database with Citus, for all tests. */
  spread?: string;
  stop(): Promise<void>;
}

async function startCluster(): Promise<Running> {
  const given = process.env.TEST_CITUS_URL;
  if (given) return { url: given, spread: given, stop: async () => {} };
  const citus = await startCitus();
  return {
    url: citus.coordinator.urlOf('postgres', 'postgres'),
    spread: await citus.database('albaran_spread'),
    stop: async () => citus[Symbol.asyncDispose](),
  };
}

/** Migrated, and then spread by company. */
async function spreadByCompany(url: string): Promise<void> {
  await migrate(url);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const problem = await obstacle(client);
    if (problem) throw new Error(problem);
    await Array.fromAsync(distribute(client, await planDistribution(client)));
  } finally {
    await client.end();
  }
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
  const server = await (process.env.TEST_CITUS === 'yes' ? startCluster() : startServer());
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  const name = `albaran_test_${process.pid}_${Date.now()}`;
  const template = `${name}_template`;
  const url = new URL(server.url);
  await admin.query(`create database ${template}`);
  url.pathname = `/${template}`;
  await migrate(url.href);
  if (server.spread) {
    await spreadByCompany(server.spread);
  } else {
    await admin.query(`create database ${name} template ${template}`);
    url.pathname = `/${name}`;
  }
  const shared = server.spread ?? url.href;
  const pooler = process.env.TEST_POOLER === 'pgbouncer' ? await startPgBouncer(server.url) : undefined;
  project.provide('databaseUrl', pooler?.through(shared) ?? shared);
  project.provide('adminUrl', server.url);
  project.provide('template', template);
  project.provide('poolerPort', pooler?.port);
  return async () => {
    await pooler?.[Symbol.asyncDispose]();
    for (const made of [name, template]) await admin.query(`drop database if exists ${made} with (force)`);
    await admin.end();
    await server.stop();
  };
}
