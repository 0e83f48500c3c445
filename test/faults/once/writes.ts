// Inputs for every writing operation with a unique mark, and where the mark is found afterwards.
import { setTimeout as wait } from 'node:timers/promises';
import { type Operation, operations } from '../../../bridges/operations.ts';
import type { Kind } from '../../../platform/ids.ts';
import { exampleRecords } from '../../helpers/examples.ts';
import type { Input } from '../../helpers/places.ts';
import type { FileRecord } from '../../helpers/world.ts';
import { Random } from '../random.ts';
import type { Doors, Proof } from './proof.ts';

/** Every writing operation. */
export const writes = operations.filter(({ write }) => write);

/** One call, which may be sent many times. */
export interface Write {
  operation: Operation;
  /** Its idempotency key, and the text in what it writes. */
  mark: string;
  input: Input;
  /** The record that it changes, each time anew. Its id is a text in the input, as in a path: the same through every interface. IDEM-01 */
  changes?: {
    table: Table;
    id: number;
  };
  /** It names a contact, client or supplier that others name too, so that its own mark may not be stored. */
  shared?: boolean;
}

type Table =
  | ('opportunities' | 'contacts' | 'clients' | 'suppliers' | 'projects' | 'tasks')
  | ('recurrings' | 'invoice_due_dates' | 'products');

/** The columns with the mark, or SQL for it, by operation. */
export const CREATED: Readonly<Record<string, { table: string; column: string; kind: Kind }>> = {
  'contacts.create': { table: 'contacts', column: 'name', kind: 'contact' },
  'opportunities.create': { table: 'opportunities', column: 'title', kind: 'opportunity' },
  'deliveryNotes.create': { table: 'delivery_notes', column: 'concept', kind: 'deliveryNote' },
  // A rectifying invoice has the concept of its original.
  'invoices.create': {
    table: 'invoices',
    column: '(case when rectified_invoice_id is null then concept end)',
    kind: 'invoice',
  },
  'invoices.rectify': { table: 'invoices', column: 'rectification_reason', kind: 'invoice' },
  'estimates.create': { table: 'estimates', column: 'concept', kind: 'estimate' },
  'estimates.attach': { table: 'attachments', column: 'name', kind: 'attachment' },
  'purchaseDeliveryNotes.create': {
    table: 'purchase_delivery_notes',
    column: 'number',
    kind: 'purchaseDeliveryNote',
  },
  'purchaseInvoices.create': { table: 'purchase_invoices', column: 'number', kind: 'purchaseInvoice' },
  'recurrings.create': { table: 'recurrings', column: 'description', kind: 'recurring' },
  'products.create': { table: 'products', column: 'description', kind: 'product' },
  'clients.create': { table: 'clients', column: 'legal_name', kind: 'client' },
  'suppliers.create': { table: 'suppliers', column: 'legal_name', kind: 'supplier' },
  'tasks.create': { table: 'tasks', column: 'title', kind: 'task' },
  'productFamilies.create': { table: 'product_families', column: 'title', kind: 'family' },
  'treasuryMovements.create': { table: 'treasury_movements', column: 'concept', kind: 'treasuryMovement' },
  'projects.create': { table: 'projects', column: 'description', kind: 'project' },
};

const OPPORTUNITIES = {
  toClose: [9001, 9002, 9003, 9004],
  toMove: [9011, 9012, 9013, 9014],
  toUpdate: [9021, 9022, 9023, 9024],
};
const CONTACTS = [9501, 9502, 9503, 9504];
const CLIENTS = [9101, 9102, 9103, 9104];
const SUPPLIERS = [9201, 9202, 9203, 9204];
const PROJECTS = [9301, 9302, 9303, 9304];
const DUE_DATES = [9701, 9702, 9703, 9704];
const PRODUCTS = [9651, 9652, 9653, 9654];
const TASKS = [9401, 9402, 9403, 9404];
const ESTIMATES = [9801, 9802, 9803, 9804];
const RECURRINGS = [9601, 9602, 9603, 9604];
const RENEWED = [9611, 9612, 9613, 9614];
const SHARED = 5;

/** The company of the examples, with records that all writers change. */
export const records: readonly FileRecord[] = [
  ...exampleRecords,
  ...Object.values(OPPORTUNITIES)
    .flat()
    .map((id) => ({
      coleccion: 'oportunidades',
      ref: `o${id}`,
      id,
      titulo: `Oportunidad ${id}`,
      funnel: 'ventas',
      etapa: 'nueva',
      fecha_creacion: '2026-02-01 10:00:00',
    })),
  ...CLIENTS.map((id) => ({ coleccion: 'clientes', ref: `c${id}`, id, nombre_fiscal: `Cliente ${id}` })),
  ...SUPPLIERS.map((id) => ({ coleccion: 'proveedores', ref: `p${id}`, id, nombre_fiscal: `Proveedor ${id}` })),
  ...PROJECTS.map((id) => ({ coleccion: 'proyectos', ref: `y${id}`, id, numero: `${id}`, descripcion: `Obra ${id}` })),
  ...CONTACTS.map((id) => ({ coleccion: 'contactos', ref: `k${id}`, id, nombre: `Contacto ${id}` })),
  ...ESTIMATES.map((id) => ({
    coleccion: 'presupuestos',
    ref: `e${id}`,
    id,
    fecha: '2026-02-01',
    cliente: 'bar',
    lineas: [{ ref: 'l', id: id + 100, descripcion: 'Línea', cantidad: 1_000_000, importe_unitario: 0.5 }],
  })),
  ...[...RECURRINGS, ...RENEWED].map((id) => ({
    ...{ coleccion: 'recurrentes', ref: `r${id}`, id, descripcion: `Servicio ${id}`, cliente: 'bar' },
    ...{ periodicidad: 'semanal', fecha_creacion: '1950-01-02' },
    lineas: [{ descripcion: 'Cuota', cantidad: 1, importe_unitario: 10 }],
  })),
  {
    coleccion: 'facturas',
    ref: 'v9600',
    fecha: '2026-02-01',
    cliente: 'bar',
    lineas: DUE_DATES.map(() => ({ descripcion: 'Obra', cantidad: 1, importe_unitario: 1e9, iva: 0 })),
    vencimientos: DUE_DATES.map((id) => ({ id, fecha: '2026-02-01', importe: 1e9 })),
  },
  ...PRODUCTS.map((id) => ({ coleccion: 'articulos', ref: `a${id}`, id, descripcion: `Artículo ${id}` })),
  ...TASKS.map((id) => ({ coleccion: 'tareas', ref: `t${id}`, id, titulo: `Tarea ${id}` })),
];

/** A writer. Its calls depend on its seed and, for invoices, on its answers. */
export class Writer {
  readonly #random: Random;
  readonly #name: string;
  #made = 0;
  /** Its delivery notes of one client that it has not invoiced. */
  readonly #notes: unknown[] = [];
  /** Its invoices that it has neither rectified nor annulled. */
  readonly #invoices: unknown[] = [];
  /** Its purchase delivery notes of one supplier that are on no invoice, and its purchase invoices. */
  readonly #received: unknown[] = [];
  readonly #bills: unknown[] = [];
  /** Its webhooks that it has not deleted: few, since a company has at most twenty. */
  readonly #hooks: unknown[] = [];
  /** Its links that it has not revoked: few, since a document has at most a hundred. */
  readonly #links: unknown[] = [];
  readonly #toUndo: Readonly<Record<string, readonly unknown[]>> = {
    'deliveryNotes.annul': this.#notes,
    'invoices.rectify': this.#invoices,
    'invoices.annul': this.#invoices,
    'purchaseDeliveryNotes.annul': this.#received,
    'purchaseInvoices.annul': this.#bills,
    'webhooks.delete': this.#hooks,
    'documents.revokeLink': this.#links,
  };

  constructor(name: string, random: Random) {
    this.#name = name;
    this.#random = random;
  }

  /** The next call of this operation. Throws for an operation without inputs here. */
  next(operation: Operation): Write {
    const mark = `${this.#name}-${++this.#made}`;
    const shared = this.#random.chance(0.2);
    const make = this.#inputs[operation.path];
    if (!make) throw new Error(`No inputs for ${operation.path}: add them to ${import.meta.filename}`);
    return { operation, mark, ...make(mark, shared) };
  }

  /** Whether it has what an operation needs: undoing needs a document of its own. */
  ready({ path }: Operation): boolean {
    if (path === 'webhooks.create') return this.#hooks.length === 0;
    if (path === 'documents.createLink') return this.#links.length === 0;
    return this.#toUndo[path]?.length !== 0;
  }

  /** Records the answer to a call. */
  answered({ operation, input }: Write, value: unknown): void {
    if (operation.path === 'deliveryNotes.create' && input.cliente === CLIENT) this.#notes.push(value);
    if (operation.path === 'invoices.create') this.#invoices.push(value);
    if (operation.path === 'purchaseDeliveryNotes.create' && input.proveedor === SUPPLIER) this.#received.push(value);
    if (operation.path === 'purchaseInvoices.create') this.#bills.push(value);
    if (operation.path === 'webhooks.create') this.#hooks.push(Object(value).webhookId);
    if (operation.path === 'documents.createLink') this.#links.push(Object(value).enlaceId);
  }

  readonly #inputs: Readonly<Record<string, (mark: string, shared: boolean) => Omit<Write, 'operation' | 'mark'>>> = {
    'contacts.create': (mark, shared) => ({
      shared,
      input: { datos: { nombre: mark, empresa: 'Nueva SL', email: this.#email(mark, shared) } },
    }),
    'opportunities.create': (mark, shared) => ({
      input: {
        datos: {
          funnel_fk: 2301,
          etapa_fk: this.#random.pick([2311, 2312]),
          canal_fk: 2401,
          descripcion: mark,
          email_contacto: this.#email(`o-${mark}`, shared),
          persona_contacto: 'Nuria',
          empresa: 'Nueva SL',
        },
      },
    }),
    'contacts.update': (mark) => {
      const id = this.#random.pick(CONTACTS);
      return {
        changes: { table: 'contacts', id },
        input: { contactoId: String(id), datos: { empresa: mark, movil: '' } },
      };
    },
    'opportunities.update': (mark) => {
      const id = this.#random.pick(OPPORTUNITIES.toUpdate);
      const datos = { descripcion: `Oportunidad ${mark}`, valor_cierre: this.#cents() };
      return { changes: { table: 'opportunities', id }, input: { oportunidadId: String(id), datos } };
    },
    'opportunities.close': (mark) => {
      const id = this.#random.pick(OPPORTUNITIES.toClose);
      const resultado = this.#random.pick(['ganado', 'perdido', 'abierta']);
      const lost = resultado === 'perdido' ? { motivoId: 2501, comentarios: mark } : {};
      return {
        changes: { table: 'opportunities', id },
        input: { oportunidadId: String(id), resultado, valor_cierre: this.#cents(), ...lost },
      };
    },
    'opportunities.move': () => {
      const id = this.#random.pick(OPPORTUNITIES.toMove);
      return {
        changes: { table: 'opportunities', id },
        input: { oportunidadId: String(id), etapa_fk: this.#random.pick([2311, 2312]) },
      };
    },
    'deliveryNotes.create': (mark, shared) => ({
      input: { cliente: this.#client(mark, shared), pedido: { obra: mark }, detalles: this.#lines() },
    }),
    'deliveryNotes.annul': (mark) => ({ input: { albaranId: this.#notes.shift(), motivo: mark } }),
    'invoices.create': (mark, shared) => {
      const pedido = { obra: mark };
      const albaranes = this.#notes.splice(0, this.#random.int(1, 3));
      if (albaranes.length > 0 && this.#random.chance(0.5)) return { input: { albaranes, pedido } };
      const cliente = this.#client(mark, shared);
      if (this.#random.chance(0.5)) return { input: { cliente, pedido, detalles: this.#lines() } };
      const detalles = [{ cantidad: 1, articulo_fk: 2201, importe_unitario: 100, iva: 21 }];
      const vencimientos = [
        { fecha: '2027-03-31', importe: 100 },
        { fecha: '2027-04-30', importe: 21 },
      ];
      return { input: { cliente, pedido, detalles, vencimientos } };
    },
    'estimates.create': (mark, shared) => ({
      input: { cliente: this.#client(mark, shared), pedido: { obra: mark }, detalles: this.#lines() },
    }),
    // Only the audit says that these were done: the same answer changes nothing, and what is converted has the estimate's texts.
    'estimates.answer': () => ({
      input: {
        presupuestoId: String(this.#random.pick(ESTIMATES)),
        estado: this.#random.pick(['aceptado', 'rechazado', 'pendiente']),
      },
    }),
    'estimates.convert': () => {
      const id = this.#random.pick(ESTIMATES);
      return {
        input: {
          presupuestoId: String(id),
          destino: this.#random.pick(['albaran', 'factura']),
          lineas: [{ lineaId: String(id + 100), cantidad: this.#cents() }],
        },
      };
    },
    'estimates.attach': (mark) => ({
      input: { presupuestoId: '3401', nombre: mark, tipo_mime: 'text/plain', contenido: 'ZGV0YWxsZQ==' },
    }),
    'invoices.rectify': (mark) => ({ input: { facturaId: this.#invoices.shift(), motivo: mark } }),
    'invoices.annul': (mark) => ({ input: { facturaId: this.#invoices.shift(), motivo: mark } }),
    'purchaseDeliveryNotes.create': (mark, shared) => ({
      input: { proveedor: this.#supplier(mark, shared), numero: mark, detalles: this.#lines() },
    }),
    'purchaseDeliveryNotes.annul': (mark) => ({ input: { albaranCompraId: this.#received.shift(), motivo: mark } }),
    'purchaseInvoices.create': (mark, shared) => {
      const invoice = { numero: mark, fecha: '2026-02-27', actualizar_coste: this.#random.chance(0.5) };
      const albaranes = this.#received.splice(0, this.#random.int(1, 3));
      if (albaranes.length > 0) return { input: { ...invoice, proveedor: SUPPLIER, albaranes } };
      return { input: { ...invoice, proveedor: this.#supplier(mark, shared), detalles: this.#lines() } };
    },
    'purchaseInvoices.annul': (mark) => ({ input: { facturaCompraId: this.#bills.shift(), motivo: mark } }),
    'recurrings.create': (mark, shared) => ({
      input: {
        cliente: this.#client(mark, shared),
        pedido: { obra: mark },
        detalles: [{ cantidad: 1, descripcion: 'Limpieza', importe_unitario: this.#cents(), iva: 21 }],
      },
    }),
    'imports.create': (mark) => {
      const id = this.#random.pick(CLIENTS);
      const registros = [{ coleccion: 'clientes', ref: `c${id}`, nombre_fiscal: `Cliente ${mark}` }];
      return { changes: { table: 'clients', id }, input: { registros } };
    },
    'recurrings.update': (mark) => {
      const id = this.#random.pick(RECURRINGS);
      return {
        changes: { table: 'recurrings', id },
        input: { recurrenteId: String(id), datos: { descripcion: `Servicio ${mark}`, detalles: this.#lines() } },
      };
    },
    'recurrings.renew': () => {
      const id = this.#random.pick(RENEWED);
      const accion = this.#random.pick(['emitir', 'emitir', 'saltar']);
      return { changes: { table: 'recurrings', id }, input: { recurrenteId: String(id), accion } };
    },
    'products.create': (mark) => ({
      input: {
        datos: { descripcion: mark, sku: mark, precios: [{ tarifa: 1, precio: this.#cents() }], stock_inicial: 5 },
      },
    }),
    'products.update': (mark) => {
      const id = this.#random.pick(PRODUCTS);
      const datos = { descripcion: `Artículo ${mark}`, precios: [{ tarifa: 1, precio: this.#cents() }] };
      return { changes: { table: 'products', id }, input: { articuloId: String(id), datos } };
    },
    'products.adjustStock': (mark) => ({
      input: { articuloId: '2201', cantidad: this.#random.pick([-0.5, 3]), motivo: mark },
    }),
    'priceLists.adjust': () => ({ input: { tarifa: 2, porcentaje: this.#random.pick([-1, 1]) } }),
    'clients.create': (mark, shared) => ({ shared, input: { datos: this.#party(mark, shared) } }),
    'clients.update': (mark) => {
      const id = this.#random.pick(CLIENTS);
      return {
        changes: { table: 'clients', id },
        input: { clienteId: String(id), datos: { nombre_comercial: mark, movil: '' } },
      };
    },
    'suppliers.create': (mark, shared) => ({ shared, input: { datos: this.#party(mark, shared) } }),
    'suppliers.update': (mark) => {
      const id = this.#random.pick(SUPPLIERS);
      return {
        changes: { table: 'suppliers', id },
        input: { proveedorId: String(id), datos: { nombre_comercial: mark, movil: '' } },
      };
    },
    'productFamilies.create': (mark, shared) => ({
      shared,
      input: { datos: { titulo: shared ? `COMÚN ${this.#random.int(1, SHARED)}` : mark } },
    }),
    // Only the audit says that these were done.
    'webhooks.create': (mark) => ({ input: { url: 'https://receiver.invalid/', descripcion: mark, desde: 0 } }),
    'webhooks.update': (mark) => ({ input: { webhookId: '4501', datos: { descripcion: mark } } }),
    'webhooks.delete': () => ({ input: { webhookId: this.#hooks.shift() } }),
    'webhooks.test': () => ({ input: { webhookId: '4501' } }),
    'webhooks.rotateSecret': () => ({ input: { webhookId: '4501' } }),
    'documents.createLink': () => ({ input: { tipo: 'factura', id: '3901' } }),
    'documents.revokeLink': () => ({ input: { tipo: 'factura', id: '3901', enlaceId: this.#links.shift() } }),
    'treasuryMovements.create': (mark) => ({ input: { cuentaId: '4301', concepto: mark, importe: -this.#cents() } }),
    'dueDates.settle': () => {
      const id = this.#random.pick(DUE_DATES);
      return {
        changes: { table: 'invoice_due_dates', id },
        input: { vencimientoId: String(id), importe: this.#cents(), cuentaId: '4301' },
      };
    },
    'projects.create': (mark) => ({ input: { datos: { descripcion: mark, clienteId: CLIENT.id } } }),
    'projects.update': (mark) => {
      const id = this.#random.pick(PROJECTS);
      return {
        changes: { table: 'projects', id },
        input: { proyectoId: String(id), datos: { descripcion: `Obra ${mark}` } },
      };
    },
    'tasks.create': (mark) => ({ input: { datos: { titulo: mark, proyectoId: this.#random.pick(PROJECTS) } } }),
    'tasks.update': (mark) => {
      const id = this.#random.pick(TASKS);
      const datos = { titulo: `Tarea ${mark}`, proyectoId: this.#random.pick(PROJECTS) };
      return { changes: { table: 'tasks', id }, input: { tareaId: String(id), datos } };
    },
  };

  /** An amount with two decimals. */
  #cents = () => this.#random.int(1, 100_000) / 100;

  #email = (mark: string, shared: boolean) =>
    shared ? `comun-${this.#random.int(1, SHARED)}@example.com` : `${mark}@example.com`;

  #cif = (mark: string, shared: boolean) => (shared ? `COMUN${this.#random.int(1, SHARED)}` : mark);

  #party = (mark: string, shared: boolean) => ({ nombre_fiscal: mark, cif: this.#cif(mark, shared) });

  #client(mark: string, shared: boolean): object {
    if (this.#random.chance(0.5)) return CLIENT;
    const cif = this.#cif(mark, shared);
    return { nombre_fiscal: `Cliente ${cif}`, cif };
  }

  #supplier(mark: string, shared: boolean): object {
    return this.#random.chance(0.5) ? SUPPLIER : this.#party(mark, shared);
  }

  #lines = () =>
    Array.from({ length: this.#random.int(1, 4) }, () => ({
      cantidad: this.#random.int(1, 500) / 100,
      importe_unitario: this.#cents(),
      descripcion: 'Línea',
      iva: this.#random.pick([0, 4, 10, 21]),
      descuento: this.#random.pick([0, 0, 12.5]),
      ...(this.#random.chance(0.7) && { articulo_fk: this.#random.pick([2201, 2202]) }),
    }));
}

const CLIENT = { id: 1901 };
const SUPPLIER = { id: 2001 };

/** A call of this operation, as a writer makes it. Throws for an operation without inputs here. */
export const writeOf = (operation: Operation): Write => new Writer('w1-1', new Random(1, 1)).next(operation);

/** The writers; their calls follow from seed and index. `patient`: they wait for every answer and give up none. */
export interface WriterOptions {
  seed: number;
  index: number;
  doors: Doors;
  patient?: boolean;
}

/** Writes until `over`, one call after another. */
export async function keepWriting(proof: Proof, options: WriterOptions, over: AbortSignal): Promise<void> {
  const { seed, index, doors, patient = false } = options;
  const random = new Random(seed, index);
  const writer = new Writer(`w${seed}-${index}`, random);
  while (!over.aborted) {
    const operation = random.pick(writes);
    if (!writer.ready(operation)) continue;
    const write = writer.next(operation);
    const { answer } = await proof.perform(write, random, doors, { patient });
    if (answer !== undefined) writer.answered(write, JSON.parse(answer));
    await wait(random.int(0, 30));
  }
}
