// docs/connect.md lists the areas and assistants that the connector accepts.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { catalogue } from '../../bridges/mcp/catalogue.ts';
import { areas } from '../../routers/index.ts';
import { startServer } from '../helpers/world.ts';
import { register } from '../oauth/application.ts';

const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'connect.md'), 'utf8');

test('[MCP-01] the areas it lists are the connector’s', () => {
  const [, list = ''] = /only the tools of these areas \(([^)]+)\)/.exec(page) ?? [];
  expect([...list.matchAll(/`(\w+)`/g)].map(([, area]) => area).sort()).toEqual(Object.keys(areas).sort());
});

test('[MCP-01] the tools of the catalogue, and what they take, are the connector’s', () => {
  const rows = [...page.matchAll(/^\| `([a-z]+_[a-z]+)` \| (.+?) \|/gm)].map(([, name, takes = '']) => [
    name,
    [...takes.matchAll(/`(\w+)`/g)].map(([, argument]) => argument).filter((name) => name !== 'clave_idempotencia'),
  ]);
  expect(rows).toEqual(
    Object.values(catalogue).map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})]),
  );
});

// The redirect addresses that these assistants register, by row.
const REDIRECTS: Record<string, string[]> = {
  'Claude (web, desktop)': ['https://claude.ai/api/mcp/auth_callback'],
  ChatGPT: ['https://chatgpt.com/connector_platform_oauth_redirect'],
  'Claude Desktop, by file': ['http://127.0.0.1:3334/oauth/callback'],
  'VS Code': [
    'https://insiders.vscode.dev/redirect',
    'https://vscode.dev/redirect',
    'http://127.0.0.1/',
    'http://127.0.0.1:33418/',
  ],
  'Claude Code': ['http://localhost:56648/callback'],
  'Gemini CLI': ['http://localhost:7777/oauth/callback'],
  Cursor: ['http://localhost:8787/callback', 'cursor://anysphere.cursor-mcp/oauth/callback'],
  'anything that starts a program': ['http://127.0.0.1:3334/oauth/callback'],
};
const rows = page.split('\n').flatMap((line) => {
  const [, assistant = '', , signsIn = ''] = line.split('|').map((cell) => cell.trim());
  return assistant in REDIRECTS ? [{ assistant, signsIn }] : [];
});

describe('[OAU-02] who can sign in is who it says:', () => {
  test('every assistant has its row', () => {
    expect(rows.map(({ assistant }) => assistant)).toEqual(Object.keys(REDIRECTS));
  });

  test.each(rows)('$assistant: $signsIn', async ({ assistant, signsIn }) => {
    const metadata = { redirect_uris: REDIRECTS[assistant] };
    await using strict = await startServer();
    await using lenient = await startServer({ oauth: { allowLocalhost: true } });
    const statuses = await Promise.all([strict, lenient].map(async (one) => (await register(one, metadata)).status));
    const expected: Record<string, number[]> = {
      yes: [201, 201],
      'with `OAUTH_ALLOW_LOCALHOST`': [400, 201],
      no: [400, 400],
    };
    expect(statuses).toEqual(expected[signsIn]);
  });
});
