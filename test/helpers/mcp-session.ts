// Sessions with the connector through the SDK clients that hosts use: that of the 2025 revisions and that of 2026-07-28.
import {
  Client,
  type CallToolResult as ModernResult,
  StreamableHTTPClientTransport,
  type Tool,
} from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';

/** The result of a call as a host sees it. */
export interface Result {
  isError: boolean;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: structured content is JSON of no known shape; tests look into it freely
  data: any;
  /** Whether it repeats the answer of an earlier call. */
  replayed: boolean;
}

export interface Session extends AsyncDisposable {
  /** The protocol revision agreed on. */
  revision(): string | undefined;
  tools(): Promise<Pick<Tool, 'name' | 'title' | 'annotations'>[]>;
  call(name: string, args?: Record<string, unknown>): Promise<Result>;
}

export type Connect = (url: string, headers: Record<string, string>) => Promise<Session>;

const result = ({ isError = false, content, structuredContent, _meta }: ModernResult): Result => ({
  isError,
  text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
  data: structuredContent,
  replayed: _meta?.['Idempotent-Replayed'] === true,
});

/** A host of the revisions up to 2025-11-25. */
export async function legacy(url: string, headers: Record<string, string>): Promise<Session> {
  const client = new LegacyClient({ name: 'test', version: '1' });
  const transport = new LegacyTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport);
  return {
    revision: () => transport.protocolVersion,
    tools: async () => (await client.listTools()).tools,
    call: async (name, args) =>
      result(CallToolResultSchema.parse(await client.callTool({ name, ...(args && { arguments: args }) }))),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** A host of 2026-07-28. */
export async function modern(url: string, headers: Record<string, string>): Promise<Session> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return {
    revision: () => client.getNegotiatedProtocolVersion(),
    tools: async () => (await client.listTools()).tools,
    call: async (name, args) => result(await client.callTool({ name, ...(args && { arguments: args }) })),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** Both protocol generations. */
export const ERAS: [string, Connect][] = [
  ['2025-11-25', legacy],
  ['2026-07-28', modern],
];
