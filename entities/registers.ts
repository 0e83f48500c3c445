// Registers of invoices for the tax agency: their chains, and what became of them. documents/registers.ts adds to them. DOC-02
import { defineEntity, p } from '@mikro-orm/postgresql';
import { bigint, indexOn, instant, isolated, stamped } from './columns.ts';
import { REGISTER_MODES, REGISTER_STATES, REGISTER_TYPES } from './values.ts';

/** A company's chain of registers in one mode. */
export const RegisterChain = defineEntity({
  name: 'RegisterChain',
  tableName: 'register_chains',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    mode: p.enum(REGISTER_MODES).primary(),
    /** The number of the installation: no other chain has or gets it. */
    installation: p.text(),
    /** Whether a person of the company works with another one too. */
    sharesPeople: p.boolean().default(false),
    /** How many registers it has. */
    n: bigint().defaultRaw('0'),
    /** Up to which of them the agency has answered. */
    answered: bigint().defaultRaw('0'),
    /** Up to which of them were sent, whether or not an answer came. */
    tried: bigint().defaultRaw('0'),
    /** Sendings without an answer, in a row, and what was wrong with the last. */
    failures: p.integer().default(0),
    problem: p.text().nullable(),
    /** When something was last sent. */
    sentAt: instant().nullable(),
    ...stamped(),
  },
});

/** One register, as it is sent. It never changes. */
export const InvoiceRegister = defineEntity({
  name: 'InvoiceRegister',
  tableName: 'invoice_registers',
  ...isolated,
  uniques: [{ name: 'invoice_registers_n', properties: ['accountId', 'mode', 'n'] }],
  indexes: [indexOn('invoice_registers', 'invoice', 'invoice_id, n')],
  properties: {
    accountId: bigint().primary(),
    id: bigint().primary().defaultRaw(`nextval('invoice_registers_id_seq')`),
    mode: p.enum(REGISTER_MODES),
    n: bigint(),
    invoiceId: bigint(),
    type: p.enum(REGISTER_TYPES),
    madeAt: instant(),
    /** The invoice as registers name it: the issuer's NIF, its number, its day as `dd-mm-yyyy`. */
    issuer: p.text(),
    number: p.text(),
    day: p.text(),
    /** The hash of the register before; null in the first. */
    previous: p.text().nullable(),
    hash: p.text(),
    xml: p.text(),
    /** The address that the code on the invoice holds; null in an annulment's. */
    qr: p.text().nullable(),
    ...stamped(),
  },
});

/** What the agency answered about a register. One without an answer is pending. */
export const RegisterAnswer = defineEntity({
  name: 'RegisterAnswer',
  tableName: 'register_answers',
  ...isolated,
  properties: {
    accountId: bigint().primary(),
    registerId: bigint().primary(),
    state: p.enum(REGISTER_STATES),
    code: p.integer().nullable(),
    description: p.text().nullable(),
    /** The code by which the agency knows the sending. */
    csv: p.text().nullable(),
    ...stamped(),
  },
});

/** When a process looks at a company with registers next. The tenant role has no rights here. */
export const RegisterQueue = defineEntity({
  name: 'RegisterQueue',
  tableName: 'register_queue',
  properties: {
    company: bigint().primary().autoincrement(false),
    lookAt: instant(),
  },
  indexes: [
    { name: 'register_queue_by_look', expression: 'create index register_queue_by_look on register_queue (look_at)' },
  ],
});
