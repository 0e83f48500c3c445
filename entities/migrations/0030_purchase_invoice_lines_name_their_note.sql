-- The purchase delivery note that a line of an invoice came from; 0031_purchase_invoice_lines_by_note looks at the rows there are.
alter table purchase_invoice_lines add column purchase_delivery_note_id bigint null;
alter table purchase_invoice_lines add constraint purchase_invoice_lines_purchase_delivery_note_id_fk foreign key (account_id, purchase_delivery_note_id) references purchase_delivery_notes (account_id, id) not valid;
