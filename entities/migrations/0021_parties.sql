-- run: in batches
-- Documents that were issued before this show their client as it is now. `$1` is how far each of the three tables is filled.
with estimate_batch as (
  select id, client_id from estimates
  where account_id = $2::bigint and id > split_part(coalesce($1, '0 0 0'), ' ', 1)::bigint
  order by id limit 500
), note_batch as (
  select id, client_id from delivery_notes
  where account_id = $2::bigint and id > split_part(coalesce($1, '0 0 0'), ' ', 2)::bigint
  order by id limit 500
), invoice_batch as (
  select id, client_id from invoices
  where account_id = $2::bigint and id > split_part(coalesce($1, '0 0 0'), ' ', 3)::bigint
  order by id limit 500
), parties as (
  select c.id, jsonb_build_object('legal_name', c.legal_name, 'tax_id', c.tax_id, 'email', c.email, 'address', c.address,
    'postal_code', c.postal_code, 'city', c.city, 'province', c.province, 'country', c.country) as party
  from clients c
  where c.account_id = $2::bigint and c.id in (
    select client_id from estimate_batch union select client_id from note_batch union select client_id from invoice_batch)
), estimates_filled as (
  update estimates d set party = p.party from estimate_batch b join parties p on p.id = b.client_id
  where d.account_id = $2::bigint and d.id = b.id and d.party is null
), delivery_notes_filled as (
  update delivery_notes d set party = p.party from note_batch b join parties p on p.id = b.client_id
  where d.account_id = $2::bigint and d.id = b.id and d.party is null
), invoices_filled as (
  update invoices d set party = p.party from invoice_batch b join parties p on p.id = b.client_id
  where d.account_id = $2::bigint and d.id = b.id and d.party is null
)
select case when coalesce(e.last, n.last, i.last) is not null then concat_ws(' ',
    coalesce(e.last::text, split_part(coalesce($1, '0 0 0'), ' ', 1)),
    coalesce(n.last::text, split_part(coalesce($1, '0 0 0'), ' ', 2)),
    coalesce(i.last::text, split_part(coalesce($1, '0 0 0'), ' ', 3))) end as ended
from (select max(id) as last from estimate_batch) e, (select max(id) as last from note_batch) n,
  (select max(id) as last from invoice_batch) i;
