// How a person is shown in every area.
import { idOf, textOf } from './shape.ts';

/** A person `e`; `reference`: the column that says who it is, of `e` or of a record of theirs. */
export const personOf = <const Reference extends string>(reference: Reference) => ({
  empleadoId: idOf('employee', reference),
  nombre: textOf('e.first_name'),
  apellidos: textOf('e.last_name'),
});
