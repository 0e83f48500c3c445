-- A company's VAT scheme: null is the general one.
alter table accounts add column vat_scheme text null;
alter table accounts add check (vat_scheme in ('caja'));
