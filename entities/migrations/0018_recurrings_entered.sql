-- run: in batches
-- The day that each recurring service came into this service, by its company's calendar.
with batch as (
  select r.account_id, r.id, (r.created_at at time zone a.time_zone)::date as entered_on
  from recurrings r join accounts a on a.id = r.account_id
  where r.account_id = nullif(current_setting('app.account_id', true), '')::bigint and r.id > coalesce($1, '0')::bigint
  order by r.id limit 1000
), filled as (
  update recurrings r set entered_on = b.entered_on from batch b
  where r.account_id = b.account_id and r.id = b.id and r.entered_on <> b.entered_on
)
select max(id)::text as ended from batch;
