// The staff: departments, kinds of contract, shifts, people, their contracts and their absences.
import type { Context } from './calendar.ts';
import { at, dateIn, monthDay, plus, type Random, type Row, slug, table } from './tools.ts';

/** A person as the rest of the company needs it. */
export interface Person {
  ref: string;
  department: string;
  shift: string;
  /** Under contract and not absent; absences asked for and not yet answered count. */
  works(date: string): boolean;
}

const DEPARTMENTS: Record<string, string> = {
  adm: 'Dirección y administración',
  com: 'Comercial',
  tec: 'Oficina técnica',
  ele: 'Electricidad',
  fon: 'Fontanería',
  cli: 'Climatización y calefacción',
  sol: 'Energía solar',
  alm: 'Almacén y tienda',
};

const SHIFTS: Record<string, string> = {
  partida: 'Jornada partida 8:00-13:30 y 15:00-17:30',
  intensiva: 'Jornada intensiva 7:00-15:00',
  tarde: 'Turno de tarde 14:00-22:00',
  noche: 'Turno de noche 22:00-6:00',
  parcial: 'Media jornada 9:00-14:00',
};

const KINDS: Record<string, string> = {
  indefinido: 'Indefinido a tiempo completo',
  parcial: 'Indefinido a tiempo parcial',
  temporal: 'Temporal por circunstancias de la producción',
  formacion: 'Formación en alternancia',
};

// Name, surnames, department, shift, cost of an hour, months since joining, months since leaving (ahead when negative).
const STAFF = table(`Amparo|Ferrer Martí|adm|partida|26.4|190
  Rosa|Climent Soler|adm|partida|16.1|130
  Nuria|Peris Blasco|adm|parcial|13.2|58
  Joaquín|Montalt Ribes|com|partida|19.8|150
  Elena|Gascó Pastor|com|partida|15.4|33
  Ricardo|Villalba Cano|tec|partida|21.3|96
  Lucía|Sanchis Roig|tec|partida|18.2|41
  Vicente|Navarro Gil|ele|intensiva|16.9|170
  José Manuel|Ortega Ruiz|ele|intensiva|15.2|88
  Andrés|Cortés Medina|ele|intensiva|14.3|52
  Youssef|El Amrani|ele|intensiva|13.8|37
  Sergio|Valero Tomás|ele|intensiva|12.9|18
  Hugo|Alcaraz Molina|ele|intensiva|10.4|9|-3
  Salvador|Iborra Mateu|fon|intensiva|16.6|160
  Dumitru|Popescu|fon|intensiva|14.1|64
  Raúl|Herrero Espinosa|fon|intensiva|13.6|29
  Marcos|Puig Esteve|fon|tarde|12.8|1
  Francisco|Bosch Llorens|cli|intensiva|17.1|118
  Iván|Segura Ramírez|cli|intensiva|14.4|46
  Cristian|Marco Zaragozá|cli|intensiva|13.3|22
  Laura|Domènech Vidal|sol|intensiva|16.2|54
  Óscar|Torres Gimeno|sol|intensiva|14.2|26
  Álex|Soriano Olmos|sol|intensiva|12.7|36|5
  Pilar|Calatayud Juan|alm|partida|13.1|84
  Mateo|Caballero Lluch|sol|intensiva|13.5|-1`);

interface Contract {
  start: string;
  end?: string;
  kind: string;
  cost: number;
}

// Some came with a year's temporary contract, and some got a rise, which is a new contract, this January.
function contractsOf(today: string, index: number, cost: number, months: number, left: number, shift: string) {
  const hired = monthDay(today, -months, months > 1 && index % 2 === 1 ? 16 : 1);
  const kind = index === 12 ? 'formacion' : shift === 'parcial' ? 'parcial' : 'indefinido';
  const contracts: Contract[] = [{ start: hired, kind, cost }];
  const next = (start: string, change: Partial<Contract>) => {
    const last = at(contracts, contracts.length - 1);
    contracts.push({ ...last, start, ...change });
    last.end = plus(start, -1);
    return last;
  };
  if (index % 3 === 0 && months > 24) Object.assign(next(monthDay(hired, 12, 1), { kind }), { kind: 'temporal' });
  if (index % 4 === 1 && months > 36) next(`${today.slice(0, 4)}-01-01`, { cost: Math.round(cost * 104) / 100 });
  if (left !== 0) at(contracts, contracts.length - 1).end = monthDay(today, -left, 28);
  return contracts;
}

interface Absence {
  titulo: string;
  tipo: string;
  fecha_inicio: string;
  fecha_fin: string;
  porcentaje_imputable?: number;
}

const WISHES = table(`permiso|Permiso por mudanza|1|1
  permiso|Permiso por hospitalización de un familiar|2|5
  permiso|Asistencia a consulta médica|1|1
  asuntos|Asuntos propios|1|2
  formacion|Curso de instalador autorizado|2|4
  baja|Baja por enfermedad común|3|18
  baja|Baja por accidente laboral|12|30`);

function absencesOf({ today, from }: Context, random: Random, index: number): Absence[] {
  const absences: Absence[] = [];
  for (const back of [2, 1, 0, -1]) {
    const year = Number(today.slice(0, 4)) - back;
    const holiday = (titulo: string, day: string, days: number) => {
      const fecha_inicio = plus(`${year}-${day}`, random.int(0, 4));
      absences.push({ titulo, tipo: 'vacaciones', fecha_inicio, fecha_fin: plus(fecha_inicio, days) });
    };
    holiday('Vacaciones de verano', at(['07-01', '07-15', '08-01', '08-16', '09-01'], index + back), 14);
    holiday('Vacaciones de Navidad', '12-26', 5);
    if (random.chance(0.6)) holiday('Vacaciones de primavera', at(['03-14', '04-07', '05-12'], index), 4);
    for (let left = random.int(0, 2); left > 0; left--) {
      const [tipo = '', titulo = '', low, high] = random.pick(WISHES);
      const fecha_inicio = dateIn(random, `${year}-01-10`, `${year}-12-10`);
      if (tipo === 'baja' && fecha_inicio > today) continue;
      const fecha_fin = plus(fecha_inicio, random.int(Number(low), Number(high)) - 1);
      absences.push({ titulo, tipo, fecha_inicio, fecha_fin, porcentaje_imputable: tipo === 'asuntos' ? 50 : 100 });
    }
  }
  if (index === 9)
    absences.unshift({
      titulo: 'Baja médica',
      tipo: 'baja',
      fecha_inicio: plus(today, -24),
      fecha_fin: plus(today, 20),
    });
  return absences.filter(({ fecha_inicio, fecha_fin }) => fecha_fin >= from && fecha_inicio < plus(today, 270));
}

/** The people and what the file says of them. */
export function planPeople(context: Context) {
  const { today } = context;
  const random = context.random('people');
  const contratos: Row[] = [];
  const ausencias: Row[] = [];
  const payroll: { start: string; end: string; hourly: number; social: number; hours: number }[] = [];
  const people = STAFF.map(([nombre = '', apellidos = '', department = '', shift = '', ...rest], index) => {
    const [cost = 0, months = 0, left = 0] = rest.map(Number);
    const ref = `emp-${index + 1}`;
    const contracts = contractsOf(today, index, cost, months, left, shift);
    const periods = contracts.map(({ start, end = '9999-12-31', kind, cost: coste_hora }, number) => {
      const hours = shift === 'parcial' ? 5 : 8;
      const coste_hora_ss = Math.round(coste_hora * 32) / 100;
      payroll.push({ start, end, hourly: coste_hora, social: coste_hora_ss, hours });
      contratos.push({
        ref: `con-${index + 1}-${number + 1}`,
        empleado: ref,
        tipo_contrato: `tco-${kind}`,
        departamento: `dep-${department}`,
        fecha_alta: start,
        fecha_baja: end.startsWith('9999') ? null : end,
        fecha_fin_periodo_pruebas: number === 0 ? plus(start, 60) : null,
        minimo_horas_dia_laborable: hours,
        modo_turno: department === 'com' ? 'contrato' : index % 5 === 3 ? 'semanal' : 'turno',
        turno: department === 'com' ? null : `tur-${shift}`,
        firmado: start <= today && index !== 16,
        coste_hora,
        coste_hora_pension: months > 60 ? 0.4 : 0.15,
        coste_hora_ss,
      });
      return { start, end };
    });
    const employed = (date: string) => periods.some(({ start, end }) => start <= date && date <= end);
    const away: Absence[] = [];
    for (const absence of absencesOf(context, random, index)) {
      const { fecha_inicio, fecha_fin } = absence;
      if (!employed(fecha_inicio) || !employed(fecha_fin)) continue;
      const clash = away.some((other) => other.fecha_inicio <= fecha_fin && fecha_inicio <= other.fecha_fin);
      if (clash && absence.tipo === 'baja') continue;
      const rejected = clash || (absence.tipo !== 'baja' && random.chance(0.06));
      const pending = !rejected && fecha_inicio > today && (fecha_inicio > plus(today, 60) || random.chance(0.5));
      if (!rejected) away.push(absence);
      ausencias.push({
        ref: `aus-${ausencias.length + 1}`,
        empleado: ref,
        ...absence,
        autorizada: !rejected && !pending,
        rechazada: rejected,
      });
    }
    const works = (date: string) =>
      employed(date) && !away.some(({ fecha_inicio, fecha_fin }) => fecha_inicio <= date && date <= fecha_fin);
    const email = `${slug(nombre)}.${slug(at(apellidos.split(' '), 0))}@montalt.example`;
    const row = { ref, id: index + 1, nombre, apellidos, email, activo: left <= 0, departamento: `dep-${department}` };
    return { ref, department, shift, works, row };
  });
  const catalogue = (prefix: string, titles: Record<string, string>): Row[] =>
    Object.entries(titles).map(([key, titulo]) => ({ ref: `${prefix}-${key}`, titulo }));
  const tipos = [
    'festivo|Festivo',
    'vacaciones|Vacaciones',
    'cierre|Cierre de empresa',
    'baja|Baja médica',
    'permiso|Permiso',
  ];
  return {
    people: people as Person[],
    payroll,
    rows: {
      departamentos: catalogue('dep', DEPARTMENTS),
      tipos_contrato: catalogue('tco', KINDS),
      turnos: catalogue('tur', SHIFTS),
      empleados: people.map(({ row }) => row),
      contratos,
      tipos_dia: table([...tipos, 'asuntos|Asuntos propios', 'formacion|Formación'].join('\n')).map(
        ([tipo, titulo]) => {
          return { ref: `dia-${tipo}`, tipo, titulo };
        },
      ),
      ausencias,
    },
  };
}
