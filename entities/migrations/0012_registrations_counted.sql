-- Applications that registered in the current hour, by network and all together: counted by the statement that asks, so that
-- those who come at once are counted too. OAU-02
create table oauth_registrations (
  network text not null,
  starts_at timestamptz not null,
  registered int not null,
  primary key (network)
);

-- What 0001_initial granted by default holds for the companies' tables alone.
do $$
begin
  if exists (select from pg_roles where rolname = 'albaran_app') then
    revoke all on oauth_registrations from albaran_app;
  end if;
end
$$;
