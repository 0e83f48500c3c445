-- The applications of the connector, what people authorised them to do, and their codes and tokens.
create sequence grants_id_seq as bigint start 1000000001;

create table oauth_clients (
  id text not null,
  name text not null,
  redirect_uris text[] not null,
  registered_from text not null,
  registered_at timestamptz not null,
  authorized_at timestamptz null,
  primary key (id)
);
create index oauth_clients_by_address on oauth_clients (registered_from, registered_at);
create index oauth_clients_unused on oauth_clients (registered_at) where authorized_at is null;

create table grants (
  account_id bigint not null,
  id bigint not null default nextval('grants_id_seq'),
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  user_id bigint not null,
  client_id text not null,
  client_name text not null,
  redirect_host text not null,
  can_write boolean not null,
  resource text not null,
  expires_at timestamptz not null,
  last_used_at timestamptz null,
  revoked_at timestamptz null,
  primary key (account_id, id)
);
create index grants_by_user on grants (account_id, user_id, id);
create index grants_by_end on grants (account_id, expires_at);

create table oauth_tokens (
  account_id bigint not null,
  hash bytea not null,
  kind text not null,
  grant_id bigint not null,
  can_write boolean not null,
  redirect_uri text null,
  code_challenge text null,
  expires_at timestamptz not null,
  used_at timestamptz null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, hash)
);
create index oauth_tokens_by_grant on oauth_tokens (account_id, grant_id);
create index oauth_tokens_by_end on oauth_tokens (account_id, expires_at);
alter table oauth_tokens add constraint oauth_tokens_kind_check check (kind in ('code', 'access', 'refresh'));

alter table grants add constraint grants_account_id_fk foreign key (account_id) references accounts (id);
alter table oauth_tokens add constraint oauth_tokens_grant_id_fk foreign key (account_id, grant_id) references grants (account_id, id);

alter table grants enable row level security;
alter table grants force row level security;
create policy company on grants using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table oauth_tokens enable row level security;
alter table oauth_tokens force row level security;
create policy company on oauth_tokens using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);

-- What 0001_initial granted by default holds for the companies' tables alone.
do $$
begin
  if exists (select from pg_roles where rolname = 'albaran_app') then
    revoke all on oauth_clients from albaran_app;
  end if;
end
$$;
