// Two years of clock-ins and clock-outs, day by day.
import type { Context } from './calendar.ts';
import { TRADES } from './names-and-places.ts';
import type { Person } from './people.ts';
import type { Project } from './projects.ts';
import { at, list, pad, plus, type Row } from './tools.ts';

// The possible days of a shift: for each stretch, the hours in and out (over 24 is the next day) and the minutes of pause.
const SHIFTS: Record<string, string[]> = {
  partida: ['8-13.5-0 15-17.5-0'],
  intensiva: ['7-15-25', '7-11.25-0 11.5-15-15'],
  tarde: ['14-22-20'],
  noche: ['22-30-30'],
  parcial: ['9-14-0'],
  guardia: ['9-13-0'],
};
const REMARKS = list(`Olvidó fichar la salida; corregido por administración|Avería urgente de un cliente
  Espera de material en obra|Visita con la dirección facultativa`);

const clock = (minutes: number): string => `${pad(Math.floor(minutes / 60) % 24)}:${pad(minutes % 60)}`;

/**
 * No entries on absences, Sundays and holidays or without a contract. Only today has open entries, of people who came before the
 * current time.
 */
export function* timeEntries(
  context: Context,
  people: readonly Person[],
  projects: readonly Project[],
  machines: readonly string[],
): Generator<Row> {
  const random = context.random('time');
  const field = people.filter(({ department }) => TRADES.some((trade) => trade === department));
  const electricians = people.filter(({ department }) => department === 'ele');
  const left = new Map(projects.map((project) => [project, project.hours]));
  const current = new Map<Person, Project>();
  let count = 0;

  // People on site stay some days on one project with hours left, of their trade if possible.
  const charge = (person: Person, day: string, hours: number): Row => {
    if (!field.includes(person) || random.chance(0.1)) return {};
    const open = projects.filter(({ start, until }) => start <= day && day <= until);
    const lasting = open.filter((project) => (left.get(project) ?? 0) > 0);
    const own = lasting.filter(({ trade }) => trade === person.department);
    const choice = own.length > 0 ? own : lasting;
    const last = current.get(person);
    if (choice.length === 0) return {};
    const project = last && choice.includes(last) && random.chance(0.85) ? last : random.pick(choice);
    current.set(person, project);
    left.set(project, (left.get(project) ?? 0) - hours);
    const tasks = project.tasks.filter(({ start, end }) => start <= day && day <= end);
    const tarea = tasks.length > 0 && random.chance(0.6) ? random.pick(tasks).ref : null;
    const proyecto = tarea && random.chance(0.05) ? null : project.ref;
    return { proyecto, tarea, maquina: random.chance(0.1) ? random.pick(machines) : null };
  };

  function* shift(person: Person, day: string, kind: string): Generator<Row> {
    const [open, guard] = [day === context.today, kind === 'guardia'];
    let free = 0;
    for (const stretch of random.pick(SHIFTS[kind] ?? []).split(' ')) {
      const [start = 0, end = 0, pause = 0] = stretch.split('-').map(Number);
      const usual = field.includes(person) ? 'app' : person.department === 'alm' ? 'card' : 'kiosk';
      const metodo = random.chance(0.04) ? random.pick(['app', 'card', 'kiosk']) : usual;
      const entry = Math.max(free, start * 60 + random.int(-7, 9));
      const exit = end * 60 + random.int(-6, 18);
      const salida = { fecha: exit < 1440 ? day : plus(day, 1), hora: clock(exit), metodo };
      // In the future: not an entry yet.
      if (open ? clock(entry) > context.clock : salida.fecha === context.today && salida.hora > context.clock) return;
      const remark = random.chance(0.02) ? random.pick(REMARKS) : null;
      const charged = guard ? {} : charge(person, day, end - start);
      const observaciones = guard ? 'Guardia de fin de semana' : remark;
      const pausa_minutos = pause > 0 && !open ? pause + random.int(-5, 10) : 0;
      const clocked = {
        entrada: { fecha: day, hora: clock(entry), metodo },
        salida: open ? null : salida,
        pausa_minutos,
      };
      yield { ref: `fic-${++count}`, empleado: person.ref, ...clocked, ...charged, observaciones };
      if (open) return;
      free = exit + 2;
    }
  }

  const offset = Temporal.PlainDate.from(context.from).dayOfWeek - 1;
  for (const [index, day] of context.days.entries()) {
    if (context.isHoliday(day)) continue;
    const [week, weekday, open] = [Math.floor((index + offset) / 7), (index + offset) % 7, day === context.today];
    if (weekday > 4) {
      // Two on guard each Saturday; more if that is today.
      const guards = field.filter((person, place) => (place + week) % (open ? 4 : 9) === 0 && person.works(day));
      for (const person of weekday === 5 ? guards : []) yield* shift(person, day, 'guardia');
      continue;
    }
    const nights = week % 3 === 0 ? at(electricians, week / 3) : undefined;
    const next = plus(day, 1);
    for (const [place, person] of people.filter((each) => each.works(day)).entries()) {
      const early = person.shift !== 'tarde' && place % 3 === 0;
      if (person !== nights) yield* !open || early ? shift(person, day, person.shift) : [];
      else if (!open && weekday < 4 && !context.isHoliday(next) && person.works(next))
        yield* shift(person, day, 'noche');
    }
  }
}
