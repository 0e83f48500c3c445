-- Lines of what is sold have an equivalence surcharge, or say why they have no VAT; invoices have what is withheld of them, and what kind of
-- rectification they are. 0049_taxes_of_sale_lines_checked looks at the rows there are.
alter table estimate_lines add column surcharge numeric not null default 0, add column exemption text null;
alter table estimate_lines add constraint estimate_lines_exemption_check check (exemption in ('E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'N1', 'N2', 'S2')) not valid;
alter table recurring_lines add column surcharge numeric not null default 0, add column exemption text null;
alter table recurring_lines add constraint recurring_lines_exemption_check check (exemption in ('E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'N1', 'N2', 'S2')) not valid;
alter table delivery_note_lines add column surcharge numeric not null default 0, add column exemption text null;
alter table delivery_note_lines add constraint delivery_note_lines_exemption_check check (exemption in ('E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'N1', 'N2', 'S2')) not valid;
alter table invoice_lines add column surcharge numeric not null default 0, add column exemption text null;
alter table invoice_lines add constraint invoice_lines_exemption_check check (exemption in ('E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'N1', 'N2', 'S2')) not valid;
alter table invoices add column rectification_type text null, add column withholding numeric null;
alter table invoices add constraint invoices_rectification_type_check check (rectification_type in ('R1', 'R2', 'R3', 'R4', 'R5')) not valid;
