// The section with the settings to copy into an assistant to connect it.
import { areas } from '../../routers/index.ts';
import { type Html, html } from './layout.ts';
import type { Visit } from './visit.ts';

const json = (value: object) => JSON.stringify(value, null, 2);

/** The section's HTML. */
export function connectorSection({ say, service }: Visit): Html {
  const url = `${service.baseUrl}/mcp/`;
  const headers = { 'X-API-KEY': '<API_KEY>', 'X-API-SECRET': '<API_SECRET>' };
  const shellHeaders = Object.entries(headers).map(([name, value]) => `--header "${name}: ${value}"`);
  const throughRemote = { command: 'npx', args: ['-y', 'mcp-remote', url, '--host', '127.0.0.1'] };
  const file = (name: string) => html`${say('En', 'In')} <code>${name}</code>:`;
  const localhost = html`${say('Para entrar sin clave, quien opera el servicio tiene que permitir', 'To sign in instead of a key, the operator has to allow')} <code>http://localhost</code> (<code>OAUTH_ALLOW_LOCALHOST</code>).`;
  const settings: [name: string, where: Html, text: string][] = [
    [
      'Claude, ChatGPT',
      html`${say('En Ajustes › Conectores, un conector personalizado con esta dirección (https, y que se alcance desde Internet):', 'In Settings › Connectors, a custom connector with this address (https, and to be reached from the Internet):')}`,
      url,
    ],
    [
      'Claude Desktop',
      html`${file('claude_desktop_config.json')} ${say('(entra con', '(signs in with')} <code>mcp-remote</code>)`,
      json({ mcpServers: { albaran: throughRemote } }),
    ],
    ['VS Code', file('.vscode/mcp.json'), json({ servers: { albaran: { type: 'http', url } } })],
    [
      'Claude Code',
      html`${say('En un terminal, con una clave.', 'In a terminal, with a key.')} ${localhost}`,
      ['claude mcp add --transport http albaran', url, ...shellHeaders].join(' \\\n  '),
    ],
    [
      'Gemini CLI',
      html`${file('~/.gemini/settings.json')} ${say('con una clave.', 'with a key.')} ${localhost}`,
      json({ mcpServers: { albaran: { httpUrl: url, headers } } }),
    ],
    [
      'Cursor',
      html`${file('~/.cursor/mcp.json')} ${say('con una clave. Cursor pide volver a una dirección', 'with a key. Cursor asks to return to a')} <code>cursor://</code> ${say('que aquí no se admite; para entrar sin clave, lo de Claude Desktop.', 'address, which is not accepted here; to sign in instead, take what Claude Desktop takes.')}`,
      json({ mcpServers: { albaran: { url, headers } } }),
    ],
    [
      say('Otro, con una clave de la API', 'Another, with an API key'),
      html`${say('Para clientes que envían cabeceras en vez de pedir autorización:', 'For clients that send headers instead of asking for authorization:')}`,
      json({ mcpServers: { albaran: { type: 'http', url, headers } } }),
    ],
  ];
  return html`<section class="card" aria-labelledby="connector">
<h2 id="connector">${say('Conectar un asistente', 'Connect an assistant')}</h2>
<p class="quiet">${say('Dele esta dirección. Le pedirá que entre aquí, elija la empresa y diga qué puede hacer.', 'Give it this address. It will ask you to sign in here, choose the company and say what it may do.')}</p>
<p class="address"><code>${url}</code></p>
<p class="quiet">${say('Con', 'With')} <code>?areas=crm,sales</code> ${say('al final, solo las herramientas de esas áreas:', 'at its end, only the tools of those areas:')} <span id="areas">${Object.keys(areas).join(', ')}</span>. ${say('Con', 'With')} <code>?modo=catalogo</code>, ${say('tres que buscan y ejecutan todas las demás: para asistentes que admiten pocas.', 'three that find and run all the others: for assistants that take few.')}</p>
${settings.map(
  ([name, where, text]) =>
    html`<details class="setting"><summary>${name}</summary><p>${where}</p><pre tabindex="0"><code>${text}</code></pre></details>`,
)}
</section>`;
}
