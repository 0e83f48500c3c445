-- Estimates are created here, answered, and converted into delivery notes and invoices, whose lines remember the line that they are of.
-- Foreign keys are validated by 0023_converted_lines, without a lock that calls wait for.
alter table estimates
  add column state text not null default 'pending',
  add column valid_until date null,
  add column remarks text not null default '',
  add column promo_code text null,
  add column project_id bigint null;
alter table estimates add constraint estimates_state_check check (state in ('pending', 'accepted', 'rejected')) not valid;
alter table estimates add constraint estimates_project_id_fk foreign key (account_id, project_id) references projects (account_id, id) not valid;
alter table delivery_note_lines add column estimate_line_id bigint null;
alter table delivery_note_lines add constraint delivery_note_lines_estimate_line_id_fk foreign key (account_id, estimate_line_id) references estimate_lines (account_id, id) not valid;
alter table invoice_lines add column estimate_line_id bigint null;
alter table invoice_lines add constraint invoice_lines_estimate_line_id_fk foreign key (account_id, estimate_line_id) references estimate_lines (account_id, id) not valid;
