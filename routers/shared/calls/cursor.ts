// The `cursor` of an input before its operation sees it. 400 for one that can't be opened.
import type { Cursors } from '../../../platform/cursors.ts';
import { badField } from '../../../platform/errors.ts';
import type { Begin } from '../schemas.ts';

/** `cursor` becomes where the page begins, in place; also where none was sent. `list`: the operation's alias. */
export function openCursor(cursors: Cursors, accountId: number, list: string, input: Record<string, unknown>): void {
  const { cursor, pagina } = input;
  const begin: Begin = { after: undefined, next: (position) => cursors.seal(accountId, list, position) };
  if (typeof cursor === 'string' && cursor !== '') {
    if (pagina !== 1) throw badField('cursor', 'no puede ir junto con pagina');
    begin.after = cursors.open(accountId, list, cursor);
    if (!begin.after) throw badCursor();
  }
  input.cursor = begin;
}

/** 400 for a cursor that no page of this list has answered. */
export const badCursor = () => badField('cursor', 'no es el que dio una página de esta lista');
