// A small company with records of every collection, each field filled in at least once.
import type { FileRecord } from '../helpers/world.ts';

const line = { descripcion: 'Trabajo', cantidad: 2, importe_unitario: 10.5 };

export const SAMPLE: readonly FileRecord[] = [
  {
    ...{ coleccion: 'cuenta', ref: 'acme', formato: 1, nombre: 'Acme, S.L.', cif: 'B12345674' },
    ...{ zona_horaria: 'Europe/Madrid', stock_multiformato: true, cuota_por_minuto: 600 },
  },
  { coleccion: 'tarifas', ref: 'pvp1', id: 7, tarifa: 1, con_iva: true },
  { coleccion: 'tarifas', ref: 'pvp2', tarifa: 2, con_iva: false },
  { coleccion: 'departamentos', ref: 'taller', titulo: 'Taller' },
  { coleccion: 'tipos_contrato', ref: 'indefinido', titulo: 'Indefinido' },
  { coleccion: 'turnos', ref: 'noche', titulo: 'Noche' },
  {
    ...{ coleccion: 'empleados', ref: 'ana', id: 11, nombre: 'Ana', apellidos: 'Núñez', email: 'Ana@acme.example' },
    ...{ activo: true, departamento: 'taller' },
  },
  {
    ...{ coleccion: 'contratos', ref: 'ana-1', empleado: 'ana', tipo_contrato: 'indefinido', departamento: 'taller' },
    ...{ fecha_alta: '2024-01-01', fecha_baja: '2027-12-31', fecha_fin_periodo_pruebas: '2024-06-30' },
    ...{ minimo_horas_dia_laborable: 7.5, turno: 'noche', firmado: true },
    ...{ coste_hora: 18.25, coste_hora_pension: 0.5, coste_hora_ss: 6 },
  },
  { coleccion: 'tipos_dia', ref: 'fiesta', id: 9, tipo: 'festivo', titulo: 'Fiesta' },
  { coleccion: 'tipos_dia', ref: 'curso', tipo: 'curso', titulo: 'Formación' },
  {
    ...{ coleccion: 'calendario', ref: 'reyes', titulo: 'Reyes', tipo: 'festivo' },
    ...{ fecha_inicio: '2026-01-06', fecha_fin: '2026-01-06' },
  },
  {
    ...{ coleccion: 'ausencias', ref: 'verano', empleado: 'ana', titulo: 'Verano', tipo: 'vacaciones' },
    ...{ fecha_inicio: '2026-08-01', fecha_fin: '2026-08-15', porcentaje_imputable: 50, autorizada: true },
  },
  {
    ...{ coleccion: 'clientes', ref: 'bar', id: 3, nombre_fiscal: 'Bar Nilo, S.L.', nombre_comercial: 'Nilo' },
    ...{ cif: 'ES-B 1234.5678', email: 'bar@nilo.example', telefono: '960000000', movil: '600000000' },
    ...{ direccion: 'Calle Mayor, 1', cp: '46001', poblacion: 'València', provincia: 'Valencia', pais: 'España' },
    ...{ tarifa: 2, rgpd: { comunicaciones_email: true, comunicaciones_sms: false } },
  },
  { coleccion: 'clientes', ref: 'pepa', nombre_fiscal: 'Pepa' },
  {
    ...{ coleccion: 'proveedores', ref: 'cables', nombre_fiscal: 'Cables, S.A.', nombre_comercial: 'Cables' },
    ...{ cif: 'A1', email: 'hola@cables.example', telefono: '961', movil: '611' },
  },
  { coleccion: 'familias', ref: 'cable', titulo: 'Cable' },
  {
    ...{ coleccion: 'articulos', ref: 'hilo', id: 5, referencia: 'H-1', sku: 'S1', codigo_ean: '8400000000017' },
    ...{ descripcion: 'Hilo de cobre', familia: 'cable', iva: 10, coste: 0.123456, modo: 'venta' },
    precios: [
      { tarifa: 1, precio: 1.005, precio_con_iva: 1.2 },
      { tarifa: 2, precio: 0.9 },
    ],
    ...{ stock: 40.5, stock_minimo: 10 },
    variaciones: [
      { ref: 'rojo', id: 1, descripcion: 'Rojo' },
      { ref: 'azul', descripcion: 'Azul' },
    ],
    formatos: [
      { ref: 'm', titulo: 'Metro', factor: 1, compra: false },
      { ref: 'b', titulo: 'Bobina', factor: 100, peso_variable: true, venta: true, defecto_venta: true },
    ],
  },
  { coleccion: 'articulos', ref: 'grua', descripcion: 'Grúa', modo: 'alquiler', stock: 2 },
  {
    ...{ coleccion: 'funnels', ref: 'ventas', titulo: 'Ventas' },
    etapas: [
      { ref: 'nuevo', id: 1, titulo: 'Nuevo' },
      { ref: 'cierre', titulo: 'Cierre' },
    ],
  },
  { coleccion: 'canales', ref: 'web', titulo: 'Web' },
  { coleccion: 'motivos_perdida', ref: 'caro', motivo: 'Caro' },
  {
    ...{ coleccion: 'contactos', ref: 'rita', nombre: 'Rita', empresa: 'Nilo', email: 'Rita@Nilo.example' },
    ...{ movil: '+34 600 11 22 33', cliente: 'bar' },
  },
  {
    ...{ coleccion: 'oportunidades', ref: 'reforma', titulo: 'Reforma', funnel: 'ventas', etapa: 'cierre' },
    ...{ canal: 'web', contacto: 'rita', cliente: 'bar', estado: 'perdido', motivo: 'caro', comentarios: 'Otra vez' },
    ...{ valor: 1200.5, fecha_creacion: '2026-01-02 09:00:00', fecha_cierre: '2026-02-03 10:11:12' },
  },
  { coleccion: 'oportunidades', ref: 'otra', titulo: 'Otra', funnel: 'ventas', etapa: 'nuevo' },
  { coleccion: 'estados_proyecto', ref: 'obra', titulo: 'En obra' },
  {
    ...{ coleccion: 'proyectos', ref: 'nave', numero: '26-001', descripcion: 'Nave', cliente: 'bar', estado: 'obra' },
    ...{ presupuesto_coste: 1000, presupuesto_venta: 1500.75 },
  },
  { coleccion: 'estados_tarea', ref: 'hecha', titulo: 'Hecha' },
  {
    ...{ coleccion: 'tareas', ref: 'zanja', titulo: 'Zanja', proyecto: 'nave', estado: 'hecha', responsable: 'ana' },
    ...{ fecha_inicio: '2026-01-10', fecha_prevista_fin: '2026-01-20', progreso: 40, importe_presupuestado: 99 },
  },
  { coleccion: 'maquinas', ref: 'pala', titulo: 'Pala', coste_hora: 30 },
  {
    ...{ coleccion: 'fichajes', ref: 'f1', empleado: 'ana', proyecto: 'nave', tarea: 'zanja', maquina: 'pala' },
    entrada: { fecha: '2026-01-31', hora: '22:00', metodo: 'app' },
    salida: { fecha: '2026-02-01', hora: '06:00', metodo: 'card' },
    ...{ pausa_minutos: 20, observaciones: 'Noche' },
  },
  {
    ...{ coleccion: 'fichajes', ref: 'f2', empleado: 'ana' },
    ...{ entrada: { fecha: '2026-02-02', hora: '08:00', metodo: 'app' }, salida: null },
  },
  {
    ...{ coleccion: 'presupuestos', ref: 'p1', id: 1, numero: 'P2026-0004', fecha: '2026-01-02', concepto: 'Obra' },
    ...{ cliente: 'bar', lineas: [{ ...line, ref: 'l1', descuento: 10, iva: 10, proyecto: 'nave' }, line] },
  },
  {
    ...{ coleccion: 'adjuntos', ref: 'plano', presupuesto: 'p1', nombre: 'plano.txt', tipo_mime: 'text/plain' },
    ...{ fecha_subida: '2026-01-02 12:00:00', contenido: 'aG9sYQ==' },
  },
  {
    ...{ coleccion: 'recurrentes', ref: 'cuota', descripcion: 'Cuota', cliente: 'bar', periodicidad: 'trimestral' },
    ...{ fecha_creacion: '2025-12-20', fecha_inicio: '2026-01-31', fecha_caducidad: '2028-01-31' },
    ...{ ultima_facturacion: '2026-01-31', meses_activos: [1, 4, 7, 10], dia_ancla: 31, lineas: [line] },
  },
  {
    ...{ coleccion: 'albaranes', ref: 'a1', numero: 'A2026-0007', fecha: '2026-01-15', concepto: 'Entrega' },
    ...{ observaciones: '<p>En obra</p>\n', cliente: 'bar', proyecto: 'nave', recurrente: 'cuota' },
    ciclo_recurrente: '2026-01-31',
    ...{ promo_code: 'X1', revisado: false },
    lineas: [
      { ...line, ref: 'l1', articulo: 'hilo', variacion: 'rojo', formato: 'b', cantidad_base_real: 198.5 },
      { ...line, articulo: 'grua', startDate: '2026-01-16', endDate: '2026-01-18', descripcion_ampliada: 'Con pluma' },
    ],
  },
  { coleccion: 'albaranes', ref: 'a2', fecha: '2026-01-16', cliente: 'pepa', lineas: [{ ...line, proyecto: 'nave' }] },
  {
    ...{ coleccion: 'movimientos_stock', ref: 'm1', articulo: 'hilo', variacion: 'rojo', fecha: '2026-01-15 12:00:00' },
    ...{ cantidad: -198.5, albaran: 'a1', linea: 'l1', factor: 100 },
  },
  {
    ...{ coleccion: 'facturas', ref: 'f1', numero: 'F2026-0002', fecha: '2026-01-31', concepto: 'Enero' },
    ...{ cliente: 'bar', proyecto: 'nave' },
    lineas: [{ ...line, ref: 'l1', proviene_albaranes: true, albaran: 'a1' }, line],
    vencimientos: [
      { fecha: '2026-02-28', importe: 30, cobrado: 30 },
      { fecha: '2026-03-31', importe: 20.82 },
    ],
  },
  { coleccion: 'facturas', ref: 'f2', fecha: '2026-02-01', cliente: 'pepa', lineas: [line, { ...line, iva: 10 }] },
  {
    ...{ coleccion: 'albaranes_compra', ref: 'c1', numero: 'X-9', fecha: '2026-01-10', proveedor: 'cables' },
    ...{ proyecto: 'nave', lineas: [{ ...line, articulo: 'hilo', formato: 'b' }] },
  },
  { coleccion: 'subtipos_gasto', ref: 's600', subtipo: '600', titulo: 'Mercaderías' },
  {
    ...{ coleccion: 'facturas_compra', ref: 'g1', numero: 'X-77', fecha: '2026-01-31', proveedor: 'cables' },
    ...{ proyecto: 'nave', subtipo: '600', lineas: [{ ...line, proviene_albaranes: true }], pagado: 10 },
    vencimientos: [
      { fecha: '2026-02-28', importe: 10, pagado: 10 },
      { fecha: '2026-03-28', importe: 15.41 },
    ],
  },
  {
    coleccion: 'facturas_compra',
    ref: 'g2',
    numero: 'Y',
    fecha: '2026-01-31',
    proveedor: 'cables',
    lineas: [line],
    pagado: 1,
  },
  { coleccion: 'cuentas_tesoreria', ref: 'banco', titulo: 'Banco', tipo: 'banco', iban: 'ES00', saldo_inicial: -5 },
  {
    coleccion: 'movimientos_tesoreria',
    ref: 't1',
    cuenta: 'banco',
    fecha: '2026-01-31',
    concepto: 'Cobro',
    importe: 30,
  },
];
