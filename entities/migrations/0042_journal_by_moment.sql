-- run: concurrently
drop index concurrently if exists journal_entries_by_moment;
create index concurrently journal_entries_by_moment on journal_entries (account_id, created_at, n) where changes is not null;
