// Estimates with attachments, recurring services, delivery notes and invoices.
import { z } from 'zod';
import { type PARTY_COLUMNS, partyOf, RECTIFICATION_TYPES } from '../../entities/values.ts';
import { inOrder } from '../checks.ts';
import { collection } from '../collection.ts';
import {
  blankableText,
  choice,
  date,
  type Field,
  type Fields,
  flag,
  freeText,
  instant,
  keptDates,
  optional,
  optionalDate,
  optionalDecimal,
  optionalInnerReference,
  optionalReference,
  optionalText,
  optionalWhole,
  optionalWholes,
  optionalWord,
  percentNumber,
  type Row,
  reference,
  refText,
  requiredText,
  text,
  unless,
  wholeNumber,
} from '../fields.ts';
import { annulment, annulmentSaysWhy, dueDates, lines, taxes } from './lines.ts';
import { clients } from './parties.ts';
import { projects } from './projects.ts';

const PARTY = {
  nombre_fiscal: 'legal_name',
  cif: 'tax_id',
  email: 'email',
  direccion: 'address',
  cp: 'postal_code',
  poblacion: 'city',
  provincia: 'province',
  pais: 'country',
} as const satisfies Record<string, (typeof PARTY_COLUMNS)[number]>;

const { nombre_fiscal, ...mayBeBlank } = PARTY;
const partySchema = z.strictObject({
  nombre_fiscal: requiredText(),
  ...Object.fromEntries(Object.keys(mayBeBlank).map((name) => [name, blankableText()])),
});

const clientNow = (row: string) =>
  `(select ${partyOf('c')} from clients c where c.account_id = $1 and c.id = ${row}.client_id)`;

/**
 * The client as it was when the document was issued, where it was otherwise than it is. A document that is there keeps what it has where
 * the file leaves it out, unless it is moved to another client. W-06
 */
const issuedParty: Field<Row | null> = {
  schema: optional(partySchema),
  columns: ['party'],
  otherwise: { party: clientNow('n') },
  follows: { party: `case when t.client_id = n.client_id then t.party else ${clientNow('n')} end` },
  select: { party: `nullif(t.party, ${clientNow('t')})` },
  write(value, row) {
    row.party = value && Object.fromEntries(Object.entries(PARTY).map(([name, column]) => [column, value[name] ?? '']));
  },
  read({ party }) {
    if (typeof party !== 'object' || party === null) return null;
    const kept = new Map<string, unknown>(Object.entries(party));
    return Object.fromEntries(Object.entries(PARTY).map(([name, column]) => [name, kept.get(column) || null]));
  },
};

export const estimates = collection(
  'presupuestos',
  'estimates',
  {
    numero: optionalText('number'),
    fecha: date('date'),
    concepto: optionalText('concept', ''),
    observaciones: freeText('remarks', ''),
    cliente: reference(clients, 'client_id'),
    contraparte: issuedParty,
    proyecto: optionalReference(projects, 'project_id'),
    promo_code: optionalText('promo_code'),
    estado: choice('state', { pendiente: 'pending', aceptado: 'accepted', rechazado: 'rejected' }, 'pendiente'),
    valido_hasta: optionalDate('valid_until'),
  },
  {
    children: { lineas: lines('estimate_lines', 'estimate_id', taxes) },
  },
);

/** The line of an estimate that a line was converted from. The estimate itself is not stored: it is the line's. W-04 */
const converted: Fields = {
  presupuesto: {
    schema: optional(refText()),
    columns: [],
    names: { collection: estimates },
    select: {
      estimate: `(select coalesce(e.ref, '@' || e.id) from estimate_lines l
        join estimates e on e.account_id = $1 and e.id = l.estimate_id where l.account_id = $1 and l.id = t.estimate_line_id)`,
    },
    write(value, _row, { record, wrong, idNamedBy }, name) {
      if (value === null) return;
      if (record.linea_presupuesto === null) wrong('linea_presupuesto', 'falta: va con presupuesto');
      else idNamedBy(name);
    },
    read: ({ estimate }) => estimate,
  },
  linea_presupuesto: optionalInnerReference(estimates, 'lineas', 'presupuesto', 'estimate_line_id'),
};

/** Maximum size of an attachment in bytes. FAIR-03 */
const LARGEST_CONTENT = 20 * 1024 ** 2;

/** Bytes as base64. JSON carries them to PostgreSQL as hexadecimal. */
const content: Field<string> = {
  schema: z
    .string()
    .refine((value) => Buffer.byteLength(value, 'base64') <= LARGEST_CONTENT, {
      error: `no puede pasar de ${LARGEST_CONTENT / 1024 ** 2} MB`,
      abort: true,
    })
    .refine((value) => Buffer.from(value, 'base64').toString('base64') === value, 'se esperaba base64 con su relleno'),
  columns: ['content'],
  write(value, row) {
    row.content = `\\x${Buffer.from(value, 'base64').toString('hex')}`;
  },
  read: ({ content: bytes }) => (Buffer.isBuffer(bytes) ? bytes.toString('base64') : ''),
};

export const attachments = collection(
  'adjuntos',
  'attachments',
  {
    presupuesto: reference(estimates, 'estimate_id'),
    nombre: text('name'),
    tipo_mime: text('mime_type'),
    fecha_subida: instant('uploaded_at'),
    contenido: content,
  },
  { pageSize: 4 },
);

const MONTHS = z
  .array(wholeNumber(1, 12))
  .min(1)
  .refine((months) => new Set(months).size === months.length, {
    error: 'hay meses repetidos',
  });

export const recurrings = collection(
  'recurrentes',
  'recurrings',
  {
    descripcion: text('description'),
    cliente: reference(clients, 'client_id'),
    periodicidad: choice('periodicity', {
      semanal: 'weekly',
      quincenal: 'fortnightly',
      mensual: 'monthly',
      bimensual: 'bimonthly',
      trimestral: 'quarterly',
      semestral: 'half-yearly',
      anual: 'yearly',
    }),
    fecha_creacion: date('created_on'),
    fecha_inicio: optionalDate('start_date'),
    fecha_caducidad: optionalDate('end_date'),
    ultima_facturacion: optionalDate('last_invoiced_on'),
    meses_activos: optionalWholes('active_months', MONTHS),
    dia_ancla: optionalWhole('anchor_day', wholeNumber(1, 31)),
    pendiente_desde: optionalDate('pending_from'),
    ciclos_saltados: keptDates('skipped_cycles'),
  },
  {
    children: { lineas: lines('recurring_lines', 'recurring_id', taxes) },
    entered: 'entered_on',
    check(record, wrong) {
      inOrder(record, 'fecha_inicio', 'fecha_caducidad', wrong);
      const { pendiente_desde, ultima_facturacion } = record;
      if (pendiente_desde !== null && (ultima_facturacion === null || pendiente_desde >= ultima_facturacion)) {
        wrong('pendiente_desde', 'se esperaba una fecha anterior a ultima_facturacion');
      }
    },
  },
);

export const deliveryNotes = collection(
  'albaranes',
  'delivery_notes',
  {
    numero: optionalText('number'),
    fecha: date('date'),
    concepto: optionalText('concept', ''),
    observaciones: freeText('remarks', ''),
    cliente: reference(clients, 'client_id'),
    contraparte: issuedParty,
    proyecto: optionalReference(projects, 'project_id'),
    recurrente: optionalReference(recurrings, 'recurring_id'),
    ciclo_recurrente: optionalDate('recurring_cycle'),
    promo_code: optionalText('promo_code'),
    revisado: flag('reviewed', true),
    ...annulment,
  },
  {
    children: { lineas: lines('delivery_note_lines', 'delivery_note_id', { ...taxes, ...converted }) },
    check(record, wrong) {
      const { recurrente, ciclo_recurrente } = record;
      if (ciclo_recurrente !== null && recurrente === null) wrong('ciclo_recurrente', 'necesita recurrente');
      annulmentSaysWhy(record, wrong);
    },
  },
);

export const invoices = collection(
  'facturas',
  'invoices',
  {
    numero: optionalText('number'),
    fecha: date('date'),
    concepto: optionalText('concept', ''),
    observaciones: freeText('remarks', ''),
    cliente: reference(clients, 'client_id'),
    contraparte: issuedParty,
    proyecto: optionalReference(projects, 'project_id'),
    promo_code: optionalText('promo_code'),
    ...annulment,
    rectifica: optionalReference({ name: 'facturas', table: 'invoices', children: {} }, 'rectified_invoice_id'),
    motivo_rectificacion: optionalText('rectification_reason'),
    tipo_rectificativa: unless(null, optionalWord('rectification_type', RECTIFICATION_TYPES)),
    retencion: unless(null, {
      ...optionalDecimal('withholding'),
      schema: optional(percentNumber()).transform((percent) => percent || null),
    }),
  },
  {
    check(record, wrong) {
      annulmentSaysWhy(record, wrong);
      if (record.tipo_rectificativa !== null && record.rectifica === null)
        wrong('tipo_rectificativa', 'necesita rectifica');
      if (record.rectifica === record.ref) wrong('rectifica', 'es ella misma');
    },
    children: {
      lineas: lines('invoice_lines', 'invoice_id', {
        ...taxes,
        proviene_albaranes: flag('from_delivery_note', false),
        albaran: optionalReference(deliveryNotes, 'delivery_note_id'),
        ...converted,
        linea_rectificada: optionalWhole('rectified_position', wholeNumber(1)),
        albaran_liberado: flag('note_released', false),
      }),
      vencimientos: dueDates('invoice_due_dates', 'invoice_id', 'invoice_lines', 'cobrado'),
    },
  },
);
