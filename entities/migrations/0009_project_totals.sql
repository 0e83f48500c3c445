-- The economics of each project since ever, which lists of projects would otherwise sum for every answer. Exact: costs are
-- those of an hour times seconds.
create table project_totals (
  account_id bigint not null,
  project_id bigint not null,
  sales numeric not null default 0,
  purchases numeric not null default 0,
  seconds numeric not null default 0,
  staff numeric not null default 0,
  machines numeric not null default 0,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, project_id)
);

-- The owner is bound by row-level security too, and this reads the rows of every company.
alter table accounts no force row level security;
alter table projects no force row level security;
alter table tasks no force row level security;
alter table time_entries no force row level security;
alter table contracts no force row level security;
alter table machines no force row level security;
alter table delivery_note_lines no force row level security;
alter table invoice_lines no force row level security;
alter table purchase_delivery_note_lines no force row level security;
alter table purchase_invoice_lines no force row level security;
insert into project_totals (account_id, project_id, sales, purchases, seconds, staff, machines)
with worked as (
  select t.account_id, coalesce(t.project_id, k.project_id) as project_id, t.employee_id, t.machine_id,
    (t.entry_at at time zone a.time_zone)::date as day,
    greatest(extract(epoch from t.exit_at - t.entry_at) - t.break_minutes * 60, 0) as seconds
  from time_entries t join accounts a on a.id = t.account_id
  left join tasks k on k.account_id = t.account_id and k.id = t.task_id
  where t.exit_at is not null and coalesce(t.project_id, k.project_id) is not null
), per_day as (
  select account_id, project_id, employee_id, day, sum(seconds) as seconds from worked
  group by account_id, project_id, employee_id, day
), facts as (
  select account_id, id as project_id, 0::numeric as sales, 0::numeric as purchases, 0::numeric as seconds,
    0::numeric as staff, 0::numeric as machines
  from projects
  union all
  select account_id, project_id, amount, 0, 0, 0, 0 from delivery_note_lines where project_id is not null
  union all
  select account_id, project_id, amount, 0, 0, 0, 0 from invoice_lines where project_id is not null and not from_delivery_note
  union all
  select account_id, project_id, 0, amount, 0, 0, 0 from purchase_delivery_note_lines where project_id is not null
  union all
  select account_id, project_id, 0, amount, 0, 0, 0 from purchase_invoice_lines
  where project_id is not null and not from_delivery_note
  union all
  select w.account_id, w.project_id, 0, 0, w.seconds, w.seconds * coalesce(c.hourly, 0), 0
  from per_day w left join lateral (
    select c.hourly_cost + c.hourly_pension + c.hourly_social_security as hourly from contracts c
    where c.account_id = w.account_id and c.employee_id = w.employee_id and c.start_date <= w.day
      and (c.end_date is null or c.end_date >= w.day)
    order by c.start_date desc, c.id desc limit 1) c on true
  union all
  select w.account_id, w.project_id, 0, 0, 0, 0, w.seconds * m.hourly_cost
  from worked w join machines m on m.account_id = w.account_id and m.id = w.machine_id
)
select account_id, project_id, sum(sales), sum(purchases), sum(seconds), sum(staff), sum(machines)
from facts group by account_id, project_id;
-- While its check of the rows that are there sees the projects of every company.
alter table project_totals add constraint project_totals_project_id_fk foreign key (account_id, project_id) references projects (account_id, id);
alter table accounts force row level security;
alter table projects force row level security;
alter table tasks force row level security;
alter table time_entries force row level security;
alter table contracts force row level security;
alter table machines force row level security;
alter table delivery_note_lines force row level security;
alter table invoice_lines force row level security;
alter table purchase_delivery_note_lines force row level security;
alter table purchase_invoice_lines force row level security;

alter table project_totals enable row level security;
alter table project_totals force row level security;
create policy company on project_totals using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
