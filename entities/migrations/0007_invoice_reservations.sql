-- Lines of invoices that reserve an article on their days are looked up by the article, as those of delivery notes are.
create index invoice_lines_by_reservation on invoice_lines (account_id, product_id, start_date) where start_date is not null;
