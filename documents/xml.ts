// Writes XML: elements in the order they are given, their text escaped.

/** XML text, ready to be put into an element. */
export class Xml {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Content = Xml | string | null | undefined;

/** XML 1.0 has no way to write other control characters: they are left out. */
const UNWRITABLE = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' };

const escaped = (text: string) => text.replace(UNWRITABLE, '').replace(/[&<>"\r]/g, (one) => ENTITIES[one] ?? one);

/**
 * An element with its children in their order, or one text. Children that are null or undefined are left out, and so is an element
 * that is given nothing but those: it is undefined.
 */
export function element(
  name: string,
  content: Content | readonly Content[],
  attributes: Readonly<Record<string, string>> = {},
): Xml | undefined {
  const parts = (Array.isArray(content) ? content : [content]).flatMap((part: Content) =>
    part === null || part === undefined ? [] : part instanceof Xml ? part.text : escaped(part),
  );
  if (parts.length === 0) return undefined;
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`);
  return new Xml(`<${name}${written.join('')}>${parts.join('')}</${name}>`);
}

/** A document of one root element. */
export function xmlDocument(root: Xml | undefined): string {
  if (!root) throw new Error('A document without content');
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root.text}\n`;
}
