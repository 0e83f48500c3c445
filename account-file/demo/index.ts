// The demo company: Instalaciones Montalt, S.L., an installation firm of 25 people in Valencia, as an account file with data
// for every operation. All of it is fictitious.
import { contextOf } from './calendar.ts';
import { planCatalogue } from './catalogue.ts';
import { planCrm } from './crm.ts';
import { planClients, planSuppliers } from './parties.ts';
import { planPeople } from './people.ts';
import { planProjects } from './projects.ts';
import { planPurchases } from './purchases.ts';
import { planSales } from './sales.ts';
import { timeEntries } from './time-entries.ts';
import type { Row } from './tools.ts';
import { planTreasury } from './treasury.ts';

const ORDER = `tarifas departamentos tipos_contrato turnos empleados contratos tipos_dia calendario ausencias clientes
  proveedores familias articulos funnels canales motivos_perdida contactos oportunidades estados_proyecto proyectos
  estados_tarea tareas maquinas fichajes presupuestos adjuntos recurrentes albaranes facturas
  albaranes_compra movimientos_stock subtipos_gasto facturas_compra cuentas_tesoreria movimientos_tesoreria liquidaciones`;

const LATE = Temporal.PlainTime.from('23:59');

const COMPANY = {
  nombre: 'Instalaciones Montalt, S.L.',
  cif: 'B98402613',
  zona_horaria: 'Europe/Madrid',
  ...{ direccion: 'Carrer de la Sèquia, 14', cp: '46134', poblacion: 'Foios', provincia: 'València', pais: 'España' },
  ...{ email: 'administracio@montalt.example', iban: 'ES9121000418450200051332' },
};

/**
 * The records of the demo company in the order of the account file. The same day, time and seed give the same company; its two
 * years end on `today` at `time`, by default now in Madrid (or late on the day given).
 */
export function* demoCompany(
  options: { today?: Temporal.PlainDate; time?: Temporal.PlainTime; seed?: number } = {},
): Generator<Record<string, unknown>> {
  const now = Temporal.Now.plainDateTimeISO('Europe/Madrid');
  const { today = now.toPlainDate(), time = options.today ? LATE : now.toPlainTime(), seed = 1 } = options;
  const context = contextOf(today, time, seed);
  const staff = planPeople(context);
  const { clients, rows: clientRows } = planClients(context);
  const { suppliers, rows: supplierRows } = planSuppliers(context);
  const { articles, rows: catalogueRows } = planCatalogue(context);
  const works = planProjects(context, clients, staff.people);
  const company = { context, clients, suppliers, articles, projects: works.projects };
  const [sales, purchases] = [planSales(company), planPurchases(company)];
  const parties = { ...clientRows, ...supplierRows };
  const collections: Record<string, Iterable<Row>> = {
    ...staff.rows,
    ...parties,
    ...catalogueRows,
    ...works.rows,
    ...sales.rows,
    ...purchases.rows,
    ...planCrm(context, clients),
    ...planTreasury(context, [...sales.collected, ...purchases.paid], sales.offsets, staff.wages),
    calendario: context.calendario,
    fichajes: timeEntries(context, staff.people, works.projects, works.machines),
  };
  yield { coleccion: 'cuenta', ref: 'montalt', formato: 2, ...COMPANY, stock_multiformato: true };
  for (const coleccion of ORDER.split(/\s+/)) {
    for (const row of collections[coleccion] ?? []) yield { coleccion, ...row };
  }
}
