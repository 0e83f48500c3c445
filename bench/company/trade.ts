// Opportunities, recurring services, sale and purchase documents, and treasury movements.
import { around, day, each, FIRST_DAY, type Sizes } from './sizes.ts';

const FUNNELS = 5;
const STAGES = 6;
const REASONS = 10;
const SUBTYPES = 10;
const OUTCOMES = ['abierta', 'ganado', 'perdido'] as const;
const PERIODS = ['semanal', 'quincenal', 'mensual', 'bimensual', 'trimestral', 'semestral', 'anual'] as const;
const ACCOUNTS = 3;
const MOVEMENTS_A_DAY = 3;
/** Percent, for every line. */
const VAT = 21;
const DUE_AFTER_DAYS = 30;
/** Before the company's last day. */
const LAST_INVOICED_DAYS = 75;

export function* opportunities({ opportunities, contacts, days }: Sizes) {
  yield* each(FUNNELS, (n) => ({
    coleccion: 'funnels',
    ref: `u${n}`,
    id: n,
    titulo: `Embudo ${n}`,
    etapas: [...each(STAGES, (s) => ({ ref: `u${n}s${s}`, id: n * 100 + s, titulo: `Etapa ${s}` }))],
  }));
  yield* each(5, (n) => ({ coleccion: 'canales', ref: `v${n}`, titulo: `Canal ${n}` }));
  yield* each(REASONS, (n) => ({ coleccion: 'motivos_perdida', ref: `x${n}`, motivo: `Motivo ${n}` }));
  yield* each(contacts, (n) => ({
    coleccion: 'contactos',
    ref: `l${n}`,
    nombre: `Persona ${n}`,
    empresa: `Empresa ${n}`,
    email: `lead${n}@example.com`,
    movil: `611${String(n).padStart(6, '0')}`,
  }));
  yield* each(opportunities, (n) => {
    const funnel = (n % FUNNELS) + 1;
    const estado = around(OUTCOMES, n);
    const opened = (n * 31) % (days - 60);
    return {
      coleccion: 'oportunidades',
      ref: `o${n}`,
      titulo: `Oportunidad ${n}`,
      funnel: `u${funnel}`,
      etapa: `u${funnel}s${(n % STAGES) + 1}`,
      canal: `v${(n % 5) + 1}`,
      contacto: `l${(n % contacts) + 1}`,
      estado,
      motivo: estado === 'perdido' && n % 10 !== 0 ? `x${(n % REASONS) + 1}` : null,
      valor: (n * 7) % 20_000,
      fecha_creacion: `${day(opened)} 10:00:00`,
      fecha_cierre: estado === 'abierta' ? null : `${day(opened + (n % 60))} 12:00:00`,
    };
  });
}

export function* recurrings({ recurrings, clients, products, days }: Sizes) {
  yield* each(recurrings, (n) => {
    const created = (n * 29) % (days - 200);
    return {
      coleccion: 'recurrentes',
      ref: `r${n}`,
      descripcion: `Mantenimiento ${n}`,
      cliente: `c${(n % clients) + 1}`,
      periodicidad: around(PERIODS, n),
      fecha_creacion: day(created),
      fecha_inicio: day(created),
      fecha_caducidad: n % 5 === 0 ? day(created + 2_000) : null,
      // Nearly all renewals are issued, as in a running company.
      ultima_facturacion: n % 20 === 0 ? null : day(days - LAST_INVOICED_DAYS + (n % 30)),
      lineas: [1, 2].map((line) => ({
        ref: `${line}`,
        descripcion: `Cuota ${line}`,
        cantidad: line,
        importe_unitario: 10 + (n % 90),
        articulo: `a${((n * line) % products) + 1}`,
      })),
    };
  });
}

interface Document {
  n: number;
  fecha: string;
  proyecto: string;
  fromNote: boolean;
  lineas: ReturnType<typeof lineOf>[];
  /** With VAT. */
  total: number;
}

/** Of ten documents six are delivery notes and four invoices; half of the invoices are of delivery notes. */
function* documents(
  { documents, days, projects, products }: Sizes,
  side: 'sale' | 'purchase',
  kind: 'note' | 'invoice',
) {
  for (let n = 1; n <= documents; n++) {
    if ((n % 2 === 0) !== (side === 'sale') || n % 10 < 6 !== (kind === 'note')) continue;
    const lineas = [1, 2, 3].map((line) => lineOf(n, line, products));
    const cents = lineas.reduce((sum, { cents }) => sum + cents, 0);
    yield {
      n,
      fecha: day(n % days),
      proyecto: `j${(Math.floor((n * 104_729) / 2) % projects) + 1}`,
      fromNote: n % 20 >= 10,
      lineas,
      total: (cents + Math.round((cents * VAT) / 100)) / 100,
    } satisfies Document;
  }
}

function lineOf(n: number, line: number, products: number) {
  const cantidad = ((n * line) % 9) + 1;
  const price = ((n * 31) % 20_000) + 50;
  const values = { cantidad, importe_unitario: price / 100, iva: VAT, articulo: `a${((n * line) % products) + 1}` };
  return { cents: cantidad * price, values: { ref: `${line}`, descripcion: `Linea ${line} de D${n}`, ...values } };
}

const linesOf = ({ lineas }: Document) => lineas.map(({ values }) => values);
const invoiceLinesOf = ({ lineas, fromNote }: Document) =>
  lineas.map(({ values }) => ({ ...values, proviene_albaranes: fromNote }));
const dueOn = ({ n }: Document, days: number) => day((n % days) + DUE_AFTER_DAYS);

/** One in twenty is unpaid. */
const paidOf = ({ n, total }: Document) => (Math.floor(n / 10) % 20 === 0 ? 0 : total);

export function* sales(sizes: Sizes) {
  const clientOf = ({ n }: Document) => `c${(n % sizes.clients) + 1}`;
  for (const note of documents(sizes, 'sale', 'note')) {
    yield {
      coleccion: 'albaranes',
      ref: `D${note.n}`,
      numero: `D${note.n}`,
      fecha: note.fecha,
      concepto: `Documento ${note.n}`,
      cliente: clientOf(note),
      proyecto: note.proyecto,
      recurrente: note.n % 30 === 0 ? `r${(note.n % sizes.recurrings) + 1}` : null,
      lineas: linesOf(note),
    };
  }
  for (const invoice of documents(sizes, 'sale', 'invoice')) {
    const { n, fecha, proyecto, total } = invoice;
    yield {
      coleccion: 'facturas',
      ref: `D${n}`,
      numero: `D${n}`,
      fecha,
      concepto: `Documento ${n}`,
      cliente: clientOf(invoice),
      proyecto,
      lineas: invoiceLinesOf(invoice),
      vencimientos: [{ ref: '1', fecha: dueOn(invoice, sizes.days), importe: total, cobrado: paidOf(invoice) }],
    };
  }
}

export function* purchases(sizes: Sizes) {
  const common = (document: Document) => ({
    ref: `D${document.n}`,
    numero: `D${document.n}`,
    fecha: document.fecha,
    proveedor: `p${(document.n % sizes.suppliers) + 1}`,
    proyecto: document.proyecto,
  });
  for (const note of documents(sizes, 'purchase', 'note')) {
    yield { coleccion: 'albaranes_compra', ...common(note), lineas: linesOf(note) };
  }
  yield* each(SUBTYPES, (n) => ({ coleccion: 'subtipos_gasto', ref: `g${n}`, subtipo: `g${n}`, titulo: `Gasto ${n}` }));
  for (const invoice of documents(sizes, 'purchase', 'invoice')) {
    yield {
      coleccion: 'facturas_compra',
      ...common(invoice),
      subtipo: invoice.n % 7 === 0 ? null : `g${(invoice.n % SUBTYPES) + 1}`,
      lineas: invoiceLinesOf(invoice),
      pagado: paidOf(invoice),
      vencimientos: [{ ref: '1', fecha: dueOn(invoice, sizes.days), importe: invoice.total, pagado: paidOf(invoice) }],
    };
  }
}

export function* treasury({ days }: Sizes) {
  yield* each(ACCOUNTS, (n) => ({
    coleccion: 'cuentas_tesoreria',
    ref: `q${n}`,
    titulo: `Banco ${n}`,
    tipo: 'banco',
    saldo_inicial: 100_000,
  }));
  const until = Temporal.PlainDate.from('2026-06-30').since(FIRST_DAY).days;
  yield* each(Math.min(until, days) * MOVEMENTS_A_DAY, (n) => ({
    coleccion: 'movimientos_tesoreria',
    ref: `y${n}`,
    cuenta: `q${(n % ACCOUNTS) + 1}`,
    fecha: day(Math.floor(n / MOVEMENTS_A_DAY)),
    concepto: `Movimiento ${n}`,
    importe: (n % 2 === 0 ? 1 : -1) * ((n * 17) % 900),
  }));
}
