// People, their contracts and absences, the projects they work on, and their time entries.
import { around, day, each, padded, type Sizes } from './sizes.ts';

const STATES = ['Abierto', 'En curso', 'Parado', 'Cerrado'] as const;
const METHODS = ['app', 'tarjeta', 'kiosco'] as const;
/** Start hours of shifts; each ends before the next starts. */
const SHIFTS = [7, 11, 15, 19] as const;
const MACHINES = 20;
const ABSENCES_EACH = 8;
const TASKS_EACH = 2;

export function* people({ people, days }: Sizes) {
  yield { coleccion: 'departamentos', ref: 'd', titulo: 'Obra' };
  yield { coleccion: 'tipos_contrato', ref: 'i', titulo: 'Indefinido' };
  yield* each(people, (n) => ({
    coleccion: 'empleados',
    ref: `e${n}`,
    id: n,
    nombre: `Nombre${n}`,
    apellidos: `Apellido${n} Segundo${n % 17}`,
    departamento: 'd',
  }));
  yield* each(people * 2, (n) => {
    const second = n % 2 === 0;
    const person = Math.ceil(n / 2);
    return {
      coleccion: 'contratos',
      ref: `k${n}`,
      empleado: `e${person}`,
      tipo_contrato: 'i',
      fecha_alta: second ? '2025-01-01' : '2020-01-01',
      fecha_baja: second ? null : '2024-12-31',
      minimo_horas_dia_laborable: 8,
      coste_hora: 10 + (person % 13) + (second ? 1 : 0),
      coste_hora_pension: 0.35,
      coste_hora_ss: 3 + (person % 7) / 10,
    };
  });
  yield* each(people * ABSENCES_EACH, (n) => {
    const start = (n * 37) % (days - 10);
    return {
      coleccion: 'ausencias',
      ref: `b${n}`,
      empleado: `e${(n % people) + 1}`,
      titulo: 'Vacaciones',
      tipo: 'vacaciones',
      fecha_inicio: day(start),
      fecha_fin: day(start + (n % 10)),
      autorizada: true,
    };
  });
}

export function* projects({ people, projects, clients, days }: Sizes) {
  yield* each(STATES.length, (n) => ({ coleccion: 'estados_proyecto', ref: `s${n}`, titulo: around(STATES, n - 1) }));
  yield* each(projects, (n) => ({
    coleccion: 'proyectos',
    ref: `j${n}`,
    id: n,
    numero: `P${padded(n, 5)}`,
    descripcion: `Proyecto numero ${n} obra ${n % 97}`,
    cliente: `c${((n * 2) % clients) + 1}`,
    estado: `s${(n % STATES.length) + 1}`,
    presupuesto_coste: 10_000 + n,
    presupuesto_venta: 15_000 + n * 2,
  }));
  yield* each(projects * TASKS_EACH, (n) => {
    const start = (n * 53) % (days - 60);
    return {
      coleccion: 'tareas',
      ref: `w${n}`,
      titulo: `Tarea ${n}`,
      proyecto: `j${Math.ceil(n / TASKS_EACH)}`,
      responsable: `e${(n % people) + 1}`,
      fecha_inicio: day(start),
      fecha_prevista_fin: day(start + (n % 60)),
      progreso: n % 101,
    };
  });
}

/** Six of ten are charged to a project, a fifth of those also to a machine; one in 500 is open. */
export function* timeEntries({ timeEntries, people, projects, days }: Sizes) {
  yield* each(MACHINES, (n) => ({ coleccion: 'maquinas', ref: `m${n}`, titulo: `Maquina ${n}`, coste_hora: 5 + n }));
  let current = -1;
  let fecha = '';
  for (let n = 0; n < timeEntries; n++) {
    const since = Math.floor((n * days) / timeEntries);
    if (since !== current) {
      current = since;
      fecha = day(since);
    }
    const begins = around(SHIFTS, (n % 2) + 2 * (Math.floor(n / (2 * people)) % 2));
    const at = (hour: number, minute: number) => ({
      fecha,
      hora: `${padded(hour, 2)}:${padded(minute, 2)}`,
      metodo: around(METHODS, n),
    });
    const charged = n % 10 < 6;
    yield {
      coleccion: 'fichajes',
      ref: `h${n}`,
      empleado: `e${(Math.floor(n / 2) % people) + 1}`,
      entrada: at(begins, n % 30),
      salida: n % 500 === 7 ? null : at(begins + 4, 0),
      proyecto: charged ? `j${(Math.floor((n * 7919) / 10) % projects) + 1}` : null,
      maquina: charged && n % 5 === 0 ? `m${(n % MACHINES) + 1}` : null,
      observaciones: n % 50 === 0 ? `Observacion ${n}` : null,
    };
  }
}
