// Parses JSON from callers. The cost is bounded, and text that is not well-formed is refused.
import { isUtf8 } from 'node:buffer';
import { ApiError } from './errors.ts';

/** Maximum number of values in a body, objects and lists included. Parsing and checking this many takes milliseconds. */
export const MOST_VALUES = 20_000;
/** Maximum nesting. No valid input is this deep. */
const DEEPEST = 100;

const SUSPECT_NAME =
  /"(?:_|\\u005f)(?:_|\\u005f)(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006f)(?:t|\\u0074)(?:o|\\u006f)(?:_|\\u005f)(?:_|\\u005f)"\s*:/i;
const SURROGATE = /\\ud[89a-f]/i;

const notJson = (cause?: unknown) => new ApiError('badInput', 'El cuerpo de la petición no es JSON válido', { cause });

/** The text of a body without its byte-order mark. Throws 400 if it is not UTF-8. W-10 */
export function bodyText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new ApiError('badInput', 'El cuerpo de la petición no es UTF-8 válido');
  const text = bytes.toString();
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/**
 * Parses JSON text. Throws 400 for invalid JSON, more than MOST_VALUES values, too deep nesting, a property called `__proto__`, and
 * an escaped lone surrogate. W-10, FAIR-04
 */
export function parseJson(text: string): unknown {
  checkStructure(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw notJson(cause);
  }
  if (SUSPECT_NAME.test(text) || SURROGATE.test(text)) checkTexts(value);
  return value;
}

/** The checks of `parseJson`, for text that other code will parse. Invalid JSON is left to that code. */
export function checkJson(text: string): void {
  checkStructure(text);
  if (!SUSPECT_NAME.test(text) && !SURROGATE.test(text)) return;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return;
  }
  checkTexts(value);
}

/** Counts values and levels before parsing, which is the expensive step. */
function checkStructure(text: string): void {
  let values = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth++;
        values++;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case 0x2c: // ,
        values++;
    }
    if (values >= MOST_VALUES) {
      throw new ApiError(
        'badInput',
        `La petición lleva demasiados valores: se admiten ${MOST_VALUES}, contando campos, elementos de listas y objetos`,
      );
    }
    if (depth > DEEPEST) throw new ApiError('badInput', 'Los datos de entrada tienen demasiados niveles');
  }
}

/** The index of the closing quote of the string that begins at `start`; the text's length if there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === 0x5c) before--;
    if ((end - before) % 2 === 0) return end;
  }
  return text.length;
}

function checkTexts(root: unknown): void {
  const left = [root];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value === 'string') checkText(value);
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, property] of Object.entries(value)) {
      if (name === '__proto__') throw notJson(new SyntaxError('__proto__ in a body'));
      checkText(name);
      left.push(property);
    }
  }
}

function checkText(text: string): void {
  if (text.isWellFormed()) return;
  throw new ApiError(
    'badInput',
    'El cuerpo de la petición no es UTF-8 válido: hay medio carácter (un sustituto suelto)',
  );
}
