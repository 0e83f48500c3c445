// The staff: departments, kinds of contract, shifts, people, their contracts and their absences.
import type { Context } from './calendar.ts';
import { along, at, monthDay, plus, type Random, type Row, slug, table } from './tools.ts';

const DEPARTMENTS = table(`adm|Dirección y administración//com|Comercial//tec|Oficina técnica//ele|Electricidad
  fon|Fontanería//cli|Climatización y calefacción//sol|Energía solar//alm|Almacén y tienda`);
const KINDS = table(`indefinido|Indefinido a tiempo completo//parcial|Indefinido a tiempo parcial
  temporal|Temporal por circunstancias de la producción//formacion|Formación en alternancia`);
const SHIFTS = table(`partida|Jornada partida 8:00-13:30 y 15:00-17:30//intensiva|Jornada intensiva 7:00-15:00
  tarde|Turno de tarde 14:00-22:00//noche|Turno de noche 22:00-6:00//parcial|Media jornada 9:00-14:00`);
const DAY_TYPES = table(`festivo|Festivo//vacaciones|Vacaciones//cierre|Cierre de empresa//baja|Baja médica
  permiso|Permiso//asuntos|Asuntos propios//formacion|Formación`);

// Name, surnames, department, shift, cost of an hour, months since joining, months since leaving (ahead if negative).
const STAFF = table(`Amparo|Ferrer Martí|adm|partida|26.4|190//Rosa|Climent Soler|adm|partida|16.1|130
  Nuria|Peris Blasco|adm|parcial|13.2|58//Joaquín|Montalt Ribes|com|partida|19.8|150
  Elena|Gascó Pastor|com|partida|15.4|33//Ricardo|Villalba Cano|tec|partida|21.3|96
  Lucía|Sanchis Roig|tec|partida|18.2|41//Vicente|Navarro Gil|ele|intensiva|16.9|170
  José Manuel|Ortega Ruiz|ele|intensiva|15.2|88//Andrés|Cortés Medina|ele|intensiva|14.3|52
  Youssef|El Amrani|ele|intensiva|13.8|37//Sergio|Valero Tomás|ele|intensiva|12.9|18
  Hugo|Alcaraz Molina|ele|intensiva|10.4|9|-3//Salvador|Iborra Mateu|fon|intensiva|16.6|160
  Dumitru|Popescu|fon|intensiva|14.1|64//Raúl|Herrero Espinosa|fon|intensiva|13.6|29
  Marcos|Puig Esteve|fon|tarde|12.8|1//Francisco|Bosch Llorens|cli|intensiva|17.1|118
  Iván|Segura Ramírez|cli|intensiva|14.4|46//Cristian|Marco Zaragozá|cli|intensiva|13.3|22
  Laura|Domènech Vidal|sol|intensiva|16.2|54//Óscar|Torres Gimeno|sol|intensiva|14.2|26
  Álex|Soriano Olmos|sol|intensiva|12.7|36|5//Pilar|Calatayud Juan|alm|partida|13.1|84
  Mateo|Caballero Lluch|sol|intensiva|13.5|-1`);

// Kind, title, shortest and longest days, percentage charged.
const LEAVES = table(`permiso|Permiso por mudanza|1|1|100//permiso|Hospitalización de un familiar|2|5|100
  permiso|Asistencia a consulta médica|1|1|50//asuntos|Asuntos propios|1|2|100
  formacion|Curso de instalador autorizado|2|4|100//baja|Enfermedad común|3|18|100//baja|Accidente laboral|12|30|100`);

// The absences of a person in these years, holidays first.
function requestsOf({ today }: Context, random: Random, index: number): Row[] {
  const requests: Row[] = [];
  const ask = (tipo: string, titulo: string, fecha_inicio: string, days: number, porcentaje_imputable = 100) =>
    requests.push({ titulo, tipo, fecha_inicio, fecha_fin: plus(fecha_inicio, days - 1), porcentaje_imputable });
  if (index === 9) ask('baja', 'Accidente no laboral', plus(today, -24), 45);
  for (const back of [-2, -1, 0, 1]) {
    const year = Number(today.slice(0, 4)) + back;
    const summer = at(['07-01', '07-15', '08-01', '08-16', '09-01'], index + back);
    ask('vacaciones', 'Vacaciones de verano', plus(`${year}-${summer}`, random.int(0, 4)), 15);
    ask('vacaciones', 'Vacaciones de Navidad', plus(`${year}-12-26`, random.int(0, 4)), 6);
    for (let left = random.int(0, 3); left > 0; left--) {
      const [tipo = '', titulo = '', ...figures] = random.pick(LEAVES);
      const [low = 1, high = 1, share] = figures.map(Number);
      const start = along(`${year}-01-10`, `${year}-12-10`, random.real());
      if (tipo !== 'baja' || start <= today) ask(tipo, titulo, start, random.int(low, high), share);
    }
  }
  return requests;
}

/** A person as the other parts need it. */
export type Person = ReturnType<typeof planPeople>['people'][number];

/** Monthly cost of a contract in cents: the gross wage and the firm's social security. */
export interface Wage {
  start: string;
  end: string;
  gross: number;
  social: number;
}

/** The people and their records. */
export function planPeople(context: Context) {
  const { today, from } = context;
  const random = context.random('people');
  const january = `${today.slice(0, 4)}-01-01`;
  const [empleados, contratos, ausencias]: [Row[], Row[], Row[]] = [[], [], []];
  const wages: Wage[] = [];
  const people = STAFF.map(([nombre = '', apellidos = '', department = '', shift = '', ...figures], index) => {
    const [cost = 0, months = 0, left = 0] = figures.map(Number);
    const [empleado, departamento] = [`emp-${index + 1}`, `dep-${department}`];
    const email = `${slug(nombre)}.${slug(at(apellidos.split(' '), 0))}@montalt.example`;
    empleados.push({ ref: empleado, id: index + 1, nombre, apellidos, email, activo: left <= 0, departamento });

    // Some began with a temporary contract of a year; some had a raise this January, which is a new contract.
    const starts = [monthDay(today, -months, months > 1 && index % 2 === 1 ? 16 : 1)];
    const temporary = index % 3 === 0 && months > 24;
    if (temporary) starts.push(monthDay(at(starts, 0), 12, 1));
    if (index % 4 === 1 && months > 36) starts.push(january);
    const usual = shift === 'parcial' ? 'parcial' : left < 0 ? 'formacion' : 'indefinido';
    const mine = starts.map((start, place) => {
      const last = left === 0 ? null : monthDay(today, -left, 28);
      const fecha_baja = place + 1 < starts.length ? plus(at(starts, place + 1), -1) : last;
      const minimo_horas_dia_laborable = shift === 'parcial' ? 5 : 8;
      const tipo_contrato = `tco-${place === 0 && temporary ? 'temporal' : usual}`;
      const fecha_fin_periodo_pruebas = place === 0 ? plus(start, 60) : null;
      const dates = { fecha_alta: start, fecha_baja, fecha_fin_periodo_pruebas, minimo_horas_dia_laborable };
      const weekly = { modo_turno: index % 5 === 3 ? 'semanal' : 'turno', turno: `tur-${shift}` };
      const mode = department === 'com' ? { modo_turno: 'contrato' } : weekly;
      const coste_hora = start === january ? Math.round(cost * 104) / 100 : cost;
      const coste_hora_ss = Math.round(coste_hora * 32) / 100;
      const costs = { coste_hora, coste_hora_pension: months > 60 ? 0.4 : 0.15, coste_hora_ss };
      const job = { ref: `con-${index + 1}-${place + 1}`, empleado, tipo_contrato, departamento };
      contratos.push({ ...job, ...dates, ...mode, firmado: months > 1, ...costs });
      const end = fecha_baja ?? '9999-12-31';
      const monthly = minimo_horas_dia_laborable * 1825;
      wages.push({ start, end, gross: coste_hora * monthly, social: coste_hora_ss * monthly });
      return { start, end };
    });

    const employed = (date: string) => mine.some(({ start, end }) => start <= date && date <= end);
    const away: [start: string, end: string][] = [];
    for (const request of requestsOf(context, random, index)) {
      const [start, end] = [String(request.fecha_inicio), String(request.fecha_fin)];
      if (!employed(start) || !employed(end) || end < from || start > plus(today, 270)) continue;
      const clash = away.some((other) => other[0] <= end && start <= other[1]);
      if (clash && request.tipo === 'baja') continue;
      const rechazada = clash || (request.tipo !== 'baja' && random.chance(0.06));
      const pending = start > today && (start > plus(today, 60) || random.chance(0.5));
      if (!rechazada) away.push([start, end]);
      const answer = { autorizada: !rechazada && !pending, rechazada };
      ausencias.push({ ref: `aus-${ausencias.length + 1}`, empleado, ...request, ...answer });
    }
    /** Under contract and not away; a request not yet answered counts as away. */
    const works = (date: string) => employed(date) && !away.some(([start, end]) => start <= date && date <= end);
    return { ref: empleado, department, shift, works };
  });
  const keyed = (prefix: string, rows: string[][]): Row[] =>
    rows.map(([key, titulo]) => ({ ref: `${prefix}-${key}`, titulo }));
  const tipos_dia = DAY_TYPES.map(([tipo, titulo]) => ({ ref: `dia-${tipo}`, tipo, titulo }));
  const contracts = { tipos_contrato: keyed('tco', KINDS), turnos: keyed('tur', SHIFTS), contratos };
  const rows = { departamentos: keyed('dep', DEPARTMENTS), empleados, ...contracts, tipos_dia, ausencias };
  return { people, wages, rows };
}
