-- run: in batches
-- New projects are numbered by a counter of each year, which goes on from the numbers that there are, such as 26-001.
with batch as (
  select id, number from projects
  where account_id = $2::bigint and id > coalesce($1, '0')::bigint
  order by id limit 1000
), raised as (
  insert into document_counters (account_id, document, year, last_number)
  select $2::bigint, 'project', 2000 + left(number, 2)::int, max(substring(number from 4)::int) from batch
  where number ~ '^\d{2}-\d{3,9}$' group by left(number, 2)
  on conflict (account_id, document, year) do update set last_number = excluded.last_number
  where document_counters.last_number < excluded.last_number
)
select max(id)::text as ended from batch;
