// A company with something of everything, and for every operation an input that succeeds on it. Tests that walk the whole
// registry (registry.test.ts) stand on both: a new operation adds its example here.
import type { FileRecord } from './world.ts';

/** The moment that the examples are made for: on it, nothing below has expired. */
export const EXAMPLE_NOW = '2026-03-02T10:00:00Z';

const line = { descripcion: 'Silla', cantidad: 2, importe_unitario: 50, articulo: 'silla' };

/** Every record has a number, by which the inputs name it. */
export const exampleRecords: readonly FileRecord[] = [
  { coleccion: 'tarifas', ref: 't1', id: 1101, tarifa: 1 },
  { coleccion: 'tarifas', ref: 't2', id: 1102, tarifa: 2, con_iva: false },
  { coleccion: 'departamentos', ref: 'taller', id: 1201, titulo: 'Taller' },
  { coleccion: 'tipos_contrato', ref: 'fijo', id: 1301, titulo: 'Indefinido' },
  { coleccion: 'turnos', ref: 'tarde', id: 1401, titulo: 'Tarde' },
  {
    coleccion: 'empleados',
    ref: 'ana',
    id: 1501,
    nombre: 'Ana',
    apellidos: 'Gil',
    email: 'ana@example.com',
    departamento: 'taller',
  },
  {
    coleccion: 'contratos',
    ref: 'ana-1',
    id: 1601,
    empleado: 'ana',
    tipo_contrato: 'fijo',
    departamento: 'taller',
    fecha_alta: '2024-01-01',
    turno: 'tarde',
    minimo_horas_dia_laborable: 8,
    coste_hora: 20,
  },
  {
    coleccion: 'calendario',
    ref: 'fiesta',
    id: 1701,
    titulo: 'Fiesta local',
    tipo: 'festivo',
    fecha_inicio: '2026-03-04',
    fecha_fin: '2026-03-04',
  },
  {
    coleccion: 'ausencias',
    ref: 'playa',
    id: 1801,
    empleado: 'ana',
    titulo: 'Playa',
    tipo: 'vacaciones',
    fecha_inicio: '2026-03-05',
    fecha_fin: '2026-03-06',
    autorizada: true,
  },
  {
    coleccion: 'clientes',
    ref: 'bar',
    id: 1901,
    nombre_fiscal: 'Bar Pepe SL',
    cif: 'B11111111',
    email: 'bar@example.com',
    tarifa: 2,
  },
  {
    coleccion: 'proveedores',
    ref: 'maderas',
    id: 2001,
    nombre_fiscal: 'Maderas SA',
    cif: 'A22222222',
    movil: '600000000',
  },
  { coleccion: 'familias', ref: 'muebles', id: 2101, titulo: 'Muebles' },
  {
    coleccion: 'articulos',
    ref: 'silla',
    id: 2201,
    descripcion: 'Silla de pino',
    referencia: 'S-1',
    familia: 'muebles',
    precios: [
      { tarifa: 1, precio: 50 },
      { tarifa: 2, precio: 45 },
    ],
    stock: 4,
    stock_minimo: 5,
    variaciones: [{ ref: 'roja', id: 2211, descripcion: 'Roja' }],
    formatos: [{ ref: 'caja', id: 2221, titulo: 'Caja de 4', factor: 4, peso_variable: true }],
  },
  {
    coleccion: 'articulos',
    ref: 'carpa',
    id: 2202,
    descripcion: 'Carpa',
    modo: 'alquiler',
    precios: [{ tarifa: 1, precio: 90 }],
    stock: 3,
  },
  {
    coleccion: 'funnels',
    ref: 'ventas',
    id: 2301,
    titulo: 'Ventas',
    etapas: [
      { ref: 'nueva', id: 2311, titulo: 'Nueva' },
      { ref: 'oferta', id: 2312, titulo: 'Oferta' },
    ],
  },
  { coleccion: 'canales', ref: 'web', id: 2401, titulo: 'Web' },
  { coleccion: 'motivos_perdida', ref: 'precio', id: 2501, motivo: 'Precio' },
  {
    coleccion: 'contactos',
    ref: 'pepe',
    id: 2601,
    nombre: 'Pepe',
    empresa: 'Bar Pepe',
    email: 'pepe@example.com',
    movil: '+34 622 33 44 55',
    cliente: 'bar',
  },
  {
    coleccion: 'oportunidades',
    ref: 'terraza',
    id: 2701,
    titulo: 'Terraza',
    funnel: 'ventas',
    etapa: 'nueva',
    canal: 'web',
    contacto: 'pepe',
    cliente: 'bar',
    fecha_creacion: '2026-02-01 10:00:00',
  },
  {
    coleccion: 'oportunidades',
    ref: 'interior',
    id: 2702,
    titulo: 'Interior',
    funnel: 'ventas',
    etapa: 'oferta',
    estado: 'perdido',
    motivo: 'precio',
    valor: 300,
    fecha_creacion: '2026-02-02 10:00:00',
    fecha_cierre: '2026-02-20 10:00:00',
  },
  { coleccion: 'estados_proyecto', ref: 'obra', id: 2801, titulo: 'En obra' },
  { coleccion: 'proyectos', ref: 'p1', id: 2901, numero: '1', descripcion: 'Reforma', cliente: 'bar', estado: 'obra' },
  { coleccion: 'estados_tarea', ref: 'curso', id: 3001, titulo: 'En curso' },
  {
    coleccion: 'tareas',
    ref: 'lijar',
    id: 3101,
    titulo: 'Lijar',
    proyecto: 'p1',
    estado: 'curso',
    responsable: 'ana',
    fecha_inicio: '2026-02-15',
    fecha_prevista_fin: '2026-02-25',
    progreso: 50,
  },
  { coleccion: 'maquinas', ref: 'sierra', id: 3201, titulo: 'Sierra', coste_hora: 5 },
  {
    coleccion: 'fichajes',
    ref: 'f1',
    id: 3301,
    empleado: 'ana',
    entrada: { fecha: '2026-02-16', hora: '08:00', metodo: 'app' },
    salida: { fecha: '2026-02-16', hora: '16:00', metodo: 'app' },
    proyecto: 'p1',
    tarea: 'lijar',
    maquina: 'sierra',
  },
  {
    coleccion: 'fichajes',
    ref: 'f2',
    id: 3302,
    empleado: 'ana',
    entrada: { fecha: '2026-03-02', hora: '08:00', metodo: 'tarjeta' },
    proyecto: 'p1',
  },
  {
    coleccion: 'presupuestos',
    ref: 'pr1',
    id: 3401,
    fecha: '2026-02-03',
    concepto: 'Terraza',
    cliente: 'bar',
    lineas: [{ ref: 'l', id: 3411, ...line }],
  },
  {
    coleccion: 'adjuntos',
    ref: 'plano',
    id: 3501,
    presupuesto: 'pr1',
    nombre: 'plano.txt',
    tipo_mime: 'text/plain',
    fecha_subida: '2026-02-03 12:00:00',
    contenido: 'cGxhbm8=',
  },
  {
    coleccion: 'recurrentes',
    ref: 'mantenimiento',
    id: 3601,
    descripcion: 'Mantenimiento',
    cliente: 'bar',
    periodicidad: 'mensual',
    fecha_creacion: '2026-02-01',
    fecha_inicio: '2026-02-01',
    lineas: [{ ref: 'l', id: 3611, ...line }],
  },
  {
    coleccion: 'albaranes',
    ref: 'a1',
    id: 3701,
    fecha: '2026-02-04',
    concepto: 'Entrega',
    cliente: 'bar',
    proyecto: 'p1',
    recurrente: 'mantenimiento',
    lineas: [{ ref: 'l', id: 3711, ...line }],
  },
  {
    coleccion: 'movimientos_stock',
    ref: 'm1',
    id: 3801,
    articulo: 'silla',
    variacion: 'roja',
    fecha: '2026-02-04 10:00:00',
    cantidad: -2,
    albaran: 'a1',
    linea: 'l',
  },
  {
    coleccion: 'facturas',
    ref: 'fa1',
    id: 3901,
    numero: '1',
    fecha: '2026-02-05',
    concepto: 'Febrero',
    cliente: 'bar',
    proyecto: 'p1',
    lineas: [{ ref: 'l', id: 3911, ...line }],
    vencimientos: [{ fecha: '2026-03-10', importe: 121 }],
  },
  {
    coleccion: 'albaranes_compra',
    ref: 'ac1',
    id: 4001,
    numero: 'AC-1',
    fecha: '2026-02-06',
    proveedor: 'maderas',
    proyecto: 'p1',
    lineas: [{ ref: 'l', id: 4011, ...line }],
  },
  { coleccion: 'subtipos_gasto', ref: 'material', id: 4101, subtipo: '600', titulo: 'Material' },
  {
    coleccion: 'facturas_compra',
    ref: 'fc1',
    id: 4201,
    numero: 'FC-1',
    fecha: '2026-02-07',
    proveedor: 'maderas',
    proyecto: 'p1',
    subtipo: '600',
    lineas: [{ ref: 'l', id: 4211, ...line }],
    vencimientos: [{ fecha: '2026-03-12', importe: 121 }],
  },
  {
    coleccion: 'cuentas_tesoreria',
    ref: 'banco',
    id: 4301,
    titulo: 'Banco',
    tipo: 'banco',
    iban: 'ES9121000418450200051332',
    saldo_inicial: 1000,
  },
  {
    coleccion: 'movimientos_tesoreria',
    ref: 'mt1',
    id: 4401,
    cuenta: 'banco',
    fecha: '2026-02-08',
    concepto: 'Cobro',
    importe: 100,
  },
];

/** What the company is, beside its records. */
export const exampleAccount = { stock_multiformato: true };

const dates = { fecha_inicio: '2026-02-01', fecha_fin: '2026-03-31' };
const pages = { pagina: 1, por_pagina: 50 };

/**
 * Operation path -> an input with every parameter that fits together, on a company with `exampleRecords` and
 * `exampleAccount` at `EXAMPLE_NOW`. Parameters that stand in some path of the operation are always there.
 */
export const examples: Readonly<Record<string, Record<string, unknown>>> = {
  'funnels.list': {},
  'channels.list': {},
  'contacts.list': { busqueda: 'bar', email: 'Pepe@example.com', movil: '622334455', ...pages },
  'contacts.get': { contactoId: 2601 },
  'contacts.create': {
    datos: { nombre: 'Nuria', empresa: 'Nueva SL', email: 'nueva@example.com', movil: '611111111' },
  },
  'opportunities.list': {
    ...dates,
    funnel_fk: 2301,
    etapa_fk: 2311,
    resultado: 'abierta',
    contactoId: 2601,
    ...pages,
  },
  'opportunities.get': { oportunidadId: 2701 },
  'opportunities.create': {
    datos: {
      funnel_fk: 2301,
      etapa_fk: 2311,
      descripcion: 'Feria',
      canal_fk: 2401,
      email_contacto: 'nueva@example.com',
      movil_contacto: '611111111',
      persona_contacto: 'Nuria',
      empresa: 'Nueva SL',
      cliente_facturacion_fk: 1901,
    },
  },
  'opportunities.close': {
    oportunidadId: 2701,
    resultado: 'perdido',
    motivoId: 2501,
    comentarios: 'Caro',
    valor_cierre: 120.5,
    fecha_cierre: '2026-03-01',
  },
  'opportunities.move': { oportunidadId: 2701, etapa_fk: 2312 },
  'products.list': { busqueda: 'pino', familiaId: 2101, bajo_minimo: true, ...pages },
  'products.get': { articuloId: 2201 },
  'products.listFormats': { articuloId: 2201 },
  'products.getAvailability': { ...dates, articuloId: 2202, cantidad: 2.5 },
  'productFamilies.list': {},
  'priceLists.list': { articuloId: 2201 },
  'deliveryNotes.create': {
    cliente: { nombre_fiscal: 'Bar Pepe SL', cif: 'B11111111', email: 'bar@example.com' },
    pedido: { obra: 'Boda', detalles_operacion: '<b>Frágil</b>', promo_code: 'MARZO' },
    detalles: [
      {
        cantidad: 2,
        descripcion: 'Sillas',
        importe_unitario: 40,
        iva: 21,
        descuento: 10,
        articulo_fk: 2201,
        variacion_articulo_fk: 2211,
        formatoId: 2221,
        cantidad_base_real: 7.5,
      },
      { cantidad: 1, articulo_fk: 2202, startDate: '2026-06-01', endDate: '2026-06-03' },
    ],
  },
  'deliveryNotes.list': { ...dates, clienteId: 1901, proyectoId: 2901, facturado: false, ...pages },
  'deliveryNotes.get': { albaranId: 3701 },
  'invoices.list': { ...dates, clienteId: 1901, pagada: false, busqueda: 'febrero', ...pages },
  'invoices.get': { facturaId: 3901 },
  'invoices.create': {
    cliente: { nombre_fiscal: 'Bar Pepe SL', cif: 'B11111111', email: 'bar@example.com' },
    pedido: { obra: 'Boda', detalles_operacion: '<b>Sin recargo</b>', promo_code: 'MARZO' },
    detalles: [
      {
        cantidad: 2,
        descripcion: 'Sillas',
        importe_unitario: 40,
        iva: 21,
        descuento: 10,
        articulo_fk: 2201,
        variacion_articulo_fk: 2211,
        formatoId: 2221,
        cantidad_base_real: 7.5,
      },
    ],
    vencimientos: [
      { fecha: '2026-03-31', importe: 40 },
      { fecha: '2026-04-30', importe: 47.12 },
    ],
  },
  'account.get': {},
  'timeEntries.list': { ...dates, empleadoId: 1501, proyectoId: 2901, ...pages },
  'employees.list': { busqueda: 'ana gil', departamentoId: 1201, activo: true, ...pages },
  'employees.get': { empleadoId: 1501 },
  'contracts.list': { empleadoId: 1501, vigentes: true },
  'absences.list': { ...dates, empleadoId: 1501, tipo: 'vacaciones', incluir_rechazadas: true },
  'absences.summarise': { ...dates, departamentoId: 1201, tipo: 'vacaciones' },
  'workCalendar.get': { ...dates, empleadoId: 1501, incluir_rechazadas: true },
  'planning.get': { ...dates, empleadoId: 1501, proyectoId: 2901 },
  'lossReasons.list': { funnel_fk: 2301 },
  'clients.list': { busqueda: 'pepe', cif: 'es-b 11111111', email: 'Bar@example.com', tarifa: 2, ...pages },
  'clients.get': { clienteId: 1901 },
  'estimates.list': { ...dates, clienteId: 1901, busqueda: 'terraza', ...pages },
  'estimates.get': { presupuestoId: 3401 },
  'estimates.listAttachments': { presupuestoId: 3401 },
  'salesReport.get': { ...dates, agrupar: 'familia' },
  'recurrings.create': {
    cliente: { nombre_fiscal: 'Bar Pepe SL', cif: 'B11111111' },
    pedido: { obra: 'Limpieza' },
    detalles: [{ cantidad: 1, descripcion: 'Limpieza anual', importe_unitario: 300, iva: 21, articulo_fk: 2201 }],
  },
  'recurrings.listNew': { ...dates },
  'recurrings.listRenewals': { ...dates },
  'suppliers.list': { busqueda: 'maderas', ...pages },
  'purchaseInvoices.list': { ...dates, proveedorId: 2001, pagada: false, subtipo: '600', ...pages },
  'purchaseDeliveryNotes.list': { ...dates, proveedorId: 2001, ...pages },
  'purchasesReport.get': { ...dates, agrupar: 'proveedor' },
  'resultsReport.get': { ...dates, agrupar: 'proyecto' },
  'projectStates.list': {},
  'taskStates.list': {},
  'projects.list': { ...dates, busqueda: 'reforma', clienteId: 1901, estadoId: 2801, ...pages },
  'treasuryAccounts.list': {},
  'treasuryMovements.list': { ...dates, cuentaId: 4301, ...pages },
  'dueDates.list': { ...dates, tipo: 'cobro', pendiente: true, ...pages },
  'treasuryForecast.get': { ...dates, agrupar: 'semana' },
  'tasks.list': { ...dates, proyectoId: 2901, estadoId: 3001, vencidas: true, ...pages },
};

/** The records again, `copies` times over, each as a record of its own: what makes lists longer. */
export const copiesOf = (copies: number): FileRecord[] =>
  Array.from({ length: copies }, (_, copy) => {
    // What is one of its kind, or unique by its code, is not doubled.
    const doubled = exampleRecords.filter(({ coleccion }) => coleccion !== 'tarifas' && coleccion !== 'subtipos_gasto');
    const refs = new Set(doubled.map(({ ref }) => ref));
    const again = (value: unknown, field = ''): unknown => {
      if (Array.isArray(value)) return value.map((item) => again(item));
      if (typeof value === 'object' && value !== null) {
        return Object.fromEntries(
          Object.entries(value).flatMap(([name, inner]) => (name === 'id' ? [] : [[name, again(inner, name)]])),
        );
      }
      if (field === 'numero') return `${value}/${copy}`;
      return field !== 'etapa' &&
        field !== 'variacion' &&
        field !== 'linea' &&
        field !== 'tipo' &&
        refs.has(String(value))
        ? `${value}+${copy}`
        : value;
    };
    return doubled.map((record) => again(record) as FileRecord);
  }).flat();
