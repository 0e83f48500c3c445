-- Why stock moved, and the invoice or the purchase delivery note that moved it; 0029_stock_movements_by_source looks at the rows there are.
alter table stock_movements add column reason text null, add column invoice_id bigint null, add column purchase_delivery_note_id bigint null;
alter table stock_movements add constraint stock_movements_invoice_id_fk foreign key (account_id, invoice_id) references invoices (account_id, id) not valid;
alter table stock_movements add constraint stock_movements_purchase_delivery_note_id_fk foreign key (account_id, purchase_delivery_note_id) references purchase_delivery_notes (account_id, id) not valid;
