-- Documents show their client as it was when they were issued. 0021_parties fills those that are there.
alter table estimates add column party jsonb null;
alter table delivery_notes add column party jsonb null;
alter table invoices add column party jsonb null;
