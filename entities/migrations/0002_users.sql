-- People, their companies, their sessions.
create sequence users_id_seq as bigint start 1000000001;

create table users (
  id bigint not null default nextval('users_id_seq'),
  email text not null,
  email_key text not null,
  name text not null,
  password_hash text not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (id)
);
alter table users add constraint users_email_key_unique unique (email_key);

create table memberships (
  account_id bigint not null,
  user_id bigint not null,
  admin boolean not null default false,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, user_id)
);
create index memberships_by_user on memberships (user_id, account_id);

create table user_sessions (
  token_hash bytea not null,
  user_id bigint not null,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (token_hash)
);
create index user_sessions_by_user on user_sessions (user_id);
create index user_sessions_by_start on user_sessions (created_at);

create table sign_in_attempts (
  subject text not null,
  starts_at timestamptz not null,
  attempts int not null,
  updated_at timestamptz not null default now(),
  primary key (subject)
);

alter table memberships add constraint memberships_account_id_fk foreign key (account_id) references accounts (id);
alter table user_sessions add constraint user_sessions_user_id_fk foreign key (user_id) references users (id);

alter table memberships enable row level security;
alter table memberships force row level security;
create policy company on memberships using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
create policy own on memberships for select using (user_id = nullif(current_setting('app.user_id', true), '')::bigint);

-- What 0001_initial granted by default holds for the company table alone.
do $$
begin
  if exists (select from pg_roles where rolname = 'albaran_app') then
    revoke all on users, user_sessions, sign_in_attempts from albaran_app;
    revoke all on sequence users_id_seq from albaran_app;
  end if;
end
$$;
