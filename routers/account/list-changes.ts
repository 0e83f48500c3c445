import { z } from 'zod';
import { jsonObject, listOfTexts } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { change, entries, journalHead, refuseUnknownPlace, shownChange, types } from './changes.ts';

const LIMIT = { size: 100, max: 1000 };
const LONGEST_WAIT = 25;

const output = z.object({
  epoca: z.string().describe('Otra que la conocida: se restauró una copia, y hay que leer todo de nuevo'),
  cambios: z.array(change),
  siguiente: z.int().describe('El desde de la próxima llamada'),
  hay_mas: z.boolean(),
  ultimo: z.int().describe('El número del último cambio'),
});
type Answer = z.input<typeof output>;

/**
 * What changed in the company since change number `desde`, in the order of the commits: who asks again with `siguiente` meets each
 * change exactly once. `desde` 0 is the oldest that is kept (400 days); an earlier one is 410, one that there is not yet 400. With
 * `espera` it answers when something comes. Another `epoca` than before says that a backup was restored: what was read is to be read
 * anew, and `desde` begins at its `ultimo`. JRN-01..03
 */
export const listChanges = operation({
  title: 'Consultar cambios',
  description:
    'Qué ha cambiado desde un número de cambio, por orden y sin huecos. Para seguir, repite con desde = siguiente.',
  rest: ['GET /changes'],
  alias: 'consultarCambios',
  scope: 'svc.read',
  lasts: false,
  gone: true,
  input: {
    desde: z.int().min(0).default(0).describe('Último número conocido; 0 es el principio'),
    tipos: types().optional().describe('Solo estas colecciones'),
    limite: z
      .int()
      .min(1)
      .transform((asked) => Math.min(asked, LIMIT.max))
      .prefault(LIMIT.size)
      .describe(`${LIMIT.max} como máximo`),
    espera: z
      .int()
      .min(0)
      .transform((asked) => Math.min(asked, LONGEST_WAIT))
      .prefault(0)
      .describe(`Segundos que espera a que haya algo, ${LONGEST_WAIT} como máximo`),
  },
  output,
  async ready({ input: { desde, tipos, espera }, accountId, credential, service: { journal, database } }) {
    if (espera === 0) return;
    // What will never come is not waited for.
    refuseUnknownPlace(
      desde,
      await database.transaction(accountId, { credential }, (db) => journalHead(db, accountId)),
    );
    const until = performance.now() + espera * 1000;
    for (let after: number | undefined = desde; after !== undefined; ) {
      const seen: number = after;
      after = await journal.beyond(accountId, seen, until - performance.now());
      if (after === undefined || !tipos) return;
      const { rows } = await database.transaction(accountId, {}, (db) => entries(db, accountId, seen, tipos, 1));
      if (rows.length > 0) return;
    }
  },
  async handler({ input: { desde, tipos, limite }, db, accountId, principal: { timeZone } }) {
    const head = await journalHead(db, accountId);
    refuseUnknownPlace(desde, head);
    const { epoch, last } = head;
    // What was committed since is of the next call.
    const { rows: found } = await entries(db, accountId, desde, tipos, limite + 1, last);
    const shown = found.slice(0, limite);
    const more = found.length > limite;
    return jsonObject<Answer>({
      epoca: epoch,
      cambios: listOfTexts(shown.map((entry) => shownChange(entry, timeZone))),
      siguiente: more ? (shown.at(-1)?.n ?? desde) : last,
      hay_mas: more,
      ultimo: last,
    });
  },
});
