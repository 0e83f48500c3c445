-- What was issued is annulled, never deleted: when, by whom and why.
alter table delivery_notes
  add column annulled_at timestamptz null,
  add column annulled_by text null,
  add column annulment_reason text null;

alter table invoices
  add column annulled_at timestamptz null,
  add column annulled_by text null,
  add column annulment_reason text null;

alter table purchase_delivery_notes
  add column annulled_at timestamptz null,
  add column annulled_by text null,
  add column annulment_reason text null;

alter table purchase_invoices
  add column annulled_at timestamptz null,
  add column annulled_by text null,
  add column annulment_reason text null;
