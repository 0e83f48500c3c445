// Registers of invoices for the tax agency, made in the transaction that issues or annuls an invoice, chained and stored as they are sent.
// DOC-02
import { sql } from 'kysely';
import { REGISTER_MODES, type RegisterMode, type RegisterType } from '../entities/values.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Db } from '../platform/database.ts';
import { badInput, unavailable } from '../platform/errors.ts';
import type { Sealing } from '../platform/seals.ts';
import type { VerifactuSettings } from '../platform/verifactu-settings.ts';
import type { DocumentContent } from './content.ts';
import { lastSaying } from './sealed-content.ts';
import { qrAddress } from './verifactu/qr.ts';
import {
  type Alta,
  type Anulacion,
  altaOf,
  anulacionOf,
  type Link,
  type Making,
  type Outcome,
} from './verifactu/record.ts';
import { type Read, verify } from './verifactu/verify.ts';
import { readXml, XmlError } from './xml-reader.ts';

/** What registers are made with. */
export interface RegisterMaker {
  clock: Clock;
  /** Registers can't be made without. */
  verifactu: Pick<VerifactuSettings, 'producer'> | undefined;
}

/** A company's chain in its mode, locked: a company for which VeriFactu is off has none. */
interface Chain {
  mode: RegisterMode;
  time_zone: string;
  installation: string;
  shares_people: boolean;
  n: number;
}

interface LastRegister {
  issuer: string;
  number: string;
  day: string;
  hash: string;
  made_at: string;
}

/** What is known of an invoice's registers. */
export interface Known {
  /** Whether the agency refused its last register. */
  rejected: boolean;
}

/** An invoice that a register is to be of. */
export interface Registered {
  invoiceId: number;
  type: RegisterType;
  /** Makes it of what was sealed. */
  make(content: DocumentContent, making: Making, known: Known): Outcome<Alta | Anulacion>;
}

/**
 * Makes the registers of invoices that were sealed just before, for a company with VeriFactu on: to be called once their seals were sent,
 * before the commit. 400 where the agency would refuse one, 503 without the operator's settings. The statements that write are answered
 * unawaited: they are to be part of the commit.
 */
export async function registerInvoices(
  db: Db,
  accountId: number,
  maker: RegisterMaker,
  sealings: readonly Sealing[],
): Promise<Promise<unknown>[]> {
  const wanted = sealings.flatMap(({ table, id, action }): Registered[] => {
    if (table !== 'invoices') return [];
    if (action === 'issue')
      return [{ invoiceId: id, type: 'alta', make: (content, making) => altaOf(content, making) }];
    if (action !== 'annul') return [];
    return [
      {
        invoiceId: id,
        type: 'anulacion',
        make: (content, making, { rejected }) => anulacionOf(content, making, { sinRegistroPrevio: rejected }),
      },
    ];
  });
  return wanted.length > 0 ? appendRegisters(db, accountId, maker, wanted) : [];
}

/** The same of invoices that were sealed before. */
export async function appendRegisters(
  db: Db,
  accountId: number,
  { clock, verifactu }: RegisterMaker,
  wanted: readonly Registered[],
): Promise<Promise<unknown>[]> {
  const { rows: chains } = await sql<Chain>`
    select c.mode, c.installation, c.shares_people, c.n, a.time_zone
    from register_chains c join accounts a on a.id = c.account_id and a.verifactu_mode = c.mode
    where c.account_id = ${accountId} and a.id = ${accountId} for no key update of c`.execute(db);
  const [chain] = chains;
  if (!chain) return [];
  if (!verifactu) throw unavailable(new Error('VERIFACTU_PRODUCER_NAME and the settings beside it are not set'));
  const { mode, installation, shares_people: multipleCompanies } = chain;
  const ids = wanted.map(({ invoiceId }) => invoiceId);
  // Later statements, since they see what was committed while the first one waited.
  const [{ rows: last }, { rows: contents }] = await Promise.all([
    sql<LastRegister>`select r.issuer, r.number, r.day, r.hash, r.made_at from invoice_registers r
      where r.account_id = ${accountId} and r.mode = ${mode} order by r.n desc limit 1`.execute(db),
    sql<{ id: number; content: string; registered: boolean; rejected: boolean }>`
      select i.id, ${lastSaying(accountId, 'invoices', sql`i.id`, 'content')} as content, r.id is not null as registered,
        exists (select from register_answers w
          where w.account_id = ${accountId} and w.register_id = r.id and w.state = 'rejected') as rejected
      from invoices i
      left join lateral (select r.id from invoice_registers r
        where r.account_id = ${accountId} and r.invoice_id = i.id and r.mode = ${mode} order by r.n desc limit 1) r on true
      where i.account_id = ${accountId} and i.id = any(${ids}::bigint[])`.execute(db),
  ]);
  const [before] = last;
  // As the register has it, in whole seconds.
  const now = clock.now().round({ smallestUnit: 'second', roundingMode: 'floor' });
  const instant = before ? later(now, Temporal.Instant.from(before.made_at)) : now;
  let previous: Link | null = before
    ? { emisor: before.issuer, numero: before.number, fecha: before.day, huella: before.hash }
    : null;
  const made = wanted.flatMap(({ invoiceId, type, make }) => {
    const found = contents.find(({ id }) => id === invoiceId);
    if (!found) throw new Error('An invoice was not sealed');
    // The agency knows nothing of an invoice from before VeriFactu was on.
    if (type === 'anulacion' && !found.registered) return [];
    const content: DocumentContent = JSON.parse(found.content);
    const system = { ...verifactu.producer, installation, multipleCompanies };
    const outcome = make(content, { previous, system, instant, timeZone: chain.time_zone }, found);
    if ('problems' in outcome) throw badInput(outcome.problems);
    const { record } = outcome;
    previous = record;
    return [{ invoiceId, record }];
  });
  if (made.length === 0) return [];
  return [
    sql`insert into invoice_registers (account_id, mode, n, invoice_id, type, made_at, issuer, number, day, previous, hash, xml, qr)
      select ${accountId}, ${mode}, r.* from jsonb_to_recordset(${JSON.stringify(
        made.map(({ invoiceId, record }, index) => ({
          n: chain.n + index + 1,
          invoice_id: invoiceId,
          type: record.tipo,
          made_at: instant.toString(),
          issuer: record.emisor,
          number: record.numero,
          day: record.fecha,
          previous: record.huellaAnterior || null,
          hash: record.huella,
          xml: record.xml,
          qr: record.tipo === 'alta' ? qrAddress(record, mode) : null,
        })),
      )}::jsonb) as r (n bigint, invoice_id bigint, type text, made_at timestamptz, issuer text, number text, day text,
        previous text, hash text, xml text, qr text)
      returning id`.execute(db),
    sql`update register_chains set n = n + ${made.length}, version = version + 1, updated_at = ${instant.toString()}
      where account_id = ${accountId} and mode = ${mode}`.execute(db),
  ];
}

const later = (one: Temporal.Instant, other: Temporal.Instant) =>
  Temporal.Instant.compare(one, other) >= 0 ? one : other;

const AT_ONCE = 500;

interface StoredRegister {
  mode: RegisterMode;
  n: number;
  invoice_id: number;
  type: RegisterType;
  hash: string;
  xml: string;
}

/** The registers of a company, each chain from its first on, as they were made. `read` gives the transaction of each of its pages. */
async function* registersOf(
  read: <T>(page: (db: Db) => Promise<T>) => Promise<T>,
  accountId: number,
): AsyncGenerator<StoredRegister> {
  for (const mode of REGISTER_MODES) {
    for (let after = 0; ; ) {
      const { rows } = await read((db) =>
        sql<StoredRegister>`
          select r.mode, r.n, r.invoice_id, r.type, r.hash, r.xml from invoice_registers r
          where r.account_id = ${accountId} and r.mode = ${mode} and r.n > ${after}
          order by r.n limit ${AT_ONCE}`.execute(db),
      );
      yield* rows;
      const last = rows.at(-1);
      if (!last || rows.length < AT_ONCE) break;
      after = last.n;
    }
  }
}

export type RegisterFormat = 'ndjson' | 'xml';

/** The lines of an export of registers, as verify.ts reads it, and how many it has had so far. */
export function exportOf(database: Database, accountId: number, format: RegisterFormat) {
  let registers = 0;
  async function* lines() {
    if (format === 'xml') yield '<?xml version="1.0" encoding="UTF-8"?>\n<registros>';
    for await (const { xml } of registersOf((page) => database.transaction(accountId, {}, page), accountId)) {
      registers++;
      yield format === 'xml' ? xml : JSON.stringify({ registro: xml });
    }
    if (format === 'xml') yield '</registros>';
  }
  return { lines: lines(), count: () => registers };
}

/** The invoices whose registers are not as they were made, and whether a chain has lost its end. */
export async function brokenRegisters(
  db: Db,
  accountId: number,
): Promise<{ registers: number; broken: ReadonlySet<number>; endIsLost: boolean }> {
  const { rows: chains } = await sql<{ mode: RegisterMode; n: number }>`
    select c.mode, c.n from register_chains c where c.account_id = ${accountId}`.execute(db);
  const lengths = new Map(chains.map(({ mode, n }) => [mode, n]));
  const broken = new Set<number>();
  const invoices: number[] = [];
  async function* records(): AsyncGenerator<Read> {
    for await (const { mode, n, invoice_id, hash, xml } of registersOf((page) => page(db), accountId)) {
      invoices.push(invoice_id);
      const found = readRegister(xml);
      if (found instanceof XmlError || found.textOf('Huella') !== hash) broken.add(invoice_id);
      if (lengths.get(mode) === n) lengths.delete(mode);
      yield found;
    }
  }
  const { registros, fallos } = await verify(records());
  for (const { registro } of fallos) broken.add(invoices[registro - 1] ?? 0);
  for (const id of await otherwiseSaid(db, accountId)) broken.add(id);
  return { registers: registros, broken, endIsLost: [...lengths.values()].some((n) => n > 0) };
}

function readRegister(xml: string): Read {
  try {
    return readXml(xml);
  } catch (error) {
    if (error instanceof XmlError) return error;
    throw error;
  }
}

/** Invoices that were sealed with another number or total than their register has. */
async function otherwiseSaid(db: Db, accountId: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select distinct r.invoice_id as id from invoice_registers r
    cross join lateral (select ${lastSaying(accountId, 'invoices', sql`r.invoice_id`, 'content')}::jsonb as content) s
    where r.account_id = ${accountId} and (s.content is null or r.number <> s.content ->> 'numero'
      or r.type = 'alta' and position('<sf:ImporteTotal>' || (s.content ->> 'total') || '</sf:ImporteTotal>' in r.xml) = 0)
    order by 1`.execute(db);
  return rows.map(({ id }) => id);
}
