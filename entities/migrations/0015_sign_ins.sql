-- Who tried to sign in, from where, and what came of it. The person may be gone: a version that knows nothing of this table
-- deletes people without looking here, so nothing refers to them.
create sequence sign_ins_id_seq as bigint start 1000000001;

create table sign_ins (
  id bigint not null default nextval('sign_ins_id_seq'),
  user_id bigint null,
  address text not null,
  outcome text not null,
  known_browser boolean not null,
  request_id text not null,
  created_at timestamptz not null,
  primary key (id)
);
alter table sign_ins add constraint sign_ins_outcome_check check (outcome in ('signed in', 'refused', 'limited'));
create index sign_ins_by_user on sign_ins (user_id, created_at);
create index sign_ins_by_time on sign_ins (created_at);
