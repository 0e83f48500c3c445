import { z } from 'zod';
import { importRecords } from '../../account-file/import.ts';
import { AccountFileError, type Problem, sentence } from '../../account-file/problems.ts';
import { sealImported } from '../../documents/sealed-content.ts';
import { ApiError, badField, type FieldProblem } from '../../platform/errors.ts';
import { type Kind, markedId } from '../../platform/ids.ts';
import { JsonText, jsonObject } from '../../platform/json-text.ts';
import { operation } from '../operation.ts';
import { kindOf } from './records.ts';

/** Maximum number of records in `registros`. FAIR-03 */
const MOST_RECORDS = 1000;
/** Maximum size of `lineas` in bytes: 5 MB. FAIR-03 */
const MOST_BYTES = 5 * 1024 ** 2;

/** What only the operator imports: the company itself, and working time, which the API never writes. TIM-01 */
const REFUSED = new Set(['cuenta', 'fichajes', 'contratos', 'ausencias', 'calendario', 'empleados', 'tipos_dia']);

/** What was issued or moved is not changed. W-02 */
const KEPT = new Set([
  ...['albaranes', 'facturas', 'albaranes_compra', 'facturas_compra'],
  ...['movimientos_stock', 'movimientos_tesoreria', 'liquidaciones'],
]);

/**
 * Imports records of an account file, given as they stand in its lines: those whose `ref` is new are created, the others take what the
 * record says, a field that it leaves out its default. All or nothing: 400 names the record and the field of the first 100 problems. As
 * any import it issues, moves and sends nothing (ISS-02). Documents and movements that are there are not changed (W-02). Answers how many
 * are new, changed and equal, and the id of each by collection and ref. docs/account-file.md
 */
export const importIntoCompany = operation({
  title: 'Importar datos',
  description:
    'Crea o actualiza registros del formato de fichero de empresa por su ref, todos o ninguno, y da sus ids. Un campo que falta toma su valor por omisión. Para un solo registro usa su propia herramienta.',
  rest: ['POST /imports'],
  alias: 'importarDatos',
  scope: 'svc.write',
  destructive: true,
  lines: 'lineas',
  input: {
    registros: z
      .array(z.record(z.string(), z.unknown()))
      .min(1)
      .max(MOST_RECORDS)
      .optional()
      .describe('Cada uno con coleccion, ref y sus campos'),
    lineas: z
      .string()
      .refine((text) => Buffer.byteLength(text) <= MOST_BYTES, `no puede pasar de ${MOST_BYTES / 1024 ** 2} MB`)
      .optional()
      .describe('O bien las líneas de un fichero (NDJSON)'),
  },
  output: z.object({
    nuevos: z.int(),
    cambiados: z.int(),
    iguales: z.int(),
    ids: z.record(z.string(), z.record(z.string(), z.string())).describe('Por colección y ref'),
  }),
  async handler({ input: { registros, lineas }, db, accountId, now, author, journalAll }) {
    if ((registros === undefined) === (lineas === undefined)) {
      throw badField('registros', registros ? 'no puede ir junto con lineas' : 'es obligatorio si no se manda lineas');
    }
    const records = registros ?? (lineas ?? '').split('\n');
    const { created, changed, same, ids, changes } = await importRecords(db, accountId, records, {
      now,
      refused: REFUSED,
      kept: KEPT,
    }).catch((error: unknown) => {
      throw error instanceof AccountFileError ? refusal(error, registros !== undefined) : error;
    });
    if (created + changed + same === 0) throw badField('lineas', 'no hay ningún registro');
    await sealImported(db, { accountId, origin: { ...author, operation: 'importarDatos', now } }, changes.certain);
    journalAll(changes);
    const shown = [...ids].flatMap(([{ name }, byRef]) => {
      const kind = kindOf(name);
      return kind ? [[name, idsOf(kind, byRef)] as const] : [];
    });
    return jsonObject({
      ...{ nuevos: created, cambiados: changed, iguales: same },
      ids: jsonObject<Record<string, Record<string, string>>>(Object.fromEntries(shown)),
    });
  },
});

/** Ids by ref, as JSON text in which they are to be sealed. */
const idsOf = (kind: Kind, byRef: ReadonlyMap<string, number>) =>
  new JsonText<Record<string, string>>(
    `{${[...byRef].map(([ref, id]) => `${JSON.stringify(ref)}:${markedId(kind, id).text}`).join(',')}}`,
  );

/** 400 with the problems: of records by their index, of lines by their number. */
function refusal({ problems, total }: AccountFileError, byIndex: boolean): ApiError {
  const fieldOf = ({ line, campo }: Problem) =>
    byIndex ? [`registros[${line - 1}]`, campo].filter(Boolean).join('.') : 'lineas';
  const messageOf = ({ coleccion, ref, mensaje }: Problem) => [[coleccion, ref].filter(Boolean).join(' '), mensaje];
  const fields = problems.map(
    (problem): FieldProblem => ({
      campo: fieldOf(problem),
      mensaje: byIndex ? messageOf(problem).filter(Boolean).join(': ') : sentence(problem),
    }),
  );
  const count = total === 1 ? 'Hay 1 error' : `Hay ${total} errores`;
  return new ApiError('badInput', `${count} y no se ha importado nada`, { fields });
}
