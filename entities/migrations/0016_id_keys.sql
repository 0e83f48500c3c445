-- Which keys record ids were sealed with, by fingerprint: a process that lacks one of them does not start.
create table id_keys (
  fingerprint text not null,
  used_since timestamptz not null default now(),
  primary key (fingerprint)
);
