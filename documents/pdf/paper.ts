// Sheets of A4 and text on them: lines are broken and placed here, so that pages end where the document wants it.
import PDFDocument from 'pdfkit';
import { FACES, type Face, fonts, printable } from './fonts.ts';
import type { Run } from './remarks.ts';

export const SHEET = { width: 595.28, height: 841.89 };
export const LEFT = 45;
export const RIGHT = SHEET.width - LEFT;
export const WIDTH = RIGHT - LEFT;
const TOP = 42;
/** Nothing but the foot is below. */
const BOTTOM = SHEET.height - 58;

/** From one baseline to the next, by size. */
const LEADING = 1.36;

export const INK = '#1d2433';
export const GREY = '#5f6878';
export const HAIRLINE = '#d9dde3';

/** A text broken into lines, with how it looks. */
export interface Line {
  runs: Run[];
  size: number;
  color: string;
  /** From the left edge of its column. */
  indent?: number;
}

export interface Look {
  size?: number;
  face?: Face;
  color?: string;
  align?: 'left' | 'right';
}

/** What a document says of itself as a file. */
export interface FileFacts {
  Title: string;
  Author: string;
  Subject: string;
  Creator: string;
  CreationDate: Date;
  ModDate: Date;
  /** Of everything it was made from: pdfkit derives the file's id from these facts. */
  ContentHash: string;
}

export const leading = (size: number) => size * LEADING;
export const heightOf = (lines: readonly Line[]) => lines.reduce((sum, { size }) => sum + leading(size), 0);

export class Paper {
  readonly doc: PDFKit.PDFDocument;
  /** Of words in each face, at size 1. */
  readonly #widths: Readonly<Record<Face, Map<string, number>>> = {
    regular: new Map(),
    bold: new Map(),
    italic: new Map(),
    boldItalic: new Map(),
  };
  /** Where the next thing goes. */
  y = TOP;
  /** Draws the head of further pages at `y` and moves it. */
  onNewPage: () => void = () => {};

  constructor(info: FileFacts) {
    this.doc = new PDFDocument({
      size: 'A4',
      margin: 0,
      autoFirstPage: false,
      bufferPages: true,
      pdfVersion: '1.7',
      lang: 'es-ES',
      displayTitle: true,
      info,
    });
    for (const face of FACES) this.doc.registerFont(face, fonts[face]);
  }

  get room(): number {
    return BOTTOM - this.y;
  }

  /** The room on a page with nothing but its head. */
  get wholePage(): number {
    return BOTTOM - TOP - 40;
  }

  newPage(): void {
    this.doc.addPage();
    this.y = TOP;
    this.onNewPage();
  }

  /** Begins a page unless this much fits on it. */
  need(height: number): void {
    if (this.room < height) this.newPage();
  }

  widthOf(text: string, size: number, face: Face = 'regular'): number {
    const known = this.#widths[face];
    return size * known.getOrInsertComputed(text, () => this.doc.font(face, 1).widthOfString(text));
  }

  /** Writes a text of one line, cut off by nothing. */
  write(text: string, x: number, y: number, width: number, look: Look = {}): void {
    const { size = 9, face = 'regular', color = INK, align = 'left' } = look;
    const written = printable(text);
    if (written === '') return;
    const left = align === 'left' ? x : x + width - this.widthOf(written, size, face);
    this.doc.font(face, size).fillColor(color).text(written, left, y, { lineBreak: false });
  }

  /** Breaks a text into lines. */
  broken(text: string, width: number, { size = 9, face = 'regular', color = INK }: Look = {}): Line[] {
    return this.brokenRuns([{ text, face }], width, { size, color });
  }

  /** Breaks runs into lines; a word that is too long for one is broken too. */
  brokenRuns(runs: readonly Run[], width: number, { size = 9, color = INK }: Look = {}): Line[] {
    const lines: Line[] = [];
    let line: Run[] = [];
    let used = 0;
    /** A word may change its face within. */
    let word: Run[] = [];
    let wordWidth = 0;
    let gap: Run | undefined;

    const put = ({ text, face }: Run) => {
      const last = line.at(-1);
      if (last?.face === face) last.text += text;
      else line.push({ text, face });
    };
    const endLine = () => {
      lines.push({ runs: line, size, color });
      line = [];
      used = 0;
      gap = undefined;
    };
    const endWord = () => {
      if (word.length === 0) return;
      const gapWidth = gap && line.length > 0 ? this.widthOf(' ', size, gap.face) : 0;
      if (line.length > 0 && used + gapWidth + wordWidth > width) endLine();
      else if (gap && line.length > 0) {
        put(gap);
        used += gapWidth;
      }
      gap = undefined;
      if (wordWidth <= width) {
        for (const piece of word) put(piece);
        used += wordWidth;
      } else {
        for (const { text, face } of word) {
          for (const character of text) {
            const more = this.widthOf(character, size, face);
            if (used + more > width && line.length > 0) endLine();
            put({ text: character, face });
            used += more;
          }
        }
      }
      word = [];
      wordWidth = 0;
    };

    for (const { text, face } of runs) {
      for (const piece of printable(text).split(/([ \n])/)) {
        if (piece === '') continue;
        if (piece === ' ' || piece === '\n') {
          endWord();
          if (piece === '\n') endLine();
          else gap = { text: ' ', face };
        } else {
          word.push({ text: piece, face });
          wordWidth += this.widthOf(piece, size, face);
        }
      }
    }
    endWord();
    if (line.length > 0) lines.push({ runs: line, size, color });
    return lines;
  }

  /** The first line of a text, with an ellipsis if there would be more. */
  cut(runs: readonly Run[], width: number, look: Look): Line {
    const { size = 9, color = INK } = look;
    const more = '…';
    const [first, second] = this.brokenRuns(runs, width - this.widthOf(more, size), { size, color });
    if (!first) return { runs: [], size, color };
    return second ? { ...first, runs: [...first.runs, { text: more, face: 'regular' }] } : first;
  }

  /** Draws broken lines from `y` down, and answers where they end. */
  place(lines: readonly Line[], x: number, y: number): number {
    let top = y;
    for (const { runs, size, color, indent = 0 } of lines) {
      let left = x + indent;
      for (const { text, face } of runs) {
        this.doc.font(face, size).fillColor(color).text(text, left, top, { lineBreak: false });
        left += this.widthOf(text, size, face);
      }
      top += leading(size);
    }
    return top;
  }

  /** Draws broken lines at `y`, over as many pages as they take. Neither their first nor their last one stands alone. */
  flow(lines: readonly Line[], x: number): void {
    let rest = lines;
    while (rest.length > 0) {
      const count = this.fitting(rest, this.room);
      if (count > 0) this.y = this.place(rest.slice(0, count), x, this.y);
      rest = rest.slice(count);
      if (rest.length > 0) this.newPage();
    }
  }

  /** How many of the lines go into this height if none is to stand alone: all, none, or some. */
  fitting(lines: readonly Line[], height: number): number {
    let count = 0;
    let used = 0;
    for (const { size } of lines) {
      used += leading(size);
      if (used > height) break;
      count++;
    }
    if (count === lines.length) return count;
    // Pages hold more than three lines, so this ends.
    count = Math.min(count, lines.length - 2);
    return count < 2 ? 0 : count;
  }

  rule(y: number, { color = HAIRLINE, width = 0.6, from = LEFT, to = RIGHT } = {}): void {
    this.doc.moveTo(from, y).lineTo(to, y).lineWidth(width).strokeColor(color).stroke();
  }

  /** All pages, each passed to `draw` with its number. */
  eachPage(draw: (number: number, count: number) => void): void {
    const { start, count } = this.doc.bufferedPageRange();
    for (let index = 0; index < count; index++) {
      this.doc.switchToPage(start + index);
      draw(index + 1, count);
    }
  }

  /** The file. */
  async bytes(): Promise<Uint8Array> {
    const { doc } = this;
    const parts: Uint8Array[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    doc.on('data', (part: Uint8Array) => void parts.push(part));
    doc.on('end', resolve).on('error', reject);
    doc.end();
    await promise;
    return new Uint8Array(Buffer.concat(parts));
  }
}
