// How many rows an answer has, counted in its text: nothing is parsed again.
import type { JsonText } from '../../platform/json-text.ts';
import { inSlices } from '../../platform/slices.ts';

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];
const STEP = 32_768;

/** The records of the lists that stand in the answer itself, not in its records; 1 for an answer without such a list. */
export async function rowsOf({ text, rows: known }: JsonText): Promise<number> {
  if (known !== undefined) return known;
  let rows = 0;
  await inSlices(counted(text), (more) => {
    rows += more;
  });
  return rows;
}

/** The rows, part by part. */
function* counted(text: string): Generator<number> {
  let depth = 0;
  let listDepth = 0;
  let lists = 0;
  let rows = 0;
  let next = STEP;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    else if (code === LIST || code === OBJECT) {
      depth++;
      const first = code === LIST && depth <= 2 && listDepth === 0 ? text.charCodeAt(at + 1) : 0;
      // A list of names is no list of records.
      if (first === OBJECT || first === LIST_END) {
        listDepth = depth;
        lists++;
        if (first === OBJECT) rows++;
      }
    } else if (code === LIST_END || code === OBJECT_END) {
      if (depth === listDepth) listDepth = 0;
      depth--;
    } else if (code === COMMA && depth === listDepth) rows++;
    if (at < next) continue;
    yield rows;
    rows = 0;
    next = at + STEP;
  }
  yield lists === 0 ? 1 : rows;
}

/** Where the JSON string that begins here ends. */
function endOfText(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
