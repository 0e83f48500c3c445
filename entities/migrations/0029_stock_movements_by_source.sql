-- run: concurrently
alter table stock_movements validate constraint stock_movements_invoice_id_fk;
alter table stock_movements validate constraint stock_movements_purchase_delivery_note_id_fk;
drop index concurrently if exists stock_movements_by_invoice;
create index concurrently stock_movements_by_invoice on stock_movements (account_id, invoice_id) where invoice_id is not null;
drop index concurrently if exists stock_movements_by_purchase_delivery_note;
create index concurrently stock_movements_by_purchase_delivery_note on stock_movements (account_id, purchase_delivery_note_id) where purchase_delivery_note_id is not null;
