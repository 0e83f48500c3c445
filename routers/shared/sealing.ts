// What a handler answers becomes what a caller gets: JSON text in which every id is sealed (ID-01).
import { z } from 'zod';
import type { Ids, Kind } from '../../platform/ids.ts';
import { JsonText, jsonText } from '../../platform/json-text.ts';
import { idMarks } from './id.ts';
import { type IdSite, idSites, unwrap } from './walk.ts';

export type Seal = (ids: Ids, accountId: number, answer: unknown) => JsonText;

/** Seals the answers of this schema, a page at a time. */
export function sealer(schema: z.core.$ZodType): Seal {
  const sites = idSites(schema);
  const inText = textSealer(schema);
  return (ids, accountId, answer) => {
    if (answer instanceof JsonText) return new JsonText(inText(ids, accountId, answer.text));
    const root = { value: answer };
    sealSites(ids, accountId, sites(root));
    return jsonText(root.value);
  };
}

/** Numbers become sealed ids in place. */
function sealSites(ids: Ids, accountId: number, sites: readonly IdSite[]): void {
  const sealed = ids.sealAll(
    accountId,
    sites.map(({ mark, container, key }) => ({ kind: mark.kind, number: Number(container[key]) })),
  );
  for (const [index, { container, key }] of sites.entries())
    container[key] = container[key] === null ? '' : sealed[index];
}

interface NamedId {
  kind: Kind;
  /** What stands for a record that is not set. ENV-08 */
  none: 'null' | '""';
}

/**
 * The same in text, where an id is known by its name. What looks like one inside a text can't be taken for it, since there a
 * quotation mark has a backslash before it.
 */
function textSealer(schema: z.core.$ZodType): (ids: Ids, accountId: number, text: string) => string {
  const named = new Map<string, NamedId>();
  const ambiguous = collectNames(schema, '', named);
  const pattern = new RegExp(`"(${[...named.keys()].join('|')})" ?: ?(\\d+|null)`, 'g');
  return (ids, accountId, text) => {
    if (ambiguous) throw new Error(`${ambiguous} is an id of two kinds, which a text does not tell apart`);
    if (named.size === 0) return text;
    const found: { id: NamedId; number: number; at: number; end: number }[] = [];
    for (const { 0: whole, 1: name = '', 2: value = '', index } of text.matchAll(pattern)) {
      const end = index + whole.length;
      const id = named.get(name);
      if (id) found.push({ id, number: value === 'null' ? 0 : Number(value), at: end - value.length, end });
    }
    const records = found.map(({ id: { kind }, number }) => ({ kind, number }));
    let result = '';
    let from = 0;
    const sealed = ids.sealAll(accountId, records);
    for (const [index, { id, number, at, end }] of found.entries()) {
      result += text.slice(from, at) + (number === 0 ? id.none : `"${sealed[index]}"`);
      from = end;
    }
    return result + text.slice(from);
  };
}

/** Notes the names of the ids in a schema; answers one that stands for two kinds, if there is any. */
function collectNames(schema: z.core.$ZodType, name: string, named: Map<string, NamedId>): string | undefined {
  const inner = unwrap(schema);
  const mark = idMarks.get(inner);
  if (mark) {
    const none = z.safeParse(schema, null).success ? 'null' : '""';
    const before = named.get(name);
    named.set(name, { kind: mark.kind, none });
    return before && (before.kind !== mark.kind || before.none !== none) ? name : undefined;
  }
  if (inner instanceof z.ZodArray) return collectNames(inner._zod.def.element, name, named);
  if (!(inner instanceof z.ZodObject)) return undefined;
  return Object.entries(inner._zod.def.shape)
    .map(([key, property]) => collectNames(property, key, named))
    .find((ambiguous) => ambiguous !== undefined);
}
