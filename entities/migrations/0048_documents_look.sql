-- A company's logo and colour on its documents. What is sealed names a picture by the SHA-256 of its bytes.
create table company_images (
  account_id bigint not null,
  sha256 text not null,
  media_type text not null,
  bytes bytea not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, sha256)
);
alter table company_images enable row level security;
alter table company_images force row level security;
create policy company on company_images using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table accounts add column logo text null;
alter table accounts add column color text null;
