-- The PostgreSQL image runs this once, when compose.yaml's volume is new, as the superuser in the database albaran. The service's
-- login owns the database but is no superuser. The superuser and the backup login have no password: they can only connect from
-- inside the container.
\getenv password POSTGRES_PASSWORD
create role albaran login password :'password';
create role albaran_app nologin;
grant albaran_app to albaran;
select format('alter database %I owner to albaran', current_database()) \gexec
create role albaran_backup login bypassrls in role pg_read_all_data;
alter function pg_catalog.textlike(text, text) leakproof;
alter role current_user password null;
