// Reads XML that others wrote, piece by piece. Nothing in it is trusted: a DTD is refused, so there are no entities to expand, and depth
// and size of what is kept are limited.
import sax from 'sax';

/** An element: its name without prefix, its children, and its own text. */
export class XmlNode {
  readonly name: string;
  readonly children: XmlNode[] = [];
  text = '';

  constructor(name: string) {
    this.name = name;
  }

  /** The first child of that name, or the first of its children by the next name. */
  find(...path: readonly string[]): XmlNode | undefined {
    const [name, ...rest] = path;
    if (name === undefined) return this;
    return this.children.find((child) => child.name === name)?.find(...rest);
  }

  all(name: string): XmlNode[] {
    return this.children.filter((child) => child.name === name);
  }

  /** The text there, without blanks at its ends; undefined if there is no such element. */
  textOf(...path: readonly string[]): string | undefined {
    return this.find(...path)?.text.trim();
  }
}

export class XmlError extends Error {}

const MAX_DEPTH = 50;
/** Of one element that is kept, with everything in it. */
const MAX_NODES = 50_000;
const MAX_TEXT = 16 * 1024 ** 2;

// `strictEntities`: only the five that XML itself knows.
const OPTIONS = { xmlns: true, position: false, strictEntities: true };

/** The elements that `isWanted` by their names, each as soon as it ends; elements inside one of them are its own. */
export async function* elementsOf(
  pieces: AsyncIterable<string> | Iterable<string>,
  isWanted: (name: string) => boolean,
): AsyncGenerator<XmlNode> {
  const reader = new ElementReader(isWanted);
  try {
    for await (const piece of pieces) {
      yield* reader.take();
      reader.write(piece);
    }
    reader.end();
  } catch (error) {
    // Those before the mistake.
    yield* reader.take();
    throw error;
  }
  yield* reader.take();
}

/** The root of a whole document. */
export function readXml(text: string): XmlNode {
  const reader = new ElementReader(() => true);
  reader.write(text);
  reader.end();
  const [root] = reader.take();
  if (!root) throw new XmlError('no hay ningún elemento');
  return root;
}

class ElementReader {
  readonly #parser = sax.parser(true, OPTIONS);
  /** From the wanted element inwards. */
  readonly #open: XmlNode[] = [];
  #found: XmlNode[] = [];
  #depth = 0;
  #nodes = 0;
  #characters = 0;

  constructor(isWanted: (name: string) => boolean) {
    const parser = this.#parser;
    parser.onerror = ({ message }) => {
      throw new XmlError(`el XML está mal formado (${message.split('\n')[0]})`);
    };
    parser.ondoctype = () => {
      throw new XmlError('el XML declara un DOCTYPE, que no se admite');
    };
    parser.onopentag = (tag) => {
      if (++this.#depth > MAX_DEPTH) throw new XmlError('el XML tiene demasiados niveles');
      const name = 'local' in tag ? tag.local : tag.name;
      const parent = this.#open.at(-1);
      if (!parent && !isWanted(name)) return;
      if (!parent) [this.#nodes, this.#characters] = [0, 0];
      if (++this.#nodes > MAX_NODES) throw new XmlError('el XML tiene un elemento demasiado grande');
      const node = new XmlNode(name);
      parent?.children.push(node);
      this.#open.push(node);
    };
    parser.onclosetag = () => {
      this.#depth--;
      const node = this.#open.pop();
      if (node && this.#open.length === 0) this.#found.push(node);
    };
    const add = (text: string) => {
      const node = this.#open.at(-1);
      if (!node) return;
      this.#characters += text.length;
      if (this.#characters > MAX_TEXT) throw new XmlError('el XML tiene un texto demasiado largo');
      node.text += text;
    };
    parser.ontext = add;
    parser.oncdata = add;
  }

  write(piece: string): void {
    this.#parser.write(piece);
  }

  end(): void {
    this.#parser.close();
  }

  /** What has ended since the last time. */
  take(): XmlNode[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }
}
