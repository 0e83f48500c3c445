import { inOrder } from '../checks.ts';
import { collection } from '../collection.ts';
import {
  date,
  dayType,
  decimalOr,
  flag,
  optionalDate,
  optionalEmail,
  optionalReference,
  optionalText,
  reference,
  text,
  textOr,
} from '../fields.ts';

export const departments = collection('departamentos', 'departments', { titulo: text('title') });
export const contractTypes = collection('tipos_contrato', 'contract_types', { titulo: text('title') });
export const shifts = collection('turnos', 'shifts', { titulo: text('title') });

export const employees = collection('empleados', 'employees', {
  nombre: text('first_name'),
  apellidos: optionalText('last_name', ''),
  email: optionalEmail('email'),
  activo: flag('active', true),
  departamento: optionalReference(departments, 'department_id'),
});

export const contracts = collection(
  'contratos',
  'contracts',
  {
    empleado: reference(employees, 'employee_id'),
    tipo_contrato: reference(contractTypes, 'contract_type_id'),
    departamento: optionalReference(departments, 'department_id'),
    fecha_alta: date('start_date'),
    fecha_baja: optionalDate('end_date'),
    fecha_fin_periodo_pruebas: optionalDate('probation_end_date'),
    minimo_horas_dia_laborable: decimalOr('minimum_daily_hours', 0),
    modo_turno: textOr('shift_mode', 'turno'),
    turno: optionalReference(shifts, 'shift_id'),
    firmado: flag('signed', false),
    coste_hora: decimalOr('hourly_cost', 0),
    coste_hora_pension: decimalOr('hourly_pension', 0),
    coste_hora_ss: decimalOr('hourly_social_security', 0),
  },
  { check: (record, wrong) => inOrder(record, 'fecha_alta', 'fecha_baja', wrong) },
);

export const dayTypes = collection(
  'tipos_dia',
  'day_types',
  { tipo: text('code'), titulo: text('title') },
  { key: 'tipo' },
);

export const calendarEntries = collection(
  'calendario',
  'calendar_entries',
  {
    titulo: text('title'),
    tipo: dayType('day_type'),
    fecha_inicio: date('start_date'),
    fecha_fin: date('end_date'),
  },
  { check: (record, wrong) => inOrder(record, 'fecha_inicio', 'fecha_fin', wrong) },
);

export const absences = collection(
  'ausencias',
  'absences',
  {
    empleado: reference(employees, 'employee_id'),
    titulo: text('title'),
    tipo: dayType('day_type'),
    fecha_inicio: date('start_date'),
    fecha_fin: date('end_date'),
    porcentaje_imputable: decimalOr('chargeable_percent', 100),
    autorizada: flag('authorised', false),
    rechazada: flag('rejected', false),
  },
  {
    check(record, wrong) {
      inOrder(record, 'fecha_inicio', 'fecha_fin', wrong);
      if (record.autorizada && record.rechazada)
        wrong('rechazada', 'una ausencia no puede estar autorizada y rechazada');
    },
  },
);
