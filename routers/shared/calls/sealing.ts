// What a handler answers becomes what a caller gets: JSON text in which every id is sealed (ID-01).
import type { z } from 'zod';
import type { Ids } from '../../../platform/ids.ts';
import { JsonText, jsonObject, jsonText } from '../../../platform/json-text.ts';
import { inSlices } from '../../../platform/slices.ts';
import { type IdSite, idSites } from './walk.ts';

export type Seal = (ids: Ids, accountId: number, answer: unknown) => Promise<JsonText>;

/** Seals the answers of this schema, a long one in slices. */
export function sealer(schema: z.core.$ZodType): Seal {
  const sites = idSites(schema);
  return async (ids, accountId, answer) => {
    if (answer instanceof JsonText) return new JsonText(await ids.sealMarked(accountId, answer.text), answer.rows);
    const root = { value: answer };
    const found = sites(root);
    await sealSites(ids, accountId, found);
    return found.length > PART ? new JsonText(await longText(root.value)) : jsonText(root.value);
  };
}

/** What JSON.stringify makes of it, where long lists stand in objects: of those, in slices. */
async function longText(value: unknown): Promise<string> {
  if (Array.isArray(value)) {
    const texts: string[] = [];
    await inSlices(partsOf(value), (some) => texts.push(JSON.stringify(some).slice(1, -1)));
    return `[${texts.join(',')}]`;
  }
  if (typeof value !== 'object' || value === null || value instanceof JsonText) return jsonText(value).text;
  const properties: [string, JsonText][] = [];
  for (const [name, property] of Object.entries(value)) {
    if (property !== undefined) properties.push([name, new JsonText(await longText(property))]);
  }
  return jsonObject(Object.fromEntries(properties)).text;
}

/** Ids that are sealed at a time, and items that are written. */
const PART = 1000;

const partsOf = <Item>(items: readonly Item[]): Item[][] =>
  Array.from({ length: Math.ceil(items.length / PART) }, (_, part) => items.slice(part * PART, (part + 1) * PART));

/** Numbers become sealed ids in place. */
async function sealSites(ids: Ids, accountId: number, sites: readonly IdSite[]): Promise<void> {
  await inSlices(partsOf(sites), (some) => {
    const sealed = ids.sealAll(
      accountId,
      some.map(({ mark, container, key }) => ({ kind: mark.kind, number: Number(container[key]) })),
    );
    for (const [index, { container, key }] of some.entries())
      container[key] = container[key] === null ? '' : sealed[index];
  });
}
