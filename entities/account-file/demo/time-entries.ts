// Two years of clock-ins and clock-outs, day by day.
import type { Context } from './calendar.ts';
import type { Person } from './people.ts';
import type { Project } from './projects.ts';
import { at, pad, plus, type Random, type Row } from './tools.ts';

/** Minutes of the day in and out (over 1440 is the next day), and minutes of pause. */
type Stretch = readonly [start: number, end: number, pause: number];

const STRETCHES: Record<string, readonly Stretch[][]> = {
  partida: [
    [
      [480, 810, 0],
      [900, 1050, 0],
    ],
  ],
  intensiva: [
    [[420, 900, 25]],
    [
      [420, 675, 0],
      [685, 900, 15],
    ],
  ],
  tarde: [[[840, 1320, 20]]],
  noche: [[[1320, 1800, 30]]],
  parcial: [[[540, 840, 0]]],
  guardia: [[[540, 780, 0]]],
};

const REMARKS = [
  'Olvidó fichar la salida; corregido por administración',
  'Avería urgente de un cliente',
  'Espera de material en obra',
  'Visita con la dirección facultativa',
];

const FIELD = ['ele', 'fon', 'cli', 'sol'];
const clock = (minutes: number): string => `${pad(Math.floor(minutes / 60) % 24, 2)}:${pad(minutes % 60, 2)}`;

/** Nobody clocks in when absent, on a holiday or out of contract; only today has entries still open. */
export function* timeEntries(
  context: Context,
  people: readonly Person[],
  projects: readonly Project[],
  machines: readonly string[],
): Generator<Row> {
  const random = context.random('time');
  const charged = new Map<string, Project>();
  const electricians = people.filter(({ department }) => department === 'ele');
  const field = people.filter(({ department }) => FIELD.includes(department));
  const firstMonday = Temporal.PlainDate.from(context.from).dayOfWeek - 1;
  let count = 0;

  // Whoever works on site stays for some days on one project of the trade, the bigger the likelier.
  const projectOf = (person: Person, open: readonly Project[]): Project | undefined => {
    const own = open.filter(({ trade }) => trade === person.department);
    const choice = own.length > 0 ? own : open;
    const last = charged.get(person.ref);
    if (last && choice.includes(last) && random.chance(0.85)) return last;
    let draw = random.real(0, 1) * choice.reduce((sum, { cents }) => sum + cents + 1_000_000, 0);
    const chosen = choice.find(({ cents }) => (draw -= cents + 1_000_000) < 0);
    if (chosen) charged.set(person.ref, chosen);
    return chosen;
  };

  const charges = (person: Person, day: string, open: readonly Project[]): Row => {
    const project = field.includes(person) && random.chance(0.85) ? projectOf(person, open) : undefined;
    if (!project) return {};
    const tasks = project.tasks.filter(({ start, end }) => start <= day && day <= end);
    const tarea = tasks.length > 0 && random.chance(0.6) ? random.pick(tasks).ref : null;
    const proyecto = tarea && random.chance(0.05) ? null : project.ref;
    return { proyecto, tarea, maquina: random.chance(0.1) ? random.pick(machines) : null };
  };

  function* shift(random: Random, person: Person, day: string, kind: string, open: readonly Project[]): Generator<Row> {
    let free = 0;
    for (const [start, end, pause] of random.pick(STRETCHES[kind] ?? [])) {
      const usual = field.includes(person) ? 'app' : person.department === 'alm' ? 'card' : 'kiosk';
      const metodo = random.chance(0.04) ? random.pick(['app', 'card', 'kiosk']) : usual;
      const entry = Math.max(free, start + random.int(-7, 9));
      const exit = end + random.int(-6, 18);
      free = exit + 2;
      yield {
        ref: `fic-${++count}`,
        empleado: person.ref,
        entrada: { fecha: day, hora: clock(entry), metodo },
        salida: day < context.today ? { fecha: exit < 1440 ? day : plus(day, 1), hora: clock(exit), metodo } : null,
        ...(kind === 'guardia' ? {} : charges(person, day, open)),
        pausa_minutos: day < context.today && pause > 0 ? pause + random.int(-5, 10) : 0,
        observaciones:
          kind === 'guardia' ? 'Guardia de fin de semana' : random.chance(0.02) ? random.pick(REMARKS) : null,
      };
      if (day === context.today) return;
    }
  }

  for (const [index, day] of context.days.entries()) {
    if (context.isHoliday(day)) continue;
    const week = Math.floor((index + firstMonday) / 7);
    const weekday = (index + firstMonday) % 7;
    const present = people.filter((person) => person.works(day));
    if (weekday > 4) {
      const guard = present.filter((person) => person === at(field, week) || person === at(field, week + 5));
      if (weekday === 5 || day === context.today)
        for (const person of guard) yield* shift(random, person, day, 'guardia', []);
      continue;
    }
    const open = projects.filter(({ start, end }) => start <= day && day <= end);
    const nights = week % 3 === 0 ? at(electricians, week / 3) : undefined;
    for (const [place, person] of present.entries()) {
      const next = plus(day, 1);
      if (person === nights) {
        const safe = weekday < 4 && day < context.today && context.isWorkday(next) && person.works(next);
        if (safe) yield* shift(random, person, day, 'noche', open);
      } else if (day < context.today) yield* shift(random, person, day, person.shift, open);
      else if (place % 3 === 0 && person.shift !== 'tarde') yield* shift(random, person, day, person.shift, open);
    }
  }
}
