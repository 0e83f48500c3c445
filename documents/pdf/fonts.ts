// The fonts of documents: IBM Plex Sans, whose figures all have one width. They are embedded, each with the glyphs that are used.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { create, type Font } from 'fontkit';

// What the types of pdfkit don't know.
declare global {
  namespace PDFKit.Mixins {
    interface PDFFont {
      /** Also takes a font that is parsed already. */
      registerFont(name: string, font: Font): this;
    }
    interface PDFImage {
      openImage(bytes: Buffer): { width: number; height: number; orientation?: number };
    }
  }
}

const FILES = {
  regular: '400Regular/IBMPlexSans_400Regular.ttf',
  bold: '600SemiBold/IBMPlexSans_600SemiBold.ttf',
  italic: '400Regular_Italic/IBMPlexSans_400Regular_Italic.ttf',
  boldItalic: '600SemiBold_Italic/IBMPlexSans_600SemiBold_Italic.ttf',
} as const;

export type Face = keyof typeof FILES;
export const FACES: readonly Face[] = ['regular', 'bold', 'italic', 'boldItalic'];

const { resolve } = createRequire(import.meta.url);

function open(face: Face): Font {
  const font = create(readFileSync(resolve(`@expo-google-fonts/ibm-plex-sans/${FILES[face]}`)));
  if (!('layout' in font)) throw new Error(`${FILES[face]} holds several fonts`);
  return font;
}

/** Parsed once: that takes longer than a document. */
export const fonts: Readonly<Record<Face, Font>> = {
  regular: open('regular'),
  bold: open('bold'),
  italic: open('italic'),
  boldItalic: open('boldItalic'),
};

/** What every face has. */
const PLAIN = /^[\n\x20-\x7e\u00a0-\u00ac\u00ae-\u017f]*$/;
/** Controls and invisible marks, such as those that turn the direction of writing. Tabs are spaces by then. */
const UNPRINTABLE = /\p{Cc}|\p{Cf}|\p{Variation_Selector}/gu;
/** Stands for a character that the fonts don't have. */
const UNKNOWN = '\ufffd';

const known = new Map<string, boolean>();

function isKnown(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return known.getOrInsertComputed(character, () => FACES.every((face) => fonts[face].hasGlyphForCodePoint(code)));
}

/** The text as the fonts can write it, its lines kept. Other scripts show as `\ufffd`. */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  const lines = text
    .toWellFormed()
    .normalize('NFC')
    .replaceAll('\t', ' ')
    .split(/\r\n|[\n\r\u2028\u2029]/);
  return lines
    .map((line) =>
      line
        .replace(UNPRINTABLE, '')
        .replace(/[^\x20-\x7e]/gu, (one) => (isKnown(one) ? one : /\p{M}/u.test(one) ? '' : UNKNOWN)),
    )
    .join('\n');
}
