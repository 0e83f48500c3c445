-- What lists would otherwise count for every answer: products, and time entries by the local day of entry.
create table product_counts (
  account_id bigint not null,
  products int not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id)
);

create table time_entry_days (
  account_id bigint not null,
  day date not null,
  entries int not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, day)
);

-- The owner is bound by row-level security too, and this reads the rows of every company.
alter table accounts no force row level security;
alter table products no force row level security;
alter table time_entries no force row level security;
insert into product_counts (account_id, products) select account_id, count(*) from products group by account_id;
insert into time_entry_days (account_id, day, entries)
select t.account_id, (t.entry_at at time zone a.time_zone)::date as day, count(*)
from time_entries t join accounts a on a.id = t.account_id group by t.account_id, day;
alter table accounts force row level security;
alter table products force row level security;
alter table time_entries force row level security;

alter table product_counts enable row level security;
alter table product_counts force row level security;
create policy company on product_counts using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table time_entry_days enable row level security;
alter table time_entry_days force row level security;
create policy company on time_entry_days using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
