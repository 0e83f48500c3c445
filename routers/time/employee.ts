// How a person of the staff is shown, alone and in the list.
import { personOf } from '../shared/person.ts';
import { flagOf, idOf, textOf } from '../shared/shape.ts';

/** A department `d`; `reference`: the column that names it, of the record that belongs to it. Without one, both are "". ENV-08 */
export const departmentOf = <const Reference extends string>(reference: Reference) => ({
  departamentoId: idOf('department', reference),
  titulo: textOf('d.title as department'),
});

/** An employee `e` of a department `d`. */
export const employee = {
  ...personOf('e.id'),
  email: textOf('e.email'),
  activo: flagOf('e.active'),
  departamento: departmentOf('e.department_id'),
};
