// `npm run rules`: lists the rules that no passing test covers. A test covers a rule if its title has the rule's id, `[CAL-03]`.
// test/rules.json lists all ids. Reads a report of vitest's JSON reporter, or runs the tests to get one.
//
//   npm run rules                    run the tests, then report
//   npm run rules -- report.json     report on an earlier run
//   npm run rules -- --strict        fail if a rule has no passing test, an id is unknown or a test fails
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';

const root = join(import.meta.dirname, '..');
const manifest = z.record(z.string(), z.array(z.string()));
const report = z.object({
  testResults: z.array(z.object({ assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })) })),
});

const { values, positionals } = parseArgs({ allowPositionals: true, options: { strict: { type: 'boolean' } } });
const sections = manifest.parse(JSON.parse(readFileSync(join(root, 'test', 'rules.json'), 'utf8')));
const tests = report
  .parse(JSON.parse(positionals[0] ? readFileSync(positionals[0], 'utf8') : runTests()))
  .testResults.flatMap(({ assertionResults }) => assertionResults);

const passing = new Map<string, number>();
const failing = new Map<string, number>();
for (const { fullName, status } of tests) {
  const counts = status === 'passed' ? passing : status === 'failed' ? failing : undefined;
  if (counts) for (const id of idsIn(fullName)) counts.set(id, (counts.get(id) ?? 0) + 1);
}

const known = new Set(Object.values(sections).flat());
const unproven = [...known].filter((id) => !passing.has(id));
const unknown = [...new Set([...passing.keys(), ...failing.keys()])].filter((id) => !known.has(id));

for (const [section, ids] of Object.entries(sections)) {
  console.log(`\n${section}`);
  for (const id of ids) {
    const failures = failing.get(id);
    const count = passing.get(id) ?? 0;
    console.log(
      `  ${id.padEnd(8)}${String(count).padStart(4)}${count === 0 ? '  no passing test' : ''}${failures ? `  ${failures} failing` : ''}`,
    );
  }
}
if (unknown.length > 0) console.log(`\nIn titles, but no rule: ${unknown.join(', ')}`);
console.log(`\n${known.size - unproven.length} of ${known.size} rules proven by ${tests.length} tests`);
if (unproven.length > 0) console.log(`Without a passing test: ${unproven.join(', ')}`);
if (values.strict && (unproven.length > 0 || unknown.length > 0 || failing.size > 0)) process.exitCode = 1;

/** The distinct ids in a title's square brackets. */
function idsIn(title: string): Set<string> {
  const brackets = [...title.matchAll(/\[([^\]]*)\]/g)].map(([, inside = '']) => inside);
  return new Set(brackets.flatMap((inside) => inside.match(/\b[A-Z]{2,4}-\d\d\b/g) ?? []));
}

/** Runs every test and returns the JSON report, failed tests included. */
function runTests(): string {
  const folder = mkdtempSync(join(tmpdir(), 'albaran-rules-'));
  const file = join(folder, 'report.json');
  try {
    const { error } = spawnSync('vitest', ['run', '--reporter=dot', '--reporter=json', `--outputFile.json=${file}`], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}` },
    });
    if (error) throw error;
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
