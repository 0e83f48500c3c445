// What a handler answers becomes what a caller gets: JSON text in which every id is sealed (ID-01).
import type { z } from 'zod';
import type { Ids } from '../../platform/ids.ts';
import { JsonText, jsonText } from '../../platform/json-text.ts';
import { type IdSite, idSites } from './walk.ts';

export type Seal = (ids: Ids, accountId: number, answer: unknown) => JsonText;

/** Seals the answers of this schema, a page at a time. */
export function sealer(schema: z.core.$ZodType): Seal {
  const sites = idSites(schema);
  return (ids, accountId, answer) => {
    if (answer instanceof JsonText) return new JsonText(ids.sealMarked(accountId, answer.text));
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
