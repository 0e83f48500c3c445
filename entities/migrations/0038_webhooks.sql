-- Where a company has its journal sent to, and how far each receiver is. What signs is sealed with the id keys.
create sequence webhooks_id_seq as bigint start 1000000001;
create table webhooks (
  account_id bigint not null,
  id bigint not null default nextval('webhooks_id_seq'),
  url text not null,
  types text[] null,
  description text null,
  active boolean not null default true,
  secret text not null,
  earlier_secret text null,
  earlier_secret_until timestamptz null,
  delivered_up_to bigint not null,
  batch_end bigint null,
  failures int not null default 0,
  next_attempt_at timestamptz null,
  lease text null,
  leased_until timestamptz null,
  deleted_at timestamptz null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id)
);
alter table webhooks enable row level security;
alter table webhooks force row level security;
create policy company on webhooks using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
