-- The journal: every change of a company's data has a number, 1, 2, 3, ... without gaps in the order of the commits.
create table journals (
  account_id bigint not null,
  epoch text not null,
  n bigint not null default 0,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id)
);
alter table journals enable row level security;
alter table journals force row level security;
create policy company on journals using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);

create table journal_entries (
  account_id bigint not null,
  n bigint not null,
  record_table text not null,
  record_id bigint not null,
  action text not null,
  operation text not null,
  actor text not null,
  door text not null,
  request_id text not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, n)
);
alter table journal_entries add constraint journal_entries_action_check check (action in ('create', 'modify', 'annul', 'delete'));
alter table journal_entries enable row level security;
alter table journal_entries force row level security;
create policy company on journal_entries using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
