// Every operation through every interface, on the same data: REST v1, the v0 alias, the typed client over tRPC and an MCP client.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Operation, operations } from '../../bridges/operations.ts';
import { createClient } from '../../client/src/index.ts';
import { EXAMPLE_NOW, exampleAccount, exampleRecords, examples } from '../helpers/examples.ts';
import { type Answer, type Company, type Server, startServer, TestClock } from '../helpers/world.ts';

let server: Server;
let reader: Company;

const newCompany = () => server.company([...exampleRecords], { cuenta: exampleAccount });

beforeAll(async () => {
  server = await startServer({ clock: new TestClock(EXAMPLE_NOW), quotaPerMinute: 1_000_000 });
  reader = await newCompany();
});
afterAll(() => server.stop());

type Input = Record<string, unknown>;

/** The `data` of an answer through each interface. */
const doors = {
  async v1({ routes: [route] }: Operation, company: Company, input: Input) {
    if (!route) throw new Error('An operation without a path');
    const url = route.path.replace(/\{(\w+)\}/g, (_, name) => String(input[name]));
    const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !route.parameters.includes(name)));
    if (route.method === 'GET') return dataOf(await company.get(url, rest));
    if (route.method === 'DELETE') return dataOf(await company.delete(url));
    return dataOf(await (route.method === 'POST' ? company.post(url, rest) : company.put(url, rest)));
  },
  async v0({ alias }: Operation, company: Company, input: Input) {
    return dataOf(await company.alias(alias, input));
  },
  async client({ path }: Operation, company: Company, input: Input) {
    const { 'x-api-key': apiKey, 'x-api-secret': apiSecret } = company.headers;
    const client = createClient({ baseUrl: server.url, apiKey, apiSecret });
    const [resource = '', verb = ''] = path.split('.');
    const call: unknown = Reflect.get(Reflect.get(client, resource), verb);
    if (typeof call !== 'function') throw new Error(`The client has no ${path}`);
    return await call(input);
  },
  async mcp({ tool }: Operation, company: Company, input: Input) {
    const client = new Client({ name: 'four-doors', version: '1.0.0' });
    const transport = new StreamableHTTPClientTransport(new URL('/mcp/', server.url), {
      requestInit: { headers: company.headers },
    });
    await client.connect(transport);
    try {
      const { structuredContent, content, isError } = await client.callTool({ name: tool, arguments: input });
      expect(isError, JSON.stringify(content)).toBeFalsy();
      return structuredContent;
    } finally {
      await client.close();
    }
  },
};

function dataOf({ status, body }: Answer) {
  expect([status, body.errorMsg]).toEqual([200, '']);
  return body.data;
}

/** The answer without what differs between calls or companies: new ids, sealed ids, new secrets and addresses, and the remaining quota. */
const alike = (data: unknown, fresh: boolean): unknown =>
  JSON.parse(
    JSON.stringify(data, (name, value) => {
      if (name === 'restante') return 'left';
      const made =
        typeof value === 'number'
          ? value > 1e9
          : typeof value === 'string' && /^([a-z][\w-]{22}|whsec_.*|https?:.*\/d\/.*)$/.test(value);
      return fresh && made ? 'id' : value;
    }),
  );

describe('[VER-01] [MCP-01] the same answer by every door:', () => {
  test.each(operations.map((operation) => [operation.path, operation] as const))('%s', async (_, operation) => {
    const answers: Record<string, unknown> = {};
    for (const [name, door] of Object.entries(doors)) {
      const company = operation.write ? await newCompany() : reader;
      const data = await door(operation, company, structuredClone(examples[operation.path] ?? {}));
      // MCP answers objects only: a bare value is in `data`. Where callers see no headers, the answer has `existente`. W-03
      const keys = Object.keys(Object(data)).join();
      const inData = (name === 'mcp' && keys === 'data') || (operation.existing && name !== 'v1' && name !== 'v0');
      expect(keys === 'data,existente').toBe(inData && operation.existing);
      const bare = inData ? Reflect.get(Object(data), 'data') : data;
      answers[name] = alike(bare, operation.write);
    }
    expect(answers.v1).toBeTruthy();
    expect(answers).toEqual({ v1: answers.v1, v0: answers.v1, client: answers.v1, mcp: answers.v1 });
  });
});
