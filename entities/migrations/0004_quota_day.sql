-- How many calls each company made on each of its days, for its people to see.
create table quota_days (
  account_id bigint not null,
  day date not null,
  calls bigint not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, day)
);

alter table quota_days enable row level security;
alter table quota_days force row level security;
create policy company on quota_days using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
