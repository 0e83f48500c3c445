-- Issued documents are sealed: the SHA-256 of what they say, chained a company and a kind of document.
create table seal_chains (
  account_id bigint not null,
  record_table text not null,
  n bigint not null default 0,
  hash text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, record_table)
);
alter table seal_chains enable row level security;
alter table seal_chains force row level security;
create policy company on seal_chains using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);

create table seals (
  account_id bigint not null,
  record_table text not null,
  n bigint not null,
  record_id bigint not null,
  action text not null,
  sealed_at timestamptz not null,
  actor text not null,
  door text not null,
  operation text not null,
  related_table text null,
  related_id bigint null,
  subject text null,
  content text null,
  content_hash text not null,
  previous text null,
  hash text not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, record_table, n)
);
create index seals_by_record on seals (account_id, record_table, record_id, n);
alter table seals enable row level security;
alter table seals force row level security;
create policy company on seals using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
-- What a company says of itself on its documents.
alter table accounts add column legal_name text null;
alter table accounts add column address text null;
alter table accounts add column postal_code text null;
alter table accounts add column city text null;
alter table accounts add column province text null;
alter table accounts add column country text null;
alter table accounts add column email text null;
alter table accounts add column iban text null;
