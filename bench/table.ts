// Prints a run's findings: a table, and a sentence for each other measurement.
import type { Grown } from './growth.ts';
import type { Many } from './many.ts';
import type { Probes } from './probes/index.ts';
import type { Outcome } from './report.ts';

const decimals = (value: number | null, digits: number) => (value === null ? '-' : value.toFixed(digits));

/** Lines of a Markdown table with a row for each side of each operation. */
export function table(outcomes: readonly Outcome[]): string {
  const head = ['', '', 'req/s', 'p50 ms', 'p99 ms', 'server CPU ms', 'PostgreSQL CPU ms', 'ratio', 'target'];
  const rows = outcomes.flatMap(({ id, title, sides, ratio, target }) =>
    sides.map(({ name, refused, perSecond, p50, p99, serverMs, postgresMs }, index) => [
      index === 0 ? `${id}: ${title}` : '',
      [name, ...Object.entries(refused).map(([status, count]) => `${count} x ${status}`)].join(', '),
      decimals(perSecond, perSecond < 100 ? 1 : 0),
      decimals(p50, 2),
      decimals(p99, 2),
      decimals(serverMs, 2),
      decimals(postgresMs, 2),
      index === 0 ? decimals(ratio, 2) : '',
      index === 0 && target ? `${target.least} (${target.outstanding})` : '',
    ]),
  );
  return markdown(head, rows);
}

/** The same for growth: processor time per request, compared with that of the first variant. */
export function growthTable(grown: readonly Grown[]): string {
  const head = ['', '', 'req/s', 'p50 ms', 'server CPU ms', 'PostgreSQL CPU ms', 'times the first'];
  const cpu = ({ serverMs, postgresMs }: Grown['sides'][number]) => serverMs + (postgresMs ?? 0);
  const rows = grown.flatMap(({ id, title, sides }) =>
    sides.map((side, index) => [
      index === 0 ? `${id}: ${title}` : '',
      side.name,
      decimals(side.perSecond, side.perSecond < 100 ? 1 : 0),
      decimals(side.p50, 2),
      decimals(side.serverMs, 2),
      decimals(side.postgresMs, 2),
      index === 0 || !sides[0] ? '' : decimals(cpu(side) / cpu(sides[0]), 2),
    ]),
  );
  return markdown(head, rows);
}

/** What a service with many companies does for all of them, and what they take. */
export function manyTables({ starts, jobs, backup, bytesACompany, tables, residentMb }: Many): string {
  const work = [
    ...starts.map(({ name, startMs, cpuMs, residentMb }) => [
      name,
      decimals(startMs, 0),
      decimals(cpuMs, 0),
      '',
      `${decimals(residentMb, 0)} MB of memory`,
    ]),
    ...jobs.map(({ name, ms, serverMs, postgresMs }) => [
      name,
      decimals(ms, 0),
      decimals(serverMs, 0),
      decimals(postgresMs, 0),
      '',
    ]),
    ...(backup
      ? [
          [
            'pg_dump',
            decimals(backup.ms, 0),
            '',
            decimals(backup.postgresMs, 0),
            `${decimals(backup.bytes / 2 ** 20, 1)} MB`,
          ],
        ]
      : []),
    ['after the load', '', '', '', `${decimals(residentMb, 0)} MB of memory`],
  ];
  const sizes = tables.map(({ name, rows, bytesARow }) => [name, decimals(rows, 0), decimals(bytesARow, 0)]);
  return [
    markdown(['', 'ms', 'service CPU ms', 'PostgreSQL CPU ms', ''], work),
    markdown(['table', 'rows', 'bytes a row'], [...sizes, ['a company', '', decimals(bytesACompany, 0)]]),
  ].join('\n\n');
}

/** A Markdown table with aligned columns. */
export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (column < 2 ? (row[column] ?? '').padEnd(width) : (row[column] ?? '').padStart(width))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column < 2 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/** The other measurements with their targets. `pageMs`: the server's processor time for a page by REST. */
export function sentences(
  outcomes: readonly Outcome[],
  { rows, client, day, start, memory }: Partial<Probes>,
  pageMs: number | undefined,
): string[] {
  const lines: string[] = [];
  if (rows && pageMs !== undefined) {
    lines.push(
      `A page of 100 products: ${decimals(pageMs, 2)} ms of the server by REST, of which ${decimals(rows.cpuMs, 2)} read and ` +
        `decode its rows; REST adds ${decimals(pageMs - rows.cpuMs, 2)} (at most 0.5).`,
    );
  }
  for (const [id, name, most] of [
    ['mcp-call', 'MCP tools/call', ' (at most 0.7)'],
    ['trpc', 'tRPC', ''],
  ] as const) {
    const [door, rest] = outcomes.find((outcome) => outcome.id === id)?.sides ?? [];
    if (!door || !rest) continue;
    lines.push(
      `${name} takes ${decimals(door.serverMs - rest.serverMs, 2)} ms of the server more than the same page by REST${most}.`,
    );
  }
  if (client) {
    const { clientMs, restMs } = client;
    lines.push(
      `The typed client has the page in ${decimals(clientMs, 2)} ms, fetch and JSON.parse by REST in ${decimals(restMs, 2)}: ` +
        `${decimals(clientMs / restMs, 2)} times (at most 1.3).`,
    );
  }
  if (day) {
    const { noteMs, conversionMs, priceList, breakdown } = day;
    lines.push(
      `An estimate of 20 lines is converted in ${decimals(conversionMs, 1)} ms, a delivery note of 3 written in ` +
        `${decimals(noteMs, 1)}: ${decimals(conversionMs / noteMs, 2)} times (under 4).`,
      `Prices of a list are adjusted in ${decimals(priceList.ms, 0)} ms, of ${priceList.articles} articles (under 3,000 for 10,000).`,
      `A page of 200 of a project's ${breakdown.lines} lines takes ${decimals(breakdown.ms, 1)} ms (under 40).`,
    );
  }
  if (start) {
    const sorted = start.toSorted((a, b) => a - b);
    lines.push(
      `From its start to its first answer the server takes ${decimals(sorted[Math.floor(sorted.length / 2)] ?? null, 0)} ms.`,
    );
  }
  if (memory) {
    const { atStart, requests, after, then, growth } = memory;
    lines.push(
      `Memory: ${decimals(atStart, 0)} MB after the start, ${decimals(after, 0)} after ${requests} requests (under 200), then ` +
        `${then.map((megabytes) => decimals(megabytes, 0)).join(', ')}: ${decimals(growth, 1)} MB for 100,000 more.`,
    );
  }
  return lines;
}
