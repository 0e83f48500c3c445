// The layout of every page, and how a page is sent. Pages are rendered on the server and run no scripts.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** HTML text that is already escaped. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value in a template. Null, undefined and booleans render as nothing. */
export type Piece = Html | string | number | boolean | null | undefined | readonly Piece[];

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escaped = (piece: Piece): string => {
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'string') return piece.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
  if (typeof piece === 'number') return String(piece);
  if (piece === null || piece === undefined || typeof piece === 'boolean') return '';
  return piece.map(escaped).join('');
};

/** An HTML template. Values are escaped unless they are Html; lists are joined. */
export const html = (strings: TemplateStringsArray, ...values: Piece[]): Html =>
  new Html(strings.reduce((text, string, index) => text + escaped(values[index - 1]) + string));

/** A language of the pages. */
export type Language = 'es' | 'en';

/** Spanish, unless the browser prefers English. */
export function languageOf({ headers }: FastifyRequest): Language {
  const wanted = (headers['accept-language'] ?? '').split(',').flatMap((text) => {
    const [name = '', ...parameters] = text.trim().toLowerCase().split(';');
    const quality = Number(/^\s*q=([\d.]+)/.exec(parameters[0] ?? '')?.[1] ?? 1);
    return quality > 0 ? [{ language: name.split('-')[0], quality }] : [];
  });
  const first = wanted
    .sort((one, other) => other.quality - one.quality)
    .find(({ language }) => language === 'es' || language === 'en');
  return first?.language === 'en' ? 'en' : 'es';
}

/** Chooses between the Spanish and the English text: `say('Entrar', 'Sign in')`. */
export const speaker = (request: FastifyRequest) => {
  const language = languageOf(request);
  return (es: string, en: string) => (language === 'en' ? en : es);
};

/** The stylesheet. */
export const STYLE = readFileSync(new URL('style.css', import.meta.url), 'utf8');
/** Contains a hash of the stylesheet, so that browsers can cache it forever. */
export const STYLE_PATH = `/pages/style-${createHash('sha256').update(STYLE).digest('base64url').slice(0, 12)}.css`;

const ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='3' fill='%230f766e'/><path d='M4 4h8M4 8h8M4 12h5' stroke='white' stroke-width='1.6'/></svg>";

const MARK = html`<svg class="mark" viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" rx="4" /><path d="M4.5 4.8h7M4.5 8h7M4.5 11.2h4" /></svg>`;

/** The content of a page. */
export interface Page {
  title: string;
  body: Html;
  /** Default 200. */
  status?: number;
  /** The menu of a signed-in person, at the right of the header. */
  menu?: Html;
  /** A narrow, centred page for one form. */
  narrow?: boolean;
  /** Other origins to which the page's forms may redirect. */
  formOrigins?: readonly string[];
  /** Default: as the browser prefers. */
  language?: Language;
  /** Of a page that is a company's: its name instead of the service's. */
  brand?: string;
  headers?: Readonly<Record<string, string>>;
}

/** Sends a page: not cached, not shown in frames, and without a referrer for its links. */
export function sendPage(request: FastifyRequest, reply: FastifyReply, page: Page): FastifyReply {
  const { title, body, status = 200, menu, narrow = false, formOrigins = [], headers } = page;
  const { language = languageOf(request), brand = 'Albaran' } = page;
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    'img-src data:',
    ["form-action 'self'", ...formOrigins].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const text = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${brand}</title>
<link rel="icon" href="${new Html(ICON)}">
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body${narrow ? html` class="narrow"` : ''}>
<a class="skip" href="#main">${language === 'en' ? 'Skip to content' : 'Ir al contenido'}</a>
<header><div class="bar"><span class="brand">${brand === 'Albaran' ? MARK : ''}${brand}</span>${menu}</div></header>
<main id="main" tabindex="-1">
${body}
</main>
</body>
</html>
`;
  return reply
    .code(status)
    .headers({
      'Content-Security-Policy': policy,
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
      'Content-Language': language,
      Vary: 'Accept-Language, Cookie',
      ...headers,
    })
    .type('text/html; charset=utf-8')
    .send(text.text);
}
