// Arbitrary companies for property tests: a few records of every collection with random references between them, and fields
// left out, null or filled in.
import fc from 'fast-check';
import { png } from '../documents/pictures.ts';
import type { FileRecord } from '../helpers/world.ts';

const ZONES = ['Europe/Madrid', 'America/New_York', 'America/Sao_Paulo', 'Asia/Kolkata', 'Australia/Lord_Howe', 'UTC'];
const word = fc
  .oneof(
    fc.string({ minLength: 1, maxLength: 12 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }),
    fc.constantFrom('O\'Neill \\ "x"', 'Ñandú', '$1', '\\N', '{a,b}', 'ß😀', 'línea\notra', 'ES-B12345678'),
  )
  .map((text) => text.replaceAll('\0', '').trim())
  .filter((text) => text !== '' && !text.startsWith('@'));
const local = fc.oneof(
  fc.emailAddress().map((address) => address.split('@')[0]),
  fc.constantFrom('josé', 'X+y', '用户'),
);
const domain = fc.oneof(fc.domain(), fc.constantFrom('ñandu.es', 'Ñandú.es', 'localhost', '例子.广告'));
const amount = fc.oneof(
  fc.integer({ min: -100_000, max: 100_000 }),
  fc.integer({ min: -1e9, max: 1e9 }).map((cents) => cents / 100),
  fc.integer({ min: -1e9, max: 1e9 }).map((millionths) => millionths / 1e6),
);
const day = fc.integer({ min: 0, max: 1200 }).map((days) => Temporal.PlainDate.from('2023-12-20').add({ days }));
// Hours of clock changes are frequent.
const hour = fc.oneof(fc.constantFrom('00', '01', '02', '03'), fc.integer({ min: 0, max: 23 }).map(twoDigits));
const changes = fc.constantFrom('2024-03-31', '2024-10-27', '2024-11-03', '2024-03-10', '2025-04-06', '2025-10-05');

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

export const arbitraryCompany = fc.gen().map((gen): FileRecord[] => {
  const records: FileRecord[] = [];
  const refs = new Map<string, FileRecord[]>();
  const text = () => gen(() => word);
  const email = () => `${gen(() => local)}@${gen(() => domain)}`;
  const number = () => gen(() => amount);
  const flip = () => gen(fc.boolean);
  const pick = <T>(list: readonly T[]): T => list[gen(fc.nat, { max: list.length - 1 })] as T;
  const some = <T>(make: (index: number) => T, max = 2): T[] =>
    Array.from({ length: gen(fc.integer, { min: 0, max }) }, (_, index) => make(index));
  const date = () => gen(() => day).toString();
  const dates = () => [date(), date()].sort() as [string, string];
  const zone = pick(ZONES);
  const time = () => {
    const fecha = flip() ? date() : gen(() => changes);
    const hora = `${gen(() => hour)}:${pick(['00', '15', '30', '45', '59'])}`;
    const local = Temporal.PlainDateTime.from(`${fecha}T${hora}`);
    // Not an hour that a clock change skips.
    return local.toZonedDateTime(zone).toPlainDateTime().toString().slice(0, 16).replace('T', ' ');
  };
  const instant = () => `${time()}:${twoDigits(gen(fc.nat, { max: 59 }))}`;
  /** Leaves out some of the fields and sets others to null. */
  const maybe = (fields: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) => {
        const fate = gen(fc.nat, { max: 3 });
        return fate === 0 ? [] : [[name, fate === 1 ? null : value]];
      }),
    );
  const of = (coleccion: string) => refs.get(coleccion) ?? [];
  const named = (coleccion: string) => (of(coleccion).length > 0 ? pick(of(coleccion)).ref : null);
  const inner = (make: (index: number) => object, max = 3) =>
    some((index) => ({ ref: `${index}${text()}`, ...make(index) }), max);
  /** Records of a collection, some with an id of their own. */
  const add = (coleccion: string, make: (index: number) => object, count = 2) => {
    const list = Array.from({ length: count }, (_, index): FileRecord => {
      const kind = gen(fc.nat, { max: 3 });
      const id = 2_000_000 + index * 1000 + gen(fc.nat, { max: 999 });
      const identity =
        kind === 0
          ? { ref: `@${id}`, id }
          : kind === 1
            ? { ref: `${index} ${text()}`, id }
            : { ref: `${index} ${text()}` };
      return { coleccion, ...identity, ...make(index) };
    });
    refs.set(coleccion, list);
    records.push(...list);
  };
  const product = (): { articulo?: unknown; variacion?: unknown } => {
    const chosen = of('articulos').length > 0 ? pick(of('articulos')) : undefined;
    const one = (list: unknown) => (Array.isArray(list) && list.length > 0 ? pick(list).ref : null);
    return maybe({ articulo: null }).articulo === undefined && chosen
      ? { articulo: chosen.ref, ...maybe({ variacion: one(chosen.variaciones), formato: one(chosen.formatos) }) }
      : {};
  };
  const lines = (ownProject: boolean, more: () => object = () => ({})) =>
    some((index) => {
      const [startDate, endDate] = dates();
      const cantidad = number();
      const { descuento, ...others } = maybe({
        ref: `${index}${text()}`,
        descuento: number(),
        iva: pick([0, 4, 10, 21, 5.5]),
        cantidad_base_real: number(),
      });
      // The amount of a line is at most 10^9. W-08
      const dearest = 9e8 / Math.max(1, Math.abs(cantidad * (1 - Number(descuento ?? 0) / 100)));
      const price = number();
      const importe_unitario = Math.abs(price) <= dearest ? price : Math.trunc(dearest * 1e6) / 1e6;
      return {
        ...others,
        ...(descuento === undefined ? {} : { descuento }),
        descripcion: text(),
        cantidad,
        importe_unitario,
        ...product(),
        ...maybe({ descripcion_ampliada: pick([text(), ' ', `${text()}\n `]) }),
        ...(flip() ? { startDate, endDate } : {}),
        ...(ownProject ? maybe({ proyecto: named('proyectos') }) : {}),
        ...more(),
      };
    }, 3);
  /** Of lines of what is sold. */
  const taxes = () =>
    flip() ? maybe({ recargo: pick([0, 0.5, 5.2, 99.99]) }) : { iva: 0, exencion: pick(['E1', 'E6', 'N2', 'S2']) };
  const onProject = (more?: () => object) => {
    const proyecto = flip() ? named('proyectos') : null;
    return { proyecto, lineas: lines(true, more) };
  };
  const annulment = () =>
    flip() ? { anulado_el: instant(), ...maybe({ anulado_por: text() }), motivo_anulacion: text() } : {};
  const party = () => ({
    nombre_fiscal: text(),
    ...maybe({ nombre_comercial: text(), cif: text(), email: email(), telefono: text(), movil: text() }),
  });
  const titled = () => ({ titulo: text() });

  records.push({
    coleccion: 'cuenta',
    ref: text(),
    formato: pick([1, 2]),
    nombre: text(),
    zona_horaria: zone,
    ...maybe({ cif: text(), stock_multiformato: flip(), emision_automatica: flip() }),
    ...maybe({
      regimen_iva: pick(['general', 'caja']),
      color: pick(['#0f766e', '']),
      logo: { tipo_mime: 'image/png', contenido: png().toString('base64') },
    }),
    ...maybe({ series: { factura: pick(['FX-', 'F', '']), presupuesto: null } }),
  });
  add('tarifas', (index) => ({ tarifa: index + 1, ...maybe({ con_iva: flip() }) }), 3);
  for (const coleccion of ['departamentos', 'tipos_contrato', 'turnos']) add(coleccion, titled);
  add('empleados', () => ({
    nombre: text(),
    ...maybe({ apellidos: text(), email: email(), activo: flip(), departamento: named('departamentos') }),
  }));
  add('contratos', () => {
    const [fecha_alta, fecha_baja] = dates();
    return {
      empleado: named('empleados'),
      tipo_contrato: named('tipos_contrato'),
      fecha_alta,
      ...maybe({ departamento: named('departamentos'), fecha_baja, fecha_fin_periodo_pruebas: date() }),
      ...maybe({ minimo_horas_dia_laborable: number(), modo_turno: text(), turno: named('turnos'), firmado: flip() }),
      ...maybe({ coste_hora: number(), coste_hora_pension: number(), coste_hora_ss: number() }),
    };
  });
  add('tipos_dia', (index) => ({ tipo: index === 0 ? 'festivo' : `x${text()}`, titulo: text() }));
  const types = ['vacaciones', 'baja', ...of('tipos_dia').map(({ tipo }) => tipo)];
  const away = () => {
    const [fecha_inicio, fecha_fin] = dates();
    return { titulo: text(), tipo: pick(types), fecha_inicio, fecha_fin };
  };
  add('calendario', away);
  add('ausencias', () => ({
    empleado: named('empleados'),
    ...away(),
    ...maybe({ porcentaje_imputable: number(), [pick(['autorizada', 'rechazada'])]: true }),
  }));
  add('clientes', () => ({
    ...party(),
    ...maybe({
      direccion: text(),
      cp: text(),
      poblacion: text(),
      provincia: text(),
      pais: text(),
      tarifa: pick([1, 2, 3]),
    }),
    ...maybe({
      rgpd: maybe({ comunicaciones_email: flip(), comunicaciones_sms: flip(), tratamiento_imagenes: flip() }),
    }),
  }));
  add('proveedores', party);
  add('familias', titled);
  add('articulos', () => ({
    descripcion: text(),
    ...maybe({
      referencia: text(),
      sku: text(),
      codigo_ean: text(),
      familia: named('familias'),
      iva: pick([0, 10, 5.2]),
    }),
    ...maybe({
      coste: number(),
      modo: pick(['venta', 'alquiler', 'servicio']),
      stock: number(),
      stock_minimo: number(),
    }),
    ...maybe({
      precios: of('tarifas').flatMap(({ tarifa, con_iva }) => {
        const withVat = con_iva === false ? {} : maybe({ precio_con_iva: number() });
        return flip() ? [{ tarifa, precio: number(), ...withVat }] : [];
      }),
    }),
    ...maybe({ variaciones: inner(() => ({ descripcion: text() })) }),
    ...maybe({
      formatos: inner(() => ({
        titulo: text(),
        factor: Math.abs(number()) || 1,
        ...maybe({ peso_variable: flip(), venta: flip(), compra: flip(), defecto_venta: flip() }),
      })),
    }),
  }));
  add('funnels', () => ({ titulo: text(), etapas: [{ ref: 'e', titulo: text() }, ...inner(titled)] }));
  add('canales', titled);
  add('motivos_perdida', () => ({ motivo: text() }));
  add('contactos', () =>
    maybe({ nombre: text(), empresa: text(), email: email(), movil: text(), cliente: named('clientes') }),
  );
  add('oportunidades', () => ({
    titulo: text(),
    funnel: named('funnels'),
    etapa: 'e',
    ...maybe({ canal: named('canales'), contacto: named('contactos'), cliente: named('clientes') }),
    ...maybe({ estado: pick(['abierta', 'ganado', 'perdido']), motivo: named('motivos_perdida'), comentarios: text() }),
    ...maybe({ valor: number(), fecha_creacion: instant(), fecha_cierre: instant() }),
  }));
  add('estados_proyecto', titled);
  add('proyectos', () => ({
    numero: text(),
    descripcion: text(),
    ...maybe({ cliente: named('clientes'), estado: named('estados_proyecto') }),
    ...maybe({ presupuesto_coste: number(), presupuesto_venta: number() }),
  }));
  add('estados_tarea', titled);
  add('tareas', () => {
    const [fecha_inicio, fecha_prevista_fin] = dates();
    return {
      titulo: text(),
      ...maybe({ proyecto: named('proyectos'), estado: named('estados_tarea'), responsable: named('empleados') }),
      ...maybe({
        fecha_inicio,
        fecha_prevista_fin,
        progreso: 33.3,
        importe_presupuestado: number(),
        eliminada: flip(),
      }),
    };
  });
  add('maquinas', () => ({ ...titled(), ...maybe({ coste_hora: number() }) }));
  add('fichajes', () => {
    const clocking = (local: string) => ({ fecha: local.slice(0, 10), hora: local.slice(11), metodo: text() });
    const [entrada = '', salida = ''] = [time(), time()].sort();
    return {
      empleado: named('empleados'),
      entrada: clocking(entrada),
      ...maybe({ salida: clocking(salida) }),
      ...maybe({ proyecto: named('proyectos'), tarea: named('tareas'), maquina: named('maquinas') }),
      ...maybe({ pausa_minutos: Math.abs(number()), observaciones: text() }),
    };
  });
  const sale = (letter: string, index: number) => ({
    fecha: date(),
    cliente: named('clientes'),
    ...maybe({ numero: pick([`${letter}2026-000${index + 1}`, `${index} ${text()}`]), concepto: text() }),
    ...maybe({ contraparte: { nombre_fiscal: text(), ...maybe({ cif: text(), email: text(), direccion: text() }) } }),
  });
  /** Sometimes a line of an estimate that a line is converted from. */
  const converted = () => {
    const estimate = pick(of('presupuestos'));
    const line = Array.isArray(estimate.lineas)
      ? estimate.lineas.find(({ ref }) => typeof ref === 'string')
      : undefined;
    return line && flip() ? { presupuesto: estimate.ref, linea_presupuesto: line.ref } : {};
  };
  add('presupuestos', (index) => ({
    ...sale('P', index),
    ...onProject(taxes),
    ...maybe({ observaciones: ` <i>${text()}</i>`, promo_code: text(), valido_hasta: date() }),
    ...maybe({ estado: pick(['pendiente', 'aceptado', 'rechazado']) }),
  }));
  add('adjuntos', () => ({
    presupuesto: named('presupuestos'),
    nombre: text(),
    tipo_mime: text(),
    fecha_subida: instant(),
    contenido: Buffer.from(gen(fc.uint8Array, { maxLength: 40 })).toString('base64'),
  }));
  add('recurrentes', () => {
    const [fecha_inicio, fecha_caducidad] = dates();
    return {
      descripcion: text(),
      cliente: named('clientes'),
      fecha_creacion: date(),
      lineas: lines(true, taxes),
      periodicidad: pick(['semanal', 'quincenal', 'mensual', 'bimensual', 'trimestral', 'semestral', 'anual']),
      ...maybe({ fecha_inicio, fecha_caducidad, meses_activos: [12, 1], dia_ancla: 31, ciclos_saltados: [date()] }),
      ...(flip() ? { ultima_facturacion: date(), ...maybe({ pendiente_desde: '1999-12-31' }) } : {}),
    };
  });
  add('albaranes', (index) => ({
    ...sale('A', index),
    ...onProject(() => ({ ...taxes(), ...converted() })),
    ...maybe({
      observaciones: pick([text(), ` <b>${text()}</b>\n`]),
      promo_code: text(),
    }),
    ...(flip() ? { recurrente: named('recurrentes'), ...maybe({ ciclo_recurrente: `2026-0${index + 1}-28` }) } : {}),
    ...maybe({ revisado: flip() }),
    ...annulment(),
  }));
  add('facturas', (index) => ({
    ...sale('F', index),
    ...onProject(() => ({
      ...maybe({ proviene_albaranes: flip(), albaran: named('albaranes') }),
      ...maybe({ linea_rectificada: 1, albaran_liberado: flip() }),
      ...taxes(),
      ...converted(),
    })),
    ...maybe({ retencion: pick([0, 7, 15, 99.99]) }),
    ...annulment(),
    ...maybe({ vencimientos: some(() => ({ fecha: date(), importe: number(), ...maybe({ cobrado: number() }) })) }),
  }));
  add('albaranes_compra', () => ({
    fecha: date(),
    proveedor: named('proveedores'),
    ...maybe({ numero: text() }),
    ...onProject(),
    ...annulment(),
  }));
  add('movimientos_stock', () => {
    const note = pick(of('albaranes'));
    const line = Array.isArray(note.lineas) ? note.lineas.find(({ ref }) => typeof ref === 'string') : undefined;
    const { articulo, variacion = null } = product();
    return {
      ...(articulo ? { articulo, variacion } : { articulo: named('articulos') }),
      fecha: instant(),
      cantidad: number(),
      ...(flip() ? { albaran: note.ref, ...maybe({ linea: line?.ref ?? null }) } : {}),
      ...maybe({
        factor: number(),
        motivo: text(),
        factura: named('facturas'),
        albaran_compra: named('albaranes_compra'),
      }),
    };
  });
  add('subtipos_gasto', (index) => ({ subtipo: `${index}${text()}`, titulo: text() }));
  add('facturas_compra', () => ({
    numero: text(),
    fecha: date(),
    proveedor: named('proveedores'),
    ...maybe({ subtipo: text() }),
    ...annulment(),
    ...onProject(() => maybe({ proviene_albaranes: flip(), albaran_compra: named('albaranes_compra') })),
    ...pick([
      maybe({ pagado: number() }),
      {
        pagado: 0.3,
        vencimientos: [
          { fecha: date(), importe: 1, pagado: 0.1 },
          { fecha: date(), importe: 1, pagado: 0.2 },
        ],
      },
    ]),
  }));
  add('cuentas_tesoreria', () => ({
    ...titled(),
    tipo: pick(['banco', 'caja']),
    ...maybe({ iban: text(), saldo_inicial: number() }),
  }));
  add('movimientos_tesoreria', () => ({
    cuenta: named('cuentas_tesoreria'),
    fecha: date(),
    concepto: text(),
    importe: number(),
  }));
  add('liquidaciones', () => ({
    ...(flip() ? { factura: named('facturas') } : { factura_compra: named('facturas_compra') }),
    vencimiento: pick([1, 2]),
    fecha: date(),
    importe: number(),
    ...maybe({ movimiento: named('movimientos_tesoreria') }),
  }));
  return records;
});
