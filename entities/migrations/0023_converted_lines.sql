-- run: concurrently
-- What was converted of a line of an estimate is the sum of the lines that name it.
drop index concurrently if exists delivery_note_lines_by_estimate_line;
create index concurrently delivery_note_lines_by_estimate_line on delivery_note_lines (account_id, estimate_line_id) where estimate_line_id is not null;
drop index concurrently if exists invoice_lines_by_estimate_line;
create index concurrently invoice_lines_by_estimate_line on invoice_lines (account_id, estimate_line_id) where estimate_line_id is not null;
alter table estimates validate constraint estimates_state_check;
alter table estimates validate constraint estimates_project_id_fk;
alter table delivery_note_lines validate constraint delivery_note_lines_estimate_line_id_fk;
alter table invoice_lines validate constraint invoice_lines_estimate_line_id_fk;
