// Registers of invoices that the tax agency rejected, made anew. DOC-02
import { sql } from 'kysely';
import type { RegisterState, RegisterType } from '../entities/values.ts';
import type { Database, Db } from '../platform/database.ts';
import { ApiError } from '../platform/errors.ts';
import type { DocumentContent } from './content.ts';
import { appendRegisters, type RegisterMaker } from './registers.ts';
import { altaOf, anulacionOf } from './verifactu/record.ts';

export interface Corrected {
  number: string;
  type: RegisterType;
}

interface WrongRow extends Corrected {
  invoice_id: number;
  state: RegisterState;
  /** Whether the agency has taken an alta of the invoice. */
  known: boolean;
  legal_name: string;
  tax_id: string | null;
  name: string | null;
  client_tax_id: string | null;
  country: string | null;
}

/**
 * Makes another register for each whose last one was rejected, or with `withErrors` accepted with errors: of what the invoice says, and
 * what the company and its client are called today. An invoice each transaction; `problem`: what the agency would refuse again.
 */
export async function correctRegisters(
  { database, ...maker }: RegisterMaker & { database: Database },
  { accountId, number, withErrors }: { accountId: number; number: string | undefined; withErrors: boolean },
): Promise<{ made: Corrected[]; refused: (Corrected & { problem: string })[] }> {
  const states: RegisterState[] = withErrors ? ['rejected', 'accepted_with_errors'] : ['rejected'];
  const wrong = await database.transaction(accountId, {}, (db) => wrongRegisters(db, accountId, { number, states }));
  const made: Corrected[] = [];
  const refused: (Corrected & { problem: string })[] = [];
  for (const { number, type, invoice_id } of wrong) {
    try {
      const isMade = await database.transaction(accountId, { write: true }, async (db) => {
        // Whoever issues or corrects waits.
        await sql`select c.mode from register_chains c where c.account_id = ${accountId} order by c.mode for no key update`.execute(
          db,
        );
        const [row] = await wrongRegisters(db, accountId, { states, invoiceId: invoice_id });
        if (!row) return false;
        const written = await appendRegisters(db, accountId, maker, [
          {
            invoiceId: invoice_id,
            type,
            make: (content, making) => {
              const today = namedToday(content, row);
              const { known, state } = row;
              if (type === 'anulacion')
                return anulacionOf(today, making, { rechazoPrevio: state === 'rejected', sinRegistroPrevio: !known });
              const rechazoPrevio = state !== 'rejected' ? undefined : known ? 'S' : 'X';
              return altaOf(today, making, { subsanacion: true, ...(rechazoPrevio && { rechazoPrevio }) });
            },
          },
        ]);
        await Promise.all(written);
        return written.length > 0;
      });
      if (isMade) made.push({ number, type });
    } catch (error) {
      if (!(error instanceof ApiError && error.kind === 'badInput')) throw error;
      refused.push({ number, type, problem: error.message });
    }
  }
  return { made, refused };
}

/** The last registers of invoices that are in one of these states, of the company's mode, oldest first. */
async function wrongRegisters(
  db: Db,
  accountId: number,
  { number, states, invoiceId }: { number?: string | undefined; states: readonly RegisterState[]; invoiceId?: number },
): Promise<WrongRow[]> {
  const { rows } = await sql<WrongRow>`
    select r.invoice_id, r.number, r.type, w.state,
      exists (select from invoice_registers e join register_answers v on v.account_id = ${accountId} and v.register_id = e.id
        where e.account_id = ${accountId} and e.invoice_id = r.invoice_id and e.mode = r.mode and e.type = 'alta'
          and v.state <> 'rejected') as known,
      coalesce(nullif(a.legal_name, ''), a.name) as legal_name, a.tax_id, c.legal_name as name, c.tax_id as client_tax_id, c.country
    from invoice_registers r
    join accounts a on a.id = ${accountId}
    join register_answers w on w.account_id = ${accountId} and w.register_id = r.id
    join invoices i on i.account_id = ${accountId} and i.id = r.invoice_id
    left join clients c on c.account_id = ${accountId} and c.id = i.client_id
    where r.account_id = ${accountId} and r.mode = a.verifactu_mode and w.state = any(${[...states]}::text[])
      and (${number ?? null}::text is null or r.number = ${number ?? null}::text)
      and (${invoiceId ?? null}::bigint is null or r.invoice_id = ${invoiceId ?? null}::bigint)
      and not exists (select from invoice_registers l where l.account_id = ${accountId} and l.invoice_id = r.invoice_id
        and l.mode = r.mode and l.n > r.n)
    order by r.n`.execute(db);
  return rows;
}

/** A client that named no tax id on the invoice stays unnamed: that decides the invoice's type. */
const namedToday = (content: DocumentContent, row: WrongRow): DocumentContent => ({
  ...content,
  emisor: { ...content.emisor, nombre_fiscal: row.legal_name, cif: row.tax_id ?? '' },
  cliente:
    row.name && content.cliente.cif !== ''
      ? {
          ...content.cliente,
          nombre_fiscal: row.name,
          cif: row.client_tax_id || content.cliente.cif,
          pais: row.country ?? '',
        }
      : content.cliente,
});
