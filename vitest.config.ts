import { defineConfig } from 'vitest/config';
import { citusInstalled } from './test/system/needs.ts';

/** The tests whose service works on the shared database alone, if there is a cluster to spread it over. */
function onCitus(): string[] {
  if (process.env.TEST_CITUS !== 'yes') return [];
  if (process.env.TEST_CITUS_URL || citusInstalled())
    return ['test/{account-file,lifecycle,oauth,operations,platform}/**/*.test.ts', 'test/registry.test.ts'];
  console.warn('Skipped: this PostgreSQL has no Citus, and TEST_CITUS_URL names no cluster (docs/scale.md)');
  return [];
}

// `system` needs more than Node and npm (a browser, Redis, PgBouncer, proxies, a PostgreSQL of the system, the registry), or starts so
// many processes that it is not for every change; everything else runs on a fresh clone.
export default defineConfig({
  test: {
    passWithNoTests: process.env.TEST_CITUS === 'yes',
    globalSetup: ['test/helpers/database-server.ts'],
    maxWorkers: 2,
    // Files of one worker share what they import: nothing in it is changed by a test, and loading it anew costs a second each.
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'main', include: ['test/**/*.test.ts'], exclude: ['test/system/**'] } },
      { extends: true, test: { name: 'citus', include: onCitus(), testTimeout: 120_000 } },
      { extends: true, test: { name: 'system', include: ['test/system/**/*.test.ts'] } },
    ],
  },
});
