-- run: concurrently
alter table purchase_invoice_lines validate constraint purchase_invoice_lines_purchase_delivery_note_id_fk;
drop index concurrently if exists purchase_invoice_lines_by_note;
create index concurrently purchase_invoice_lines_by_note on purchase_invoice_lines (account_id, purchase_delivery_note_id) where purchase_delivery_note_id is not null;
