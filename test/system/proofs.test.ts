// The proofs run and find nothing, in short trials; the full runs are the proofs.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { CALLERS } from '../faults/fair/rude.ts';

const FAULTS = join(import.meta.dirname, '../faults');
const PROOF_MS = 120_000;

async function prove(proof: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TEST_DATABASE_URL: inject('adminUrl') };
  const options = { env, timeout: PROOF_MS };
  const { stdout } = await promisify(execFile)(process.execPath, [join(FAULTS, proof), ...args], options);
  return stdout;
}

test('[TEN-01] [TEN-02] npm run prove:isolation, on four operations', { timeout: PROOF_MS }, async () => {
  const printed = await prove('isolation.ts', '--few');
  expect(printed).toContain('4 operations');
  expect(printed).toMatch(/^row-level security alone +\d{3,} +\d{3,} +0 +0 +0 +0$/m);
  expect(printed).toMatch(/^the statements alone +\d{3,} +\d{3,} +0 +0 +0 +0$/m);
  // Without both it leaks: the proof can fail.
  expect(printed).toMatch(/^neither \(has to leak\) +\d{3,} +\d{3,} +[1-9]/m);
});

test('[ENV-01] [ENV-04] npm run prove:input, with few requests', { timeout: PROOF_MS }, async () => {
  const printed = await prove('input.ts', '--seed', '1', '--requests', '300');
  expect(printed).toContain('Input holds. Seed 1.');
  for (const door of ['v1', 'v0', 'tRPC', 'MCP']) expect(printed).toMatch(new RegExp(`^${door} +\\d+ +[1-9]`, 'm'));
  expect(printed).toMatch(/^errors in the log +0$/m);
});

test('[IDEM-01] npm run prove:once, with two kills and a restart', { timeout: PROOF_MS }, async () => {
  const printed = await prove('once.ts', '--kills', '2', '--restarts', '1');
  expect(printed).toMatch(/^calls acknowledged +[1-9]/m);
  expect(printed).toMatch(/^the connector +[1-9]/m);
  expect(printed).toMatch(/^starts of the service +[3-9]/m);
  expect(printed).toMatch(/^violations +0$/m);
});

test('[JRN-01] [JRN-02] npm run prove:journal, with two kills, a restart and two imports', {
  timeout: PROOF_MS,
}, async () => {
  const printed = await prove('journal.ts', '--kills', '2', '--restarts', '1', '--imports', '2');
  expect(printed).toMatch(/^changes in the journal +[1-9]/m);
  expect(printed).toMatch(/^records that changed +[1-9]/m);
  expect(printed).toMatch(/^starts of the service +[3-9]/m);
  expect(printed).toMatch(/^violations +0$/m);
});

test('[DOC-01] npm run prove:documents, with two kills, a restart and an import', { timeout: PROOF_MS }, async () => {
  const printed = await prove('documents.ts', '--kills', '2', '--restarts', '1', '--imports', '1');
  expect(printed).toMatch(/^seals recomputed +[1-9]/m);
  expect(printed).toMatch(/^changes behind the service, each named +[1-9]/m);
  expect(printed).toMatch(/^violations +0$/m);
});

test('[ENV-04] [IDEM-01] npm run prove:load, for seconds', { timeout: PROOF_MS }, async () => {
  const printed = await prove('load.ts', '--seconds', '3', '--away', '1', '--held', '2');
  // Served, refused with 503, waiting for the same call (409), and anything else.
  expect(printed).toMatch(/^\d times as much +[\d,]+ +[1-9][\d,]* +[1-9][\d,]* +0 +0 /m);
  expect(printed).toMatch(/^the database away +\d+ +0 +[1-9]\d* +0 +0 /m);
  expect(printed).toMatch(/^PostgreSQL takes no connection +\d+ +0 +[1-9]\d* +0 +0 /m);
  expect(printed).toMatch(/^a table locked: writes +\d+ +\d+ +[1-9]\d* +\d+ +0 /m);
  // If nothing can be mounted, it says so.
  expect(printed).toMatch(/^(none for its log: writes +\d+ +\d+ +[1-9]\d* +\d+ +0 |A FULL DISK WAS NOT TRIED)/m);
  expect(printed).toContain('The service holds under load.');
});

test('[FAIR-01] [FAIR-04] npm run prove:fair, for seconds', { timeout: PROOF_MS }, async () => {
  // Times beside other tests prove nothing: here every caller has to call and get answers.
  const printed = await prove('fair.ts', '--seconds', '1', '--small').catch(({ stdout }: { stdout: string }) => stdout);
  expect(printed).toMatch(/^nobody +[1-9]\d* +0 /m);
  for (const caller of CALLERS) expect(printed).toMatch(new RegExp(`^${caller} +[1-9]\\d* .* \\d+: \\d`, 'm'));
  expect(printed).toMatch(/^(Nobody pays for another|Not proved)\.$/m);
});

test('[AUTH-01] npm run prove:timing, with few refusals', { timeout: PROOF_MS }, async () => {
  // With so few, some may differ by chance: here all have to be measured.
  const printed = await prove('timing.ts', '--keys', '10', '--people', '3').catch(
    ({ stdout }: { stdout: string }) => stdout,
  );
  for (const kind of [
    'unknown key',
    'wrong secret',
    'revoked key',
    'expired key',
    'unknown e-mail',
    'wrong password',
  ]) {
    expect(printed).toMatch(new RegExp(`^${kind} +\\d+ +\\d+\\.\\d+$`, 'm'));
  }
  expect(printed).toMatch(/^Refusals (take as long whatever they are for|can be told apart by their time)\.$/m);
});

test('[DOC-02] npm run prove:verifactu says where the schemas are, which are not part of the project', async () => {
  const stderr = await prove('verifactu.ts', '--schemas', FAULTS).catch((error: { stderr: string }) => error.stderr);
  expect(stderr).toContain(`${FAULTS} lacks schemas.`);
  for (const file of ['SuministroInformacion.xsd', 'SuministroLR.xsd', 'xmldsig-core-schema.xsd'])
    expect(stderr).toMatch(new RegExp(`^  ${file}  https?://\\S+/${file}$`, 'm'));
});
