// Remarks may hold HTML: what is printed is its text, in paragraphs and lists, bold and italic. Everything else of it is left out.
import { Parser } from 'htmlparser2';
import type { Face } from './fonts.ts';

/** Text in one face; `\n` begins a line. */
export interface Run {
  text: string;
  face: Face;
}

export interface Paragraph {
  runs: Run[];
  /** Before the first line of an item of a list: `•` or `1.` */
  bullet: string;
  /** How many lists it is in. */
  depth: number;
}

const BOLD = new Set(['b', 'strong', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'th', 'dt']);
const ITALIC = new Set(['i', 'em', 'cite', 'var', 'address']);
const BLOCKS = new Set(
  [
    'p',
    'div',
    'ul',
    'ol',
    'li',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'table',
    'tr',
    'blockquote',
    'pre',
    'hr',
    'section',
  ].concat(['article', 'header', 'footer', 'address', 'dl', 'dt', 'dd', 'main', 'center', 'form']),
);
/** Their text is no part of the page. */
const UNSEEN = new Set(
  ['script', 'style', 'head', 'title', 'template', 'noscript', 'iframe', 'object', 'svg', 'math'].concat([
    'select',
    'textarea',
    'audio',
    'video',
    'canvas',
    'xmp',
    'noembed',
    'noframes',
  ]),
);
const DEEPEST = 4;

/** The paragraphs of a text that may hold HTML. Without any tag, its line breaks are kept. */
export function paragraphsOf(html: string): Paragraph[] {
  const isHtml = /<\/?[a-z!]/i.test(html);
  const found: Paragraph[] = [];
  const lists: { next: number | undefined }[] = [];
  let current: Paragraph | undefined;
  let [bold, italic, unseen] = [0, 0, 0];
  let bullet = '';

  const end = () => {
    current = undefined;
  };
  const add = (text: string) => {
    if (!current) {
      if (/^\s*$/.test(text)) return;
      current = { runs: [], bullet, depth: Math.min(lists.length, DEEPEST) };
      bullet = '';
      found.push(current);
    }
    const face = bold > 0 ? (italic > 0 ? 'boldItalic' : 'bold') : italic > 0 ? 'italic' : 'regular';
    const last = current.runs.at(-1);
    if (last?.face === face) last.text += text;
    else current.runs.push({ text, face });
  };

  const parser = new Parser({
    onopentag(name) {
      if (UNSEEN.has(name)) unseen++;
      if (BOLD.has(name)) bold++;
      if (ITALIC.has(name)) italic++;
      if (BLOCKS.has(name)) end();
      if (name === 'br' && current) add('\n');
      if (name === 'td' || name === 'th') add(' ');
      if (name === 'ul' || name === 'ol') lists.push({ next: name === 'ol' ? 1 : undefined });
      if (name === 'li') {
        const list = lists.at(-1);
        bullet = list?.next === undefined ? '•' : `${list.next++}.`;
      }
    },
    onclosetag(name) {
      if (UNSEEN.has(name)) unseen--;
      if (BOLD.has(name)) bold--;
      if (ITALIC.has(name)) italic--;
      if (BLOCKS.has(name)) end();
      if (name === 'ul' || name === 'ol') lists.pop();
      if (name === 'li') bullet = '';
    },
    ontext(text) {
      if (unseen > 0) return;
      if (isHtml) add(text.replace(/[\t\n\f\r ]+/g, ' '));
      else add(text);
    },
  });
  parser.end(html);
  return found.filter(({ runs }) => runs.some(({ text }) => text.trim() !== ''));
}
