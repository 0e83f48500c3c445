// Projects, their tasks, and machines.
import type { Context } from './calendar.ts';
import { PHASES, suits, TRADES, WORKS } from './names-and-places.ts';
import type { Client } from './parties.ts';
import type { Person } from './people.ts';
import * as tools from './tools.ts';
import { along, at, daysBetween, earlier, pad, plus, type Random, type Row, range, table } from './tools.ts';

const STATES = 'Pendiente de inicio|En ejecución|Paralizado|Finalizado|Cerrado';
const TASK_STATES = 'Pendiente|En curso|Bloqueada|Terminada';
const MACHINES = table(`Plataforma elevadora|14.5//Camión grúa|32//Miniexcavadora|27.5//Termofusionadora|4.2
  Curvadora de tubo|2.9//Equipo de vacío y recuperación|6.4//Analizador de redes|5.8`);
const CHORES = tools.list(`Pasar la ITV de las furgonetas|Inventario del almacén|Renovar la homologación de instalador
  Revisar los extintores de la nave|Actualizar el plan de prevención|Calibrar los equipos de medida
  Ordenar la documentación de subvenciones|Preparar la auditoría de calidad|Renovar el seguro de la flota`);

// 54 that began in the two years, 4 that have not begun, and 2 internal ones without a client. `cents` is the agreed price.
function draftOf({ today, from, workday }: Context, random: Random, clients: readonly Client[], index: number) {
  const trade = at(TRADES, index);
  const own = index >= 58;
  const cents = own ? 0 : Math.round(10 ** random.real(1.3, 2.5)) * 50_000;
  const begun = along(from, plus(today, -6), (index + random.real()) / 54);
  const opened = index < 54 ? begun : plus(today, own ? -90 : -random.int(3, 25));
  const start = workday(plus(opened, index < 54 || own ? random.int(0, 5) : random.int(30, 60)));
  const end = workday(plus(start, own ? 110 : 20 + Math.round(cents / 80_000) + random.int(0, 25)));
  const client = own ? undefined : random.pick(clients);
  const ours = at(['Autoconsumo en la nave propia', 'Reforma de los vestuarios propios'], index);
  const descripcion = client
    ? `${random.pick(WORKS[trade].filter((work) => suits(work, client.home)))} en ${client.town}`
    : ours;
  return { trade, cents, opened, start, end, client, descripcion };
}

/** A project as documents and time entries need it. */
export type Project = ReturnType<typeof planProjects>['projects'][number];

/** 60 projects and their tasks. */
export function planProjects(context: Context, clients: readonly Client[], people: readonly Person[]) {
  const { today } = context;
  const random = context.random('projects');
  const [proyectos, tareas]: [Row[], Row[]] = [[], []];
  const addTask = (titulo: string, start: string, end: string, department: string, rest: Row, paused = false) => {
    const ref = `tar-${tareas.length + 1}`;
    const elapsed = daysBetween(start, today) / Math.max(1, daysBetween(start, end));
    const late = paused || random.chance(end < plus(today, -60) ? 0.02 : 0.3);
    const progreso = elapsed <= 0 ? 0 : elapsed > 1 && !late ? 100 : Math.min(95, Math.round(elapsed * 16) * 5);
    const estado = `est-${progreso === 100 ? 4 : paused ? 3 : progreso === 0 ? 1 : 2}`;
    const crew = people.filter((person) => person.department === department && person.works(earlier(start, today)));
    const responsable = crew.length > 0 && random.chance(0.9) ? random.pick(crew).ref : null;
    const fecha_inicio = random.chance(0.04) ? null : start;
    const fecha_prevista_fin = random.chance(0.05) ? null : end;
    tareas.push({ ref, titulo, estado, responsable, fecha_inicio, fecha_prevista_fin, progreso, ...rest });
    return { ref, start, end };
  };
  const counts = new Map<string, number>();
  const drafts = range(60, (index) => draftOf(context, random, clients, index));
  const sorted = drafts.sort((a, b) => Number(a.opened > b.opened) - Number(a.opened < b.opened));
  const projects = sorted.map(({ opened, descripcion, ...draft }, index) => {
    const { start, end, cents, client, trade } = draft;
    const year = opened.slice(2, 4);
    counts.set(year, (counts.get(year) ?? 0) + 1);
    const ref = `${year}-${pad(counts.get(year) ?? 0, 3)}`;
    const paused = start < plus(today, -30) && end > today && index % 3 === 0;
    const state = start > today ? 1 : paused ? 3 : end > today ? 2 : end > plus(today, -60) ? 4 : 5;
    const presupuesto_coste = client ? Math.round(cents * random.real(0.0064, 0.0078)) : 9000;
    const budget = { presupuesto_venta: tools.euros(cents), presupuesto_coste };
    const parties = { cliente: client?.ref, estado: `epr-${state}` };
    proyectos.push({ ref, id: index + 1, numero: ref, descripcion, ...parties, ...budget });
    const step = daysBetween(start, end) / PHASES[trade].length;
    const tasks = PHASES[trade].flatMap((phase, place) => {
      const [first, last] = [place, place + 1.15].map((steps) =>
        context.workday(plus(start, Math.round(step * steps))),
      );
      const importe_presupuestado = Math.round((cents / PHASES[trade].length) * random.real(0.006, 0.014));
      const rest = { proyecto: ref, importe_presupuestado, eliminada: random.chance(0.06) };
      const task = addTask(phase, first ?? start, last ?? end, trade, rest, paused);
      return rest.eliminada ? [] : task;
    });
    /** The hours that may still be charged to it. */
    const hours = client ? (cents / 1950) * random.real(0.2, 0.46) : 400;
    /** The last day with activity. */
    const until = earlier(end, paused ? plus(today, -20) : today);
    return { ref, ...draft, until, tasks, hours };
  });
  for (const [index, chore] of CHORES.entries()) {
    const start = context.workday(plus(today, index * 9 - 60));
    addTask(chore, start, context.workday(plus(start, random.int(5, 30))), at(['adm', 'alm', 'tec'], index), {});
  }
  const maquinas = MACHINES.map(([titulo, cost], index) => {
    return { ref: `maq-${index + 1}`, titulo, coste_hora: Number(cost) };
  });
  const states = { estados_proyecto: tools.titled('epr', STATES), estados_tarea: tools.titled('est', TASK_STATES) };
  return { projects, machines: maquinas.map(({ ref }) => ref), rows: { ...states, proyectos, tareas, maquinas } };
}
