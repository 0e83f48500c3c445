// The collections of the account file whose records have ids on the wire.
import type { Kind } from '../../platform/ids.ts';

/** The kind of each collection's records, by its name in the file. */
export const KIND_OF = {
  tarifas: 'priceList',
  departamentos: 'department',
  tipos_contrato: 'contractType',
  turnos: 'shift',
  empleados: 'employee',
  contratos: 'contract',
  calendario: 'calendarEntry',
  ausencias: 'absence',
  clientes: 'client',
  proveedores: 'supplier',
  familias: 'family',
  articulos: 'product',
  funnels: 'funnel',
  canales: 'channel',
  motivos_perdida: 'lossReason',
  contactos: 'contact',
  oportunidades: 'opportunity',
  estados_proyecto: 'projectState',
  proyectos: 'project',
  estados_tarea: 'taskState',
  tareas: 'task',
  maquinas: 'machine',
  fichajes: 'timeEntry',
  presupuestos: 'estimate',
  adjuntos: 'attachment',
  recurrentes: 'recurring',
  albaranes: 'deliveryNote',
  movimientos_stock: 'stockMovement',
  facturas: 'invoice',
  albaranes_compra: 'purchaseDeliveryNote',
  facturas_compra: 'purchaseInvoice',
  cuentas_tesoreria: 'treasuryAccount',
  movimientos_tesoreria: 'treasuryMovement',
} as const satisfies Readonly<Record<string, Kind>>;

/** The name of such a collection. */
export type CollectionName = keyof typeof KIND_OF;

const isName = (name: string): name is CollectionName => Object.hasOwn(KIND_OF, name);

/** The names, in the order of the file. */
export const COLLECTION_NAMES = Object.keys(KIND_OF).filter(isName);

/** The kind of a collection's records; undefined where they have no ids on the wire. */
export const kindOf = (name: string): Kind | undefined => (isName(name) ? KIND_OF[name] : undefined);
