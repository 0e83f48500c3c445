// What a person copies into an assistant to connect it.
import { type Html, html } from './layout.ts';
import type { Visit } from './visit.ts';

const json = (value: object) => JSON.stringify(value, null, 2);

export function connectorSection({ say, service }: Visit): Html {
  const url = `${service.baseUrl}/mcp/`;
  const headers = { 'X-API-KEY': '<API_KEY>', 'X-API-SECRET': '<API_SECRET>' };
  const settings: [name: string, where: Html, text: string][] = [
    [
      'Claude Code',
      html`${say('En un terminal:', 'In a terminal:')}`,
      `claude mcp add --transport http albaran ${url}`,
    ],
    [
      'Claude Desktop',
      html`${say('En', 'In')} <code>claude_desktop_config.json</code> (${say('Ajustes › Desarrollador', 'Settings › Developer')}):`,
      json({
        mcpServers: { albaran: { command: 'npx', args: ['-y', 'mcp-remote', url, '--host', '127.0.0.1'] } },
      }),
    ],
    ['Cursor', html`${say('En', 'In')} <code>~/.cursor/mcp.json</code>:`, json({ mcpServers: { albaran: { url } } })],
    [
      'VS Code',
      html`${say('En', 'In')} <code>.vscode/mcp.json</code>:`,
      json({ servers: { albaran: { type: 'http', url } } }),
    ],
    [
      say('Con una clave de la API', 'With an API key'),
      html`${say('Para clientes que envían cabeceras en vez de pedir autorización:', 'For clients that send headers instead of asking for authorization:')}`,
      json({ mcpServers: { albaran: { type: 'http', url, headers } } }),
    ],
  ];
  return html`<section class="card" aria-labelledby="connector">
<h2 id="connector">${say('Conectar un asistente', 'Connect an assistant')}</h2>
<p class="quiet">${say('Dele esta dirección. Le pedirá que entre aquí, elija la empresa y diga qué puede hacer.', 'Give it this address. It will ask you to sign in here, choose the company and say what it may do.')}</p>
<p class="address"><code>${url}</code></p>
${settings.map(
  ([name, where, text]) =>
    html`<details class="setting"><summary>${name}</summary><p>${where}</p><pre tabindex="0"><code>${text}</code></pre></details>`,
)}
</section>`;
}
