// Who a lead is: the contact with its e-mail or mobile, or a new one. Shared by every operation that takes a lead.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { derivedOf } from '../../platform/derived.ts';
import { emailKey, emailKeys, phoneKey } from '../../platform/text.ts';

/** What is known of somebody who is interested: `""` is not known. */
export interface Lead {
  email?: string | undefined;
  mobile?: string | undefined;
  name?: string | undefined;
  company?: string | undefined;
}

/** Whether anything is known of whom a lead comes from. W-12 */
export const isSomebody = ({ email, mobile, name, company }: Lead) => Boolean(email || mobile || name || company);

/**
 * The contact that the lead is, as a subquery (`id`): an e-mail match wins over a mobile match, the oldest of several; with neither
 * e-mail nor mobile nothing matches. OPP-03
 */
function matching(accountId: number, lead: Lead): RawBuilder<unknown> {
  const emails = sql`email_key = any(${emailKeys(lead.email)}::text[])`;
  return sql`(select id from contacts
    where account_id = ${accountId} and (${emails} or phone_key = ${phoneKey(lead.mobile)})
    order by coalesce(${emails}, false) desc, id limit 1)`;
}

/**
 * Creates the lead's contact, `newId`, unless it exists. Without a name it takes the company's, the e-mail's local part or the
 * mobile. W-12. Needs `lockLead` sent before it. Returns the contact for the FROM of a later statement: one row, `contact.id`.
 */
export function contactOfLead(db: Db, accountId: number, lead: Lead, newId: number) {
  const company = lead.company ?? '';
  const address = lead.email ?? '';
  const mobile = lead.mobile ?? '';
  const name = lead.name || company || address.split('@')[0] || mobile;
  const { search, email_key, phone_key } = derivedOf('contacts', { name, company, email: address, mobile });
  const known = matching(accountId, lead);
  const written = sql`
    insert into contacts (account_id, id, name, company, email, mobile, email_key, phone_key, search)
    select ${accountId}::bigint, ${newId}::bigint, ${name}, ${company}, ${address}, ${mobile}, ${email_key}, ${phone_key}, ${search}
    where ${known} is null
    returning id`.execute(db);
  return { written, contact: sql`(select coalesce(min(k.id), ${newId}::bigint) as id from ${known} k) contact` };
}

/** Until the end of the transaction, no other call resolves a lead with this e-mail or mobile. */
export const lockLead = (db: Db, accountId: number, lead: Lead) =>
  sql`select pg_advisory_xact_lock(key) from (
      select distinct hashtextextended(k, ${accountId}) as key
      from unnest(${[emailKey(lead.email), phoneKey(lead.mobile)]}::text[]) as k where k is not null order by 1) keys`.execute(
    db,
  );
