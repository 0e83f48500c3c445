// JSON kept as text: what the database wrote, or an earlier answer, is passed on without parsing.
import { AnswerTooLong } from './errors.ts';

/** A value as JSON text on one line. */
export class JsonText<Value = unknown> {
  readonly text: string;
  /** Of a list's page: how many records it has, where whoever made it knows. */
  readonly rows: number | undefined;

  constructor(text: string, rows?: number) {
    this.text = text;
    this.rows = rows;
  }

  parse(): Value {
    return JSON.parse(this.text);
  }

  /** For JSON.stringify of an object that contains it. */
  toJSON(): Value {
    return this.parse();
  }
}

/** The JSON text of a value. */
export const jsonText = <Value>(value: Value): JsonText<Value> => new JsonText(JSON.stringify(value) ?? 'null');

type Properties<Value> = { [Name in keyof Value]: Value[Name] | JsonText<Value[Name]> };

/** An object some of whose properties are JSON text already. Long texts are not copied. */
export function jsonObject<Value extends object>(properties: Properties<Value>): JsonText<Value> {
  let text = '';
  for (const [name, value] of Object.entries(properties)) {
    text += `${text === '' ? '{' : ','}"${name}":`;
    text += (value instanceof JsonText ? value : jsonText(value)).text;
  }
  return new JsonText(`${text || '{'}}`);
}

/** A list of what is text already. */
export const listOfTexts = <Value>(items: readonly JsonText<Value>[]): JsonText<Value[]> =>
  new JsonText(`[${items.map(({ text }) => text).join(',')}]`);

/** The object with more properties. */
export const withMore = <Value, More extends object>({ text }: JsonText<Value>, more: More): JsonText<Value & More> =>
  new JsonText(`${text.slice(0, -1)},${JSON.stringify(more).slice(1)}`);

/** Maximum size of an answer in bytes: 8 MB. FAIR-03 */
export const LONGEST_ANSWER = 8_000_000;

/** Returns the text; throws AnswerTooLong if it is too long. */
export function notTooLong<Text extends JsonText>(json: Text): Text {
  const { text } = json;
  // A UTF-16 code unit is at most three bytes of UTF-8, so shorter texts need no exact count.
  if (text.length * 3 > LONGEST_ANSWER && Buffer.byteLength(text) > LONGEST_ANSWER) throw new AnswerTooLong();
  return json;
}
