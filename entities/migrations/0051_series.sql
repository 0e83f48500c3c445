-- What a company's numbers of each kind of document begin with before the year: null is the usual letter.
alter table accounts add column delivery_note_series text null;
alter table accounts add column invoice_series text null;
alter table accounts add column rectification_series text null;
alter table accounts add column estimate_series text null;
alter table accounts add check (delivery_note_series ~ '^[A-Z0-9/-]{0,9}[A-Z/-]$');
alter table accounts add check (invoice_series ~ '^[A-Z0-9/-]{0,9}[A-Z/-]$');
alter table accounts add check (rectification_series ~ '^[A-Z0-9/-]{0,9}[A-Z/-]$');
alter table accounts add check (estimate_series ~ '^[A-Z0-9/-]{0,9}[A-Z/-]$');
