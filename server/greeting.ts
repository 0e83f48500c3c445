// The text shown when the service has started: its address and the next steps.
import { styleText } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import type { Database } from '../platform/database.ts';
import { findCompany } from './companies.ts';
import { DEMO, type LoadedDemo } from './demo.ts';

/** The text. `made`: the secrets of the demo company if it was loaded just now. */
export async function greeting(url: string, database: Database, made: LoadedDemo | undefined): Promise<string> {
  const rows: [string, string][] = [
    ['Address', url],
    ['Documentation', `${url}/docs`],
  ];
  const company = await findCompany(database, DEMO);
  if (company) rows.push(['Demo company', company.name]);
  if (made) {
    const once = dim('(shown this once)');
    rows.push(['API key', made.key], ['Secret', `${made.secret}  ${once}`]);
    rows.push(['Sign in', `${url}/signin`], ['E-mail', made.email], ['Password', `${made.password}  ${once}`]);
  } else if (company) {
    rows.push(['API key', dim(`the one of the first start; another: npx albaran key create --account ${DEMO}`)]);
    rows.push(['Sign in', `${url}/signin`]);
  } else {
    rows.push(['Next', 'npx albaran account create --help']);
  }
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `  ${dim(name.padEnd(width))}  ${value}`);
  const curl = made ? ['', `  ${dim('Try it:')}`, '', curlLine(url, made)] : [];
  return [
    '',
    `  ${bold(`Albaran ${manifest.version}`)}`,
    '',
    ...lines,
    ...curl,
    '',
    `  ${dim('Ctrl-C stops it.')}`,
    '',
  ].join('\n');
}

const curlLine = (url: string, { key, secret }: LoadedDemo) =>
  `curl '${url}/api/v1/products?por_pagina=3' -H 'X-API-KEY: ${key}' -H 'X-API-SECRET: ${secret}'`;

const dim = (text: string) => styleText('dim', text, { stream: process.stdout });
const bold = (text: string) => styleText('bold', text, { stream: process.stdout });
