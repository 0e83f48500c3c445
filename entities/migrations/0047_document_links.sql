-- Links that show a document to whoever has them. Of a link's token the SHA-256 alone is stored.
create sequence document_links_id_seq as bigint start 1000000001;
create table document_links (
  account_id bigint not null,
  id bigint not null default nextval('document_links_id_seq'),
  record_table text not null,
  record_id bigint not null,
  hash bytea not null,
  expires_at timestamptz not null,
  revoked_at timestamptz null,
  opens int not null default 0,
  first_opened_at timestamptz null,
  last_opened_at timestamptz null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id)
);
create unique index document_links_hash on document_links (account_id, hash);
create index document_links_by_record on document_links (account_id, record_table, record_id, id);
alter table document_links enable row level security;
alter table document_links force row level security;
create policy company on document_links using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
