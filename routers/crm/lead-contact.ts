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
 * Two parts of one writable statement, to stand in its WITH: `found` and `created`, of which exactly one has a row (`id`).
 * An e-mail match wins over a mobile match, the oldest of several; with neither e-mail nor mobile nothing matches. Without a
 * name the new contact, `newId`, takes the company's, the e-mail's local part or the mobile. OPP-03, W-12. Needs `lockLead` sent before it.
 */
export function contactOfLead(accountId: number, lead: Lead, newId: number): RawBuilder<unknown> {
  const emails = emailKeys(lead.email);
  const phone = phoneKey(lead.mobile);
  const company = lead.company ?? '';
  const address = lead.email ?? '';
  const mobile = lead.mobile ?? '';
  const name = lead.name || company || address.split('@')[0] || mobile;
  const { search, email_key, phone_key } = derivedOf('contacts', { name, company, email: address, mobile });
  return sql`
    found as (
      select id from contacts
      where account_id = ${accountId} and (email_key = any(${emails}::text[]) or phone_key = ${phone})
      order by coalesce(email_key = any(${emails}::text[]), false) desc, id limit 1),
    created as (
      insert into contacts (account_id, id, name, company, email, mobile, email_key, phone_key, search)
      select ${accountId}::bigint, ${newId}::bigint, ${name}, ${company}, ${address}, ${mobile}, ${email_key}, ${phone_key}, ${search}
      where not exists (select from found)
      returning id)`;
}

/** Until the end of the transaction, no other call resolves a lead with this e-mail or mobile. */
export const lockLead = (db: Db, accountId: number, lead: Lead) =>
  sql`select pg_advisory_xact_lock(key) from (
      select distinct hashtextextended(k, ${accountId}) as key
      from unnest(${[emailKey(lead.email), phoneKey(lead.mobile)]}::text[]) as k where k is not null order by 1) keys`.execute(
    db,
  );
