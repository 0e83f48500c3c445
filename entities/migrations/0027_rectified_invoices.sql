-- run: concurrently
alter table invoices validate constraint invoices_rectified_invoice_id_fk;
drop index concurrently if exists invoices_by_rectified;
create index concurrently invoices_by_rectified on invoices (account_id, rectified_invoice_id) where rectified_invoice_id is not null;
