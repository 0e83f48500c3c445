// JSON that is text already: what the database wrote, or what an earlier call answered, goes on without being read.

/** A value as its JSON text, in one line. */
export class JsonText<Value = unknown> {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  parse(): Value {
    return JSON.parse(this.text);
  }

  /** For who makes JSON of what it stands in. */
  toJSON(): Value {
    return this.parse();
  }
}

export const jsonText = <Value>(value: Value): JsonText<Value> => new JsonText(JSON.stringify(value) ?? 'null');

type Properties<Value> = { [Name in keyof Value]: Value[Name] | JsonText<Value[Name]> };

/** An object, of whose properties some are text already. Put together without copying what is long. */
export function jsonObject<Value extends object>(properties: Properties<Value>): JsonText<Value> {
  let text = '';
  for (const [name, value] of Object.entries(properties)) {
    text += `${text === '' ? '{' : ','}"${name}":`;
    text += (value instanceof JsonText ? value : jsonText(value)).text;
  }
  return new JsonText(`${text || '{'}}`);
}

/** The element of a list of one; undefined of none. */
export const onlyOf = <Value>({ text }: JsonText<Value[]>): JsonText<Value> | undefined =>
  text === '[]' ? undefined : new JsonText(text.slice(1, -1));

/** An object with more properties. */
export const withMore = <Value, More extends object>({ text }: JsonText<Value>, more: More): JsonText<Value & More> =>
  new JsonText(`${text.slice(0, -1)},${JSON.stringify(more).slice(1)}`);
