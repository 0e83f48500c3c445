import { sql } from 'kysely';
import { z } from 'zod';
import { COLLECTIONS } from '../../account-file/format.ts';
import type { Db } from '../../platform/database.ts';
import { ApiError, badField } from '../../platform/errors.ts';
import { markedId } from '../../platform/ids.ts';
import { type Action, tableOf } from '../../platform/journal.ts';
import { JsonText, jsonObject, listOfTexts } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { COLLECTION_NAMES, kindOf } from './records.ts';

/** The collections of the account file, those whose records have no ids on the wire too. */
const NAMES = ['cuenta', ...COLLECTION_NAMES, 'tipos_dia', 'subtipos_gasto', 'liquidaciones'] as const;

const TABLES = new Map([
  ...COLLECTIONS.map(({ name, table }) => [name, table] as const),
  ['cuenta', tableOf('account')],
]);
/** What a change is of, by its table: the collection, and the kind of its ids. */
const TYPES = new Map([...TABLES].map(([name, table]) => [table, { name, kind: kindOf(name) }]));

const ACTIONS: Record<Action, 'crear' | 'modificar' | 'anular' | 'eliminar'> = {
  create: 'crear',
  modify: 'modificar',
  annul: 'anular',
  delete: 'eliminar',
};

const LIMIT = { size: 100, max: 1000 };
const LONGEST_WAIT = 25;

const change = z.object({
  n: z.int().describe('Número del cambio: 1, 2, 3, ... sin huecos'),
  momento: z.string().meta({ example: '2026-03-02T11:00:00.000+01:00' }),
  tipo: z.string().describe('Colección del registro, como clientes; cuenta es la empresa'),
  id: z.string().nullable().describe('Como lo toman sus lecturas; null si no tienen'),
  accion: z.enum(['crear', 'modificar', 'anular', 'eliminar']),
  operacion: z.string().describe('Alias de la operación, o la orden'),
  origen: z.object({
    tipo: z.enum(['clave', 'conexion', 'persona', 'importacion', 'programa', 'comando']),
    nombre: z.string().nullable(),
  }),
  peticion: z.string().describe('Identificador de la petición'),
});

const output = z.object({
  epoca: z.string().describe('Otra que la conocida: se restauró una copia, y hay que leer todo de nuevo'),
  cambios: z.array(change),
  siguiente: z.int().describe('El desde de la próxima llamada'),
  hay_mas: z.boolean(),
  ultimo: z.int().describe('El número del último cambio'),
});
type Answer = z.input<typeof output>;
type Change = z.input<typeof change>;

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
    tipos: z.array(z.enum(NAMES)).max(50).optional().describe('Solo estas colecciones'),
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
  async ready({ input: { desde, tipos, espera }, accountId, service: { journal, database } }) {
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
    const { rows } = await sql<Head>`
      select j.epoch, j.n, (select min(e.n) from journal_entries e where e.account_id = ${accountId}) as first
      from journals j where j.account_id = ${accountId}`.execute(db);
    const { epoch, n: last, first } = rows[0] ?? { epoch: '', n: 0, first: null };
    if (desde > last) throw badField('desde', `el último cambio es ${last}`);
    const oldest = first ?? last + 1;
    if (desde > 0 && desde < oldest - 1) {
      throw new ApiError(
        'gone',
        `Los cambios se conservan desde el ${oldest}: lee las listas de nuevo y sigue desde ${last}`,
      );
    }
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

interface Head {
  epoch: string;
  n: number;
  first: number | null;
}

interface Entry {
  n: number;
  created_at: string;
  record_table: string;
  record_id: number;
  action: Action;
  operation: string;
  actor: string;
  door: string;
  request_id: string;
  key_name: string | null;
  application: string | null;
}

/** Changes after a number, the oldest first. */
const entries = (
  db: Db,
  accountId: number,
  after: number,
  types: readonly string[] | undefined,
  limit: number,
  last = Number.MAX_SAFE_INTEGER,
) =>
  sql<Entry>`
    select e.n, e.created_at, e.record_table, e.record_id, e.action, e.operation, e.actor, e.door, e.request_id,
      k.name as key_name, g.client_name as application
    from journal_entries e
    left join api_keys k on k.account_id = ${accountId} and e.actor = 'key:' || k.id
    left join grants g on g.account_id = ${accountId} and e.actor = 'token:' || g.id
    where e.account_id = ${accountId} and e.n > ${after} and e.n <= ${last}
      and (${types === undefined} or e.record_table = any(${types?.flatMap((type) => TABLES.get(type) ?? []) ?? []}::text[]))
    order by e.n limit ${limit}`.execute(db);

/** Who made a change: the kind of actor, and its name where it has one. */
function originOf({ actor, door, operation: command, key_name, application }: Entry): Change['origen'] {
  if (actor.startsWith('key:')) return { tipo: 'clave', nombre: key_name };
  if (actor.startsWith('token:')) return { tipo: 'conexion', nombre: application };
  if (actor.startsWith('user:')) return { tipo: 'persona', nombre: null };
  if (door === 'schedule') return { tipo: 'programa', nombre: null };
  return { tipo: command === 'import' ? 'importacion' : 'comando', nombre: null };
}

function shownChange(entry: Entry, timeZone: string): JsonText<Change> {
  const { name, kind } = TYPES.get(entry.record_table) ?? { name: entry.record_table, kind: undefined };
  const at = Temporal.Instant.from(entry.created_at);
  return jsonObject({
    n: entry.n,
    momento: at.toZonedDateTimeISO(timeZone).toString({ timeZoneName: 'never', fractionalSecondDigits: 3 }),
    tipo: name,
    id: kind ? new JsonText<string>(markedId(kind, entry.record_id).text) : null,
    accion: ACTIONS[entry.action],
    operacion: entry.operation,
    origen: originOf(entry),
    peticion: entry.request_id,
  });
}
