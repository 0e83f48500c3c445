-- When due dates were settled, and how much each time; what is paid of a due date stays its total.
create sequence settlements_id_seq as bigint start 1000000001;
create table settlements (
  account_id bigint not null,
  id bigint not null default nextval('settlements_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  invoice_id bigint null,
  purchase_invoice_id bigint null,
  position int not null,
  date date not null,
  amount numeric not null,
  treasury_movement_id bigint null,
  primary key (account_id, id)
);
create unique index settlements_ref on settlements (account_id, ref) where ref is not null;
create index settlements_by_invoice on settlements (account_id, invoice_id) where invoice_id is not null;
create index settlements_by_purchase_invoice on settlements (account_id, purchase_invoice_id) where purchase_invoice_id is not null;
alter table settlements add constraint settlements_invoice_id_fk foreign key (account_id, invoice_id) references invoices (account_id, id);
alter table settlements add constraint settlements_purchase_invoice_id_fk foreign key (account_id, purchase_invoice_id) references purchase_invoices (account_id, id);
alter table settlements add constraint settlements_treasury_movement_id_fk foreign key (account_id, treasury_movement_id) references treasury_movements (account_id, id);
alter table settlements enable row level security;
alter table settlements force row level security;
create policy company on settlements using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);

-- A rectifying invoice names the one that it rectifies, and each of its lines the place of the line there. A delivery note whose line in an
-- invoice is released is to be invoiced again. 0027_rectified_invoices looks at the rows there are.
alter table invoices add column rectified_invoice_id bigint null, add column rectification_reason text null;
alter table invoices add constraint invoices_rectified_invoice_id_fk foreign key (account_id, rectified_invoice_id) references invoices (account_id, id) not valid;
alter table invoice_lines add column rectified_position int null, add column note_released boolean not null default false;
