// A subscription of the connector is a stream without an end: it begins at once, and is not waited for.
import { expect, test } from 'vitest';
import { startServer } from '../helpers/world.ts';

test('[MCP-03] a client that listens gets the head of its stream', async () => {
  await using server = await startServer();
  const acme = await server.company();
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const hangUp = new AbortController();
  const response = await fetch(`${server.url}/mcp/`, {
    method: 'POST',
    signal: AbortSignal.any([hangUp.signal, AbortSignal.timeout(5_000)]),
    headers: {
      ...acme.headers,
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' },
      params: { _meta, notifications: { toolsListChanged: true } },
    }),
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  hangUp.abort();
});
