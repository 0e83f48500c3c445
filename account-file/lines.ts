// Splits an account file into lines. A line that is too long is never held in memory.
import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';

/** Maximum length of a line in bytes: room for an attachment as base64 and its record. FAIR-03 */
export const LONGEST_LINE = 32 * 1024 ** 2;

/**
 * The lines of a UTF-8 text, without line ends. A line longer than LONGEST_LINE is cut, but stays longer than LONGEST_LINE. Rejects
 * at the first line that is not UTF-8, with its number. W-10
 */
export async function* linesOf(input: Readable): AsyncGenerator<string> {
  let begun: Buffer[] = [];
  let length = 0;
  let number = 0;
  const take = (piece: Buffer) => {
    if (length > LONGEST_LINE) return;
    begun.push(piece);
    length += piece.length;
  };
  const line = () => {
    const bytes = Buffer.concat(begun);
    const tooLong = length > LONGEST_LINE;
    begun = [];
    length = 0;
    number++;
    // The cut may be inside a character. Only the length matters, and latin1 keeps it: one character a byte.
    if (tooLong) return bytes.toString('latin1');
    // toString would replace invalid bytes silently.
    if (!isUtf8(bytes)) throw new Error(`line ${number} is not UTF-8`);
    return bytes.toString();
  };
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', from)) {
      take(chunk.subarray(from, end));
      yield line();
      from = end + 1;
    }
    take(chunk.subarray(from));
  }
  yield line();
}
