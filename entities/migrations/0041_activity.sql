-- What assistants called, and how often each key and connection called what. A call's first change says how many there were: those
-- of the version before, which says nothing, count one by one.
create sequence assistant_calls_id_seq as bigint start 1000000001;
create table assistant_calls (
  account_id bigint not null,
  id bigint not null default nextval('assistant_calls_id_seq'),
  actor text not null,
  operation text not null,
  request_id text not null,
  answered_rows int null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id)
);
create index assistant_calls_by_actor on assistant_calls (account_id, actor, created_at, id);
create index assistant_calls_by_moment on assistant_calls (account_id, created_at, id, answered_rows);
alter table assistant_calls enable row level security;
alter table assistant_calls force row level security;
create policy company on assistant_calls using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);

create table call_counts (
  account_id bigint not null,
  actor text not null,
  day date not null,
  operation text not null,
  status int not null,
  calls bigint not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, actor, day, operation, status)
);
alter table call_counts enable row level security;
alter table call_counts force row level security;
create policy company on call_counts using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);

alter table journal_entries add column changes int null default 1;
