-- What was sent to a receiver and what it answered, without bodies.
create sequence webhook_deliveries_id_seq as bigint start 1000000001;
create table webhook_deliveries (
  account_id bigint not null,
  id bigint not null default nextval('webhook_deliveries_id_seq'),
  webhook_id bigint not null,
  message text not null,
  first_n bigint not null,
  last_n bigint not null,
  attempt int not null,
  status int not null,
  milliseconds int not null,
  error text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id)
);
create index webhook_deliveries_by_webhook on webhook_deliveries (account_id, webhook_id, id);
alter table webhook_deliveries add constraint webhook_deliveries_webhook_id_fk foreign key (account_id, webhook_id) references webhooks (account_id, id);
alter table webhook_deliveries enable row level security;
alter table webhook_deliveries force row level security;
create policy company on webhook_deliveries using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
