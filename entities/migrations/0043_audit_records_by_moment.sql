-- run: concurrently
drop index concurrently if exists audit_records_by_moment;
create index concurrently audit_records_by_moment on audit_records (account_id, created_at, id);
