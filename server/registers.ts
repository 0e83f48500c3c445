// Sends companies' registers of invoices to the tax agency, where a certificate is configured. A statement finds the companies that are
// due among all; of a company one process at a time sends, by a lease that ends by itself, and in order. DOC-02
import { sql } from 'kysely';
import { send } from '../documents/verifactu/client.ts';
import { type Answer, type AnswerLine, envelopeOf, MAX_RECORDS } from '../documents/verifactu/envelope.ts';
import type { RegisterMode, RegisterState, RegisterType } from '../entities/values.ts';
import type { Service } from '../platform/context.ts';
import type { RegisterSending } from '../platform/verifactu-settings.ts';
import { within } from './aborted.ts';

const POLL_EVERY_MS = 5000;
const TIMEOUT_MS = 60_000;
/** Longer than a sending takes. A company whose process died is sent for again after this. */
const LEASE = { minutes: 5 };
/** How soon a company's new registers are sent, until the agency says otherwise. */
const FIRST_WAIT_SECONDS = 60;
/** After sendings without an answer in a row: at least hourly, as the agency asks. Orden HAC/1177/2024, article 16 */
const RETRY_AFTER_MINUTES = [1, 2, 5, 15, 30, 60];
/** Registers that are sent later than this are late, which the sending says. */
const LATE_AFTER = { hours: 1 };
/** Companies that a process sends for at a time. */
const AT_ONCE = 8;

/** What a sender works with. */
export interface SenderService extends Pick<Service, 'database' | 'verifactu' | 'clock' | 'log'> {
  /** Authorities beside the known ones, as PEM. */
  ca?: string;
}

interface ChainRow {
  mode: RegisterMode;
  answered: number;
  tried: number;
  failures: number;
  name: string;
}

interface RegisterRow {
  id: number;
  n: number;
  type: RegisterType;
  issuer: string;
  number: string;
  day: string;
  made_at: string;
  xml: string;
}

/** Sends until `stop`; resolves once what is under way has been answered. Without a certificate it does nothing. */
export async function followRegisters(service: SenderService, stop: AbortSignal): Promise<void> {
  const { sending } = service.verifactu ?? {};
  if (!sending) return;
  let isFailing = false;
  while (!stop.aborted) {
    try {
      await sendRegisters(service, sending, stop);
      isFailing = false;
    } catch (error) {
      if (!isFailing && !stop.aborted) service.log.warn({ err: error }, 'companies with registers could not be found');
      isFailing = true;
    }
    await within(POLL_EVERY_MS, stop);
  }
}

/** Sends for the companies that are due now. */
export async function sendRegisters(
  service: SenderService,
  sending: RegisterSending,
  stop?: AbortSignal,
): Promise<void> {
  const { database, clock, log } = service;
  for (let found = AT_ONCE; found === AT_ONCE && !stop?.aborted; ) {
    const now = clock.now();
    const { rows } = await sql<{ company: number }>`
      update register_queue set look_at = ${now.add(LEASE).toString()} where company in (
        select company from register_queue where look_at <= ${now.toString()}
        order by look_at limit ${AT_ONCE} for update skip locked)
      returning company`.execute(database.service);
    found = rows.length;
    await Promise.all(
      rows.map(async ({ company }) => {
        let seconds = FIRST_WAIT_SECONDS;
        try {
          seconds = await sendFor(service, sending, company);
        } catch (error) {
          log.error({ err: error, company }, 'registers of invoices could not be sent');
        }
        await sql`update register_queue set look_at = ${clock.now().add({ seconds }).toString()}
          where company = ${company}`.execute(database.service);
      }),
    );
  }
}

/** Sends what is pending of a company, a thousand registers at most of each chain. Answers in how many seconds to look again. */
async function sendFor(service: SenderService, sending: RegisterSending, accountId: number): Promise<number> {
  const chains = await service.database.transaction(accountId, {}, async (db) => {
    const { rows } = await sql<ChainRow>`
      select c.mode, c.answered, c.tried, c.failures, coalesce(nullif(a.legal_name, ''), a.name) as name
      from register_chains c join accounts a on a.id = ${accountId}
      where c.account_id = ${accountId} and c.n > c.answered order by c.mode`.execute(db);
    return rows;
  });
  const waits: number[] = [];
  for (const chain of chains) waits.push(await sendChain(service, sending, accountId, chain));
  return waits.length > 0 ? Math.max(...waits) : FIRST_WAIT_SECONDS;
}

async function sendChain(
  service: SenderService,
  { urls, certificate }: RegisterSending,
  accountId: number,
  chain: ChainRow,
): Promise<number> {
  const { database, clock, log, ca } = service;
  const { mode } = chain;
  const now = clock.now();
  const pending = await database.transaction(accountId, { write: true }, async (db) => {
    const { rows } = await sql<RegisterRow>`
      select r.id, r.n, r.type, r.issuer, r.number, r.day, r.made_at, r.xml from invoice_registers r
      where r.account_id = ${accountId} and r.mode = ${mode} and r.n > ${chain.answered}
      order by r.n limit ${MAX_RECORDS}`.execute(db);
    // An envelope is of one issuer.
    const end = rows.findIndex(({ issuer }) => issuer !== rows[0]?.issuer);
    const some = end === -1 ? rows : rows.slice(0, end);
    // Noted before: of what was sent and not answered, a duplicate is the same register.
    await sql`update register_chains set tried = greatest(tried, ${some.at(-1)?.n ?? 0}), sent_at = ${now.toString()},
      version = version + 1, updated_at = ${now.toString()}
      where account_id = ${accountId} and mode = ${mode}`.execute(db);
    return some;
  });
  const [first] = pending;
  if (!first) return FIRST_WAIT_SECONDS;
  const isAgain = chain.tried > chain.answered;
  const isLate = Temporal.Instant.compare(Temporal.Instant.from(first.made_at).add(LATE_AFTER), now) < 0;
  const heading = { nombre: chain.name, nif: first.issuer, incidencia: isAgain || isLate };
  try {
    const answer = await send(envelopeOf(heading, pending), {
      url: urls[mode],
      certificate,
      timeoutMs: TIMEOUT_MS,
      ...(ca ? { ca } : {}),
    });
    if ('fallo' in answer) throw new Error(`${answer.fallo.codigo}: ${answer.fallo.descripcion}`);
    const told = statesOf(pending, answer.respuesta, chain.tried);
    const last = told.at(-1)?.register;
    if (!last) throw new Error('the answer names none of the registers that were sent');
    await database.transaction(accountId, { write: true }, async (db) => {
      await sql`insert into register_answers (account_id, register_id, state, code, description, csv)
        select ${accountId}, r.* from jsonb_to_recordset(${JSON.stringify(
          told.map(({ register, ...rest }) => ({ register_id: register.id, ...rest, csv: answer.respuesta.csv })),
        )}::jsonb) as r (register_id bigint, state text, code int, description text, csv text)
        on conflict (account_id, register_id) do nothing
        returning register_id`.execute(db);
      await sql`update register_chains set answered = greatest(answered, ${last.n}), failures = 0, problem = null,
        version = version + 1, updated_at = ${clock.now().toString()}
        where account_id = ${accountId} and mode = ${mode}`.execute(db);
    });
    const rejected = told.filter(({ state }) => state === 'rejected').length;
    const line = { company: accountId, mode, sent: told.length, rejected };
    log[rejected > 0 ? 'warn' : 'info'](line, 'registers of invoices were sent');
    // A full envelope need not wait.
    return pending.length === MAX_RECORDS ? 0 : answer.respuesta.espera;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const failures = chain.failures + 1;
    await database.transaction(accountId, { write: true }, (db) =>
      sql`update register_chains set failures = ${failures}, problem = ${problem.slice(0, 1000)}, version = version + 1,
        updated_at = ${clock.now().toString()}
        where account_id = ${accountId} and mode = ${mode}`.execute(db),
    );
    log.warn({ company: accountId, mode, pending: pending.length, failures, problem }, 'registers were not answered');
    return 60 * (RETRY_AFTER_MINUTES[failures - 1] ?? RETRY_AFTER_MINUTES.at(-1) ?? 60);
  }
}

interface Told {
  register: RegisterRow;
  state: RegisterState;
  code: number | null;
  description: string | null;
}

/** What the answer says of the registers, in their order, up to the first of which it says nothing. `tried`: those up to it were sent before. */
function statesOf(registers: readonly RegisterRow[], { lineas }: Answer, tried: number): Told[] {
  const lines = Map.groupBy(lineas, ({ tipo, emisor, numero, fecha }) => keyOf(tipo, emisor, numero, fecha));
  const told: Told[] = [];
  for (const register of registers) {
    const { type, issuer, number, day, n } = register;
    const line = lines.get(keyOf(type, issuer, number, day))?.shift();
    if (!line) break;
    told.push({ register, ...stateOf(line, n <= tried) });
  }
  return told;
}

const keyOf = (...parts: readonly string[]) => JSON.stringify(parts);

/** `wasSent`: an answer may have been lost, so that a duplicate is this register. */
function stateOf({ estado, error, duplicado }: AnswerLine, wasSent: boolean): Omit<Told, 'register'> {
  const of = (state: RegisterState, why = error) => ({
    state,
    code: why?.codigo ?? null,
    description: why?.descripcion ?? null,
  });
  if (estado === 'Correcto') return of('accepted');
  if (estado === 'AceptadoConErrores') return of('accepted_with_errors');
  if (!duplicado || !wasSent) return of('rejected');
  return duplicado.estado === 'AceptadaConErrores' ? of('accepted_with_errors', duplicado.error) : of('accepted', null);
}
