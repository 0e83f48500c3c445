-- When the processes look at a company with webhooks next. It belongs to the service: one statement finds who is due among all companies.
create table webhook_queue (
  company bigint not null,
  look_at timestamptz not null,
  primary key (company)
);
create index webhook_queue_by_look on webhook_queue (look_at);
