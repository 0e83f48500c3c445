// Projects, their tasks, and the machines that hours may be charged to.
import type { Context } from './calendar.ts';
import { PHASES, TRADES, type Trade, WORKS } from './names-and-places.ts';
import type { Client } from './parties.ts';
import type { Person } from './people.ts';
import {
  at,
  dateIn,
  daysBetween,
  earlier,
  list,
  pad,
  plus,
  type Random,
  type Row,
  range,
  table,
  titled,
} from './tools.ts';

interface Task {
  ref: string;
  start: string;
  end: string;
}

/** A project as documents and time entries need it. */
export interface Project {
  ref: string;
  trade: Trade;
  client?: Client;
  start: string;
  end: string;
  /** The agreed sale, in cents; also how much work it gives. */
  cents: number;
  /** The tasks that take hours. */
  tasks: Task[];
}

const STATES = list('Pendiente de inicio|En ejecución|Paralizado|Finalizado|Cerrado');
const TASK_STATES = list('Pendiente|En curso|Bloqueada|Terminada');

const MACHINES = table(`Plataforma elevadora de tijera|14.5
  Camión grúa|32
  Retroexcavadora mini|27.5
  Termofusionadora|4.2
  Curvadora de tubo|2.9
  Equipo de vacío y recuperación|6.4
  Analizador de redes|5.8`);

const CHORES = list(`Pasar la ITV de las furgonetas|Inventario del almacén|Renovar la homologación de instalador
  Revisar los extintores de la nave|Actualizar el plan de prevención|Calibrar los equipos de medida
  Ordenar la documentación de subvenciones|Preparar la auditoría de calidad|Renovar el seguro de la flota
  Revisar las tarifas de proveedores`);

// 54 that began in the two years, 4 yet to begin, and 2 of the firm's own, without a client.
function projectOf(context: Context, random: Random, clients: readonly Client[], index: number) {
  const { today, from } = context;
  const trade = at(TRADES, index);
  const own = index >= 58;
  const cents = own ? 0 : Math.round(10 ** random.real(1.2, 2.4)) * 50_000;
  const length = own ? 60 : 20 + Math.round(cents / 80_000) + random.int(0, 25);
  const opened = index < 54 ? dateIn(random, from, plus(today, -6)) : plus(today, own ? -90 : -random.int(3, 25));
  const start = plus(opened, index >= 54 && !own ? random.int(30, 60) : random.int(0, 5));
  const client = own ? undefined : random.pick(clients);
  const work = own
    ? at(['Reforma de la nave propia', 'Autoconsumo en la nave propia'], index)
    : random.pick(WORKS[trade]);
  const descripcion = client ? `${work} en ${client.town}` : work;
  return { trade, cents, opened, start, end: plus(start, length), client, descripcion };
}

/** 60 projects and their tasks. */
export function planProjects(context: Context, clients: readonly Client[], people: readonly Person[]) {
  const { today } = context;
  const random = context.random('projects');
  const proyectos: Row[] = [];
  const tareas: Row[] = [];
  const addTask = (titulo: string, start: string, end: string, trade: string, rest: Row, paused = false): Task => {
    const ref = `tar-${tareas.length + 1}`;
    const elapsed = daysBetween(start, today) / Math.max(1, daysBetween(start, end));
    const late = paused || random.chance(end < plus(today, -60) ? 0.02 : 0.3);
    const progreso = elapsed <= 0 ? 0 : elapsed > 1 && !late ? 100 : Math.min(95, Math.round(elapsed * 16) * 5);
    const estado = progreso === 100 ? 4 : progreso === 0 ? 1 : paused ? 3 : 2;
    const day = earlier(start, today);
    const crew = people.filter((person) => person.department === trade && person.works(day));
    const responsable = crew.length > 0 && random.chance(0.9) ? random.pick(crew).ref : null;
    const fecha_inicio = random.chance(0.04) ? null : start;
    const fecha_prevista_fin = random.chance(0.05) ? null : end;
    tareas.push({
      ref,
      titulo,
      estado: `est-${estado}`,
      responsable,
      fecha_inicio,
      fecha_prevista_fin,
      progreso,
      ...rest,
    });
    return { ref, start, end };
  };
  const counts = new Map<string, number>();
  const drafts = range(60, (index) => projectOf(context, random, clients, index)).sort((a, b) =>
    a.opened < b.opened ? -1 : 1,
  );
  const projects = drafts.map(({ opened, descripcion, ...draft }): Project => {
    const { start, end, cents, client, trade } = draft;
    const year = opened.slice(2, 4);
    counts.set(year, (counts.get(year) ?? 0) + 1);
    const numero = `${year}-${pad(counts.get(year) ?? 0, 3)}`;
    const paused = start < today && end > today && random.chance(0.12);
    const state = start > today ? 0 : paused ? 2 : end > today ? 1 : end > plus(today, -60) ? 3 : 4;
    proyectos.push({
      ref: numero,
      numero,
      descripcion,
      cliente: client?.ref ?? null,
      estado: `epr-${state + 1}`,
      presupuesto_venta: cents / 100,
      presupuesto_coste: Math.round(cents * random.real(0.0064, 0.0078)),
    });
    const step = daysBetween(start, end) / PHASES[trade].length;
    const tasks = PHASES[trade].flatMap((phase, index) => {
      const eliminada = random.chance(0.06);
      const importe_presupuestado = Math.round((cents / PHASES[trade].length) * random.real(0.006, 0.014));
      const bounds = [Math.round(step * index), Math.round(step * (index + 1.15))] as const;
      const rest = { proyecto: numero, importe_presupuestado, eliminada };
      const task = addTask(phase, plus(start, bounds[0]), plus(start, bounds[1]), trade, rest, paused);
      return eliminada ? [] : task;
    });
    return { ref: numero, ...draft, end: paused ? plus(today, -20) : end, tasks };
  });
  for (const [index, chore] of CHORES.entries()) {
    const start = plus(today, index * 9 - 60);
    addTask(chore, start, plus(start, random.int(5, 30)), at(['adm', 'alm', 'tec'], index), {});
  }
  const maquinas = MACHINES.map(([titulo, cost], index) => ({
    ref: `maq-${index + 1}`,
    titulo,
    coste_hora: Number(cost),
  }));
  const estados = { estados_proyecto: titled('epr', STATES), estados_tarea: titled('est', TASK_STATES) };
  return { projects, machines: maquinas.map(({ ref }) => ref), rows: { ...estados, proyectos, tareas, maquinas } };
}
