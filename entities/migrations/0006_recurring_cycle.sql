-- Which cycle of its recurring service a delivery note is, so that the database itself lets each be issued once; and what
-- the service does by the clock, so that one process does it.
alter table delivery_notes add column recurring_cycle date null;
create unique index delivery_notes_recurring_cycle on delivery_notes (account_id, recurring_id, recurring_cycle) where recurring_cycle is not null;

create table scheduled_runs (
  name text not null,
  slot timestamptz null,
  finished_at timestamptz null,
  primary key (name)
);
insert into scheduled_runs (name) values ('renewals');

-- What 0001_initial granted by default holds for the companies' tables alone.
do $$
begin
  if exists (select from pg_roles where rolname = 'albaran_app') then
    revoke all on scheduled_runs from albaran_app;
  end if;
end
$$;
