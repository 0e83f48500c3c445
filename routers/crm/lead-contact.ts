// Who a lead is: the contact with its e-mail or mobile, or a new one. Shared by every operation that takes a lead.
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { emailKey, phoneKey, searchable } from '../../platform/text.ts';

export interface Lead {
  email?: string;
  mobile?: string;
  name?: string;
  company?: string;
}

/**
 * Two parts of one writable statement, to stand in its WITH: `found` and `created`, of which exactly one has a row (`id`).
 * An e-mail match wins over a mobile match, the oldest of several (OPP-03); without an e-mail nothing matches. Needs
 * `lockLead` sent before it.
 */
export function contactOfLead(accountId: number, lead: Lead): RawBuilder<unknown> {
  const email = emailKey(lead.email);
  const phone = phoneKey(lead.mobile);
  const company = lead.company ?? '';
  const address = lead.email ?? '';
  const name = lead.name || company || address.split('@')[0] || '';
  const mobile = lead.mobile ?? '';
  return sql`
    found as (
      select id from contacts
      where account_id = ${accountId} and (email_key = ${email} or phone_key = ${email && phone})
      order by (email_key = ${email}) desc nulls last, id limit 1),
    created as (
      insert into contacts (account_id, name, company, email, mobile, email_key, phone_key, search)
      select ${accountId}::bigint, ${name}, ${company}, ${address}, ${mobile}, ${email}, ${phone},
        ${searchable(name, company, address, mobile)}
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
