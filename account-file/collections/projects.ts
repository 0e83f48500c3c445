import { inOrder } from '../checks.ts';
import { collection } from '../collection.ts';
import {
  decimalNumber,
  decimalOr,
  entryClocking,
  exitClocking,
  flag,
  optionalDate,
  optionalReference,
  optionalText,
  reference,
  text,
} from '../fields.ts';
import { clients } from './parties.ts';
import { employees } from './people.ts';

export const projectStates = collection('estados_proyecto', 'project_states', { titulo: text('title') });

export const projects = collection('proyectos', 'projects', {
  numero: text('number'),
  descripcion: text('description'),
  cliente: optionalReference(clients, 'client_id'),
  estado: optionalReference(projectStates, 'state_id'),
  presupuesto_coste: decimalOr('budgeted_cost', 0),
  presupuesto_venta: decimalOr('budgeted_sales', 0),
});

export const taskStates = collection('estados_tarea', 'task_states', { titulo: text('title') });

export const tasks = collection(
  'tareas',
  'tasks',
  {
    titulo: text('title'),
    proyecto: optionalReference(projects, 'project_id'),
    estado: optionalReference(taskStates, 'state_id'),
    responsable: optionalReference(employees, 'owner_id'),
    fecha_inicio: optionalDate('start_date'),
    fecha_prevista_fin: optionalDate('planned_end_date'),
    progreso: decimalOr('progress', 0, decimalNumber().min(0).max(100)),
    importe_presupuestado: decimalOr('budgeted_amount', 0),
    eliminada: flag('deleted', false),
  },
  { check: (record, wrong) => inOrder(record, 'fecha_inicio', 'fecha_prevista_fin', wrong) },
);

export const machines = collection('maquinas', 'machines', {
  titulo: text('title'),
  coste_hora: decimalOr('hourly_cost', 0),
});

export const timeEntries = collection('fichajes', 'time_entries', {
  empleado: reference(employees, 'employee_id'),
  entrada: entryClocking('entry_at', 'entry_method'),
  salida: exitClocking('exit_at', 'exit_method', 'entry_at'),
  proyecto: optionalReference(projects, 'project_id'),
  tarea: optionalReference(tasks, 'task_id'),
  maquina: optionalReference(machines, 'machine_id'),
  pausa_minutos: decimalOr('break_minutes', 0, decimalNumber().min(0)),
  observaciones: optionalText('notes'),
});
