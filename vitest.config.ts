import { defineConfig } from 'vitest/config';

// `system` needs more than Node and npm (a browser, Redis, PgBouncer, a PostgreSQL of the system, the registry), or starts so
// many processes that it is not for every change; everything else runs on a fresh clone.
export default defineConfig({
  test: {
    globalSetup: ['test/helpers/database-server.ts'],
    maxWorkers: 2,
    // Files of one worker share what they import: nothing in it is changed by a test, and loading it anew costs a second each.
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'main', include: ['test/**/*.test.ts'], exclude: ['test/system/**'] } },
      { extends: true, test: { name: 'system', include: ['test/system/**/*.test.ts'] } },
    ],
  },
});
