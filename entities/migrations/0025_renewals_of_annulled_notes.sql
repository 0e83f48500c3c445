-- run: concurrently
-- A cycle whose delivery note was annulled may have another.
drop index concurrently if exists delivery_notes_issued_cycle;
create unique index concurrently delivery_notes_issued_cycle on delivery_notes (account_id, recurring_id, recurring_cycle) where recurring_cycle is not null and annulled_at is null;
drop index concurrently if exists delivery_notes_recurring_cycle;
