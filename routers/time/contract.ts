// What is shown of a contract `c` of a type `t`, in the list of contracts and with an employee: never its amounts (CON-02). It is in
// parts because the list has more properties between them.
import { decimalOf, flagOf, idOf, plainOf, textOf } from '../shared/shape.ts';

export const contractId = { contratoId: idOf('contract', 'c.id') };

export const contractType = {
  tipo_contrato: { tipoContratoId: idOf('contractType', 'c.contract_type_id'), titulo: textOf('t.title as type') },
};

/** The day it starts and the day it ends; null without an end. */
export const contractDates = {
  fecha_alta: plainOf('c.start_date'),
  fecha_baja: plainOf('c.end_date').orNull(),
};

/** The hours and the shift that were agreed, and whether it was signed. */
export const contractTerms = {
  minimo_horas_dia_laborable: decimalOf('c.minimum_daily_hours'),
  modo_turno: textOf('c.shift_mode'),
  turnoId: idOf('shift', 'c.shift_id'),
  firmado: flagOf('c.signed'),
};
