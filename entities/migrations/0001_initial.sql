-- Tables, indexes, row-level security and the role that the server works under.
-- Every company table's key begins with account_id, and foreign keys carry it, so that the schema can be distributed by company.
-- Numbers are the whole service's, above any that a company brings along.
create sequence absences_id_seq as bigint start 1000000001;
create sequence accounts_id_seq as bigint start 1;
create sequence api_keys_id_seq as bigint start 1000000001;
create sequence attachments_id_seq as bigint start 1000000001;
create sequence audit_records_id_seq as bigint start 1000000001;
create sequence calendar_entries_id_seq as bigint start 1000000001;
create sequence channels_id_seq as bigint start 1000000001;
create sequence clients_id_seq as bigint start 1000000001;
create sequence contacts_id_seq as bigint start 1000000001;
create sequence contract_types_id_seq as bigint start 1000000001;
create sequence contracts_id_seq as bigint start 1000000001;
create sequence day_types_id_seq as bigint start 1000000001;
create sequence delivery_note_lines_id_seq as bigint start 1000000001;
create sequence delivery_notes_id_seq as bigint start 1000000001;
create sequence departments_id_seq as bigint start 1000000001;
create sequence employees_id_seq as bigint start 1000000001;
create sequence estimate_lines_id_seq as bigint start 1000000001;
create sequence estimates_id_seq as bigint start 1000000001;
create sequence expense_subtypes_id_seq as bigint start 1000000001;
create sequence funnel_stages_id_seq as bigint start 1000000001;
create sequence funnels_id_seq as bigint start 1000000001;
create sequence invoice_due_dates_id_seq as bigint start 1000000001;
create sequence invoice_lines_id_seq as bigint start 1000000001;
create sequence invoices_id_seq as bigint start 1000000001;
create sequence loss_reasons_id_seq as bigint start 1000000001;
create sequence machines_id_seq as bigint start 1000000001;
create sequence opportunities_id_seq as bigint start 1000000001;
create sequence price_lists_id_seq as bigint start 1000000001;
create sequence product_families_id_seq as bigint start 1000000001;
create sequence product_formats_id_seq as bigint start 1000000001;
create sequence product_variations_id_seq as bigint start 1000000001;
create sequence products_id_seq as bigint start 1000000001;
create sequence project_states_id_seq as bigint start 1000000001;
create sequence projects_id_seq as bigint start 1000000001;
create sequence purchase_delivery_note_lines_id_seq as bigint start 1000000001;
create sequence purchase_delivery_notes_id_seq as bigint start 1000000001;
create sequence purchase_invoice_due_dates_id_seq as bigint start 1000000001;
create sequence purchase_invoice_lines_id_seq as bigint start 1000000001;
create sequence purchase_invoices_id_seq as bigint start 1000000001;
create sequence recurring_lines_id_seq as bigint start 1000000001;
create sequence recurrings_id_seq as bigint start 1000000001;
create sequence shifts_id_seq as bigint start 1000000001;
create sequence stock_movements_id_seq as bigint start 1000000001;
create sequence suppliers_id_seq as bigint start 1000000001;
create sequence task_states_id_seq as bigint start 1000000001;
create sequence tasks_id_seq as bigint start 1000000001;
create sequence time_entries_id_seq as bigint start 1000000001;
create sequence treasury_accounts_id_seq as bigint start 1000000001;
create sequence treasury_movements_id_seq as bigint start 1000000001;

create table absences (
  account_id bigint not null,
  id bigint not null default nextval('absences_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  employee_id bigint not null,
  title text collate "es-x-icu" not null,
  day_type text not null,
  start_date date not null,
  end_date date not null,
  chargeable_percent numeric not null default 100,
  authorised boolean not null default false,
  rejected boolean not null default false,
  primary key (account_id, id)
);
create unique index absences_ref on absences (account_id, ref) where ref is not null;
create index absences_by_start on absences (account_id, start_date, end_date, id);
create index absences_by_employee on absences (account_id, employee_id, start_date, id);

create table accounts (
  id bigint not null default nextval('accounts_id_seq'),
  ref text null,
  slug text not null,
  name text not null,
  tax_id text null,
  time_zone text not null default 'Europe/Madrid',
  multi_format_stock boolean not null default false,
  quota_per_minute int null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (id)
);
alter table accounts add constraint accounts_slug_unique unique (slug);

create table api_keys (
  account_id bigint not null,
  id bigint not null default nextval('api_keys_id_seq'),
  key text not null,
  secret_hash bytea not null,
  name text not null,
  can_write boolean not null,
  expires_at timestamptz null,
  revoked_at timestamptz null,
  last_used_at timestamptz null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id)
);
alter table api_keys add constraint api_keys_key_unique unique (key);

create table attachments (
  account_id bigint not null,
  id bigint not null default nextval('attachments_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  estimate_id bigint not null,
  name text not null,
  mime_type text not null,
  uploaded_at timestamptz not null,
  content bytea not null,
  primary key (account_id, id)
);
create unique index attachments_ref on attachments (account_id, ref) where ref is not null;
create index attachments_by_estimate on attachments (account_id, estimate_id, uploaded_at, id);

create table audit_records (
  account_id bigint not null,
  id bigint not null default nextval('audit_records_id_seq'),
  actor text not null,
  door text not null,
  operation text not null,
  record_kind text not null,
  record_id bigint null,
  request_id text not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id)
);

create table calendar_entries (
  account_id bigint not null,
  id bigint not null default nextval('calendar_entries_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  title text collate "es-x-icu" not null,
  day_type text not null,
  start_date date not null,
  end_date date not null,
  primary key (account_id, id)
);
create unique index calendar_entries_ref on calendar_entries (account_id, ref) where ref is not null;
create index calendar_entries_by_start on calendar_entries (account_id, start_date, end_date, id);

create table channels (
  account_id bigint not null,
  id bigint not null default nextval('channels_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  title text collate "es-x-icu" not null,
  primary key (account_id, id)
);
create unique index channels_ref on channels (account_id, ref) where ref is not null;

create table clients (
  account_id bigint not null,
  id bigint not null default nextval('clients_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  legal_name text collate "es-x-icu" not null,
  trade_name text not null default '',
  tax_id text not null default '',
  tax_key text null,
  email text not null default '',
  phone text not null default '',
  mobile text not null default '',
  address text not null default '',
  postal_code text not null default '',
  city text not null default '',
  province text not null default '',
  country text not null default '',
  price_list int null,
  allows_email boolean null,
  allows_whatsapp boolean null,
  allows_sms boolean null,
  allows_images boolean null,
  search text not null,
  primary key (account_id, id)
);
create unique index clients_ref on clients (account_id, ref) where ref is not null;
create index clients_by_name on clients (account_id, legal_name, id);
create index clients_by_tax_key on clients (account_id, tax_key, id) where tax_key is not null;
create index clients_by_price_list on clients (account_id, price_list);

create table contacts (
  account_id bigint not null,
  id bigint not null default nextval('contacts_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  name text collate "es-x-icu" not null default '',
  company text not null default '',
  email text not null default '',
  mobile text not null default '',
  email_key text null,
  phone_key text null,
  client_id bigint null,
  search text not null,
  primary key (account_id, id)
);
create unique index contacts_ref on contacts (account_id, ref) where ref is not null;
create index contacts_by_email on contacts (account_id, email_key, id) where email_key is not null;
create index contacts_by_phone on contacts (account_id, phone_key, id) where phone_key is not null;
create index contacts_by_name on contacts (account_id, name, id);

create table contracts (
  account_id bigint not null,
  id bigint not null default nextval('contracts_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  employee_id bigint not null,
  contract_type_id bigint not null,
  department_id bigint null,
  start_date date not null,
  end_date date null,
  probation_end_date date null,
  minimum_daily_hours numeric not null default 0,
  shift_mode text not null default 'turno',
  shift_id bigint null,
  signed boolean not null default false,
  hourly_cost numeric not null default 0,
  hourly_pension numeric not null default 0,
  hourly_social_security numeric not null default 0,
  primary key (account_id, id)
);
create unique index contracts_ref on contracts (account_id, ref) where ref is not null;
create index contracts_by_employee on contracts (account_id, employee_id, start_date desc, id desc);
create index contracts_by_start on contracts (account_id, start_date desc, id);

create table contract_types (
  account_id bigint not null,
  id bigint not null default nextval('contract_types_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  title text collate "es-x-icu" not null,
  primary key (account_id, id)
);
create unique index contract_types_ref on contract_types (account_id, ref) where ref is not null;

create table day_types (
  account_id bigint not null,
  id bigint not null default nextval('day_types_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  code text not null,
  title text collate "es-x-icu" not null,
  primary key (account_id, id)
);
create unique index day_types_ref on day_types (account_id, ref) where ref is not null;
alter table day_types add constraint day_types_code unique (account_id, code);

create table delivery_notes (
  account_id bigint not null,
  id bigint not null default nextval('delivery_notes_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  number text null,
  date date not null,
  concept text not null default '',
  remarks text not null default '',
  client_id bigint not null,
  project_id bigint null,
  recurring_id bigint null,
  promo_code text null,
  reviewed boolean not null default true,
  primary key (account_id, id)
);
create unique index delivery_notes_ref on delivery_notes (account_id, ref) where ref is not null;
create unique index delivery_notes_number on delivery_notes (account_id, extract(year from date), number) where number is not null;
create index delivery_notes_by_date on delivery_notes (account_id, date desc, id desc);
create index delivery_notes_by_client on delivery_notes (account_id, client_id, date desc, id desc);
create index delivery_notes_by_project on delivery_notes (account_id, project_id, date) where project_id is not null;
create index delivery_notes_by_recurring on delivery_notes (account_id, recurring_id, date) where recurring_id is not null;

create table delivery_note_lines (
  account_id bigint not null,
  id bigint not null default nextval('delivery_note_lines_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  position int not null,
  description text not null,
  quantity numeric not null,
  unit_price numeric not null,
  discount numeric not null default 0,
  vat numeric not null default 21,
  amount numeric generated always as (round(quantity * unit_price * (1 - discount / 100), 2)) stored not null,
  product_id bigint null,
  variation_id bigint null,
  format_id bigint null,
  base_quantity numeric null,
  extended_description text null,
  start_date date null,
  end_date date null,
  project_id bigint null,
  delivery_note_id bigint not null,
  primary key (account_id, id)
);
create unique index delivery_note_lines_ref on delivery_note_lines (account_id, delivery_note_id, ref) where ref is not null;
create index delivery_note_lines_by_delivery_note on delivery_note_lines (account_id, delivery_note_id, position);
create index delivery_note_lines_by_project on delivery_note_lines (account_id, project_id) where project_id is not null;
create index delivery_note_lines_by_reservation on delivery_note_lines (account_id, product_id, start_date) where start_date is not null;

create table departments (
  account_id bigint not null,
  id bigint not null default nextval('departments_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  title text collate "es-x-icu" not null,
  primary key (account_id, id)
);
create unique index departments_ref on departments (account_id, ref) where ref is not null;

create table document_counters (
  account_id bigint not null,
  document text not null,
  year int not null,
  last_number int not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, document, year)
);

create table employees (
  account_id bigint not null,
  id bigint not null default nextval('employees_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  first_name text collate "es-x-icu" not null,
  last_name text collate "es-x-icu" not null default '',
  email text null,
  active boolean not null default true,
  department_id bigint null,
  search text not null,
  primary key (account_id, id)
);
create unique index employees_ref on employees (account_id, ref) where ref is not null;
create index employees_by_name on employees (account_id, last_name, first_name, id);

create table estimates (
  account_id bigint not null,
  id bigint not null default nextval('estimates_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  number text null,
  date date not null,
  concept text not null default '',
  client_id bigint not null,
  search text not null,
  primary key (account_id, id)
);
create unique index estimates_ref on estimates (account_id, ref) where ref is not null;
create unique index estimates_number on estimates (account_id, extract(year from date), number) where number is not null;
create index estimates_by_date on estimates (account_id, date desc, id desc);
create index estimates_by_client on estimates (account_id, client_id, date desc, id desc);

create table estimate_lines (
  account_id bigint not null,
  id bigint not null default nextval('estimate_lines_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  position int not null,
  description text not null,
  quantity numeric not null,
  unit_price numeric not null,
  discount numeric not null default 0,
  vat numeric not null default 21,
  amount numeric generated always as (round(quantity * unit_price * (1 - discount / 100), 2)) stored not null,
  product_id bigint null,
  variation_id bigint null,
  format_id bigint null,
  base_quantity numeric null,
  extended_description text null,
  start_date date null,
  end_date date null,
  project_id bigint null,
  estimate_id bigint not null,
  primary key (account_id, id)
);
create unique index estimate_lines_ref on estimate_lines (account_id, estimate_id, ref) where ref is not null;
create index estimate_lines_by_estimate on estimate_lines (account_id, estimate_id, position);

create table expense_subtypes (
  account_id bigint not null,
  id bigint not null default nextval('expense_subtypes_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  code text not null,
  title text collate "es-x-icu" not null,
  primary key (account_id, id)
);
create unique index expense_subtypes_ref on expense_subtypes (account_id, ref) where ref is not null;
alter table expense_subtypes add constraint expense_subtypes_code unique (account_id, code);

create table failed_attempts (
  address text not null,
  starts_at timestamptz not null,
  failures int not null,
  primary key (address)
);

create table funnels (
  account_id bigint not null,
  id bigint not null default nextval('funnels_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  title text collate "es-x-icu" not null,
  primary key (account_id, id)
);
create unique index funnels_ref on funnels (account_id, ref) where ref is not null;
create index funnels_by_title on funnels (account_id, title, id);

create table funnel_stages (
  account_id bigint not null,
  id bigint not null default nextval('funnel_stages_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  funnel_id bigint not null,
  position int not null,
  title text collate "es-x-icu" not null,
  primary key (account_id, id)
);
create unique index funnel_stages_ref on funnel_stages (account_id, funnel_id, ref) where ref is not null;
create index funnel_stages_by_funnel on funnel_stages (account_id, funnel_id, position);

create table idempotency_records (
  account_id bigint not null,
  key text not null,
  request_hash text not null,
  answer text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, key)
);

create table invoices (
  account_id bigint not null,
  id bigint not null default nextval('invoices_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  number text null,
  date date not null,
  concept text not null default '',
  client_id bigint not null,
  project_id bigint null,
  primary key (account_id, id)
);
create unique index invoices_ref on invoices (account_id, ref) where ref is not null;
create unique index invoices_number on invoices (account_id, extract(year from date), number) where number is not null;
create index invoices_by_date on invoices (account_id, date desc, id desc);
create index invoices_by_client on invoices (account_id, client_id, date desc, id desc);
create index invoices_by_project on invoices (account_id, project_id, date) where project_id is not null;

create table invoice_due_dates (
  account_id bigint not null,
  id bigint not null default nextval('invoice_due_dates_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  invoice_id bigint not null,
  position int not null,
  date date not null,
  amount numeric not null,
  paid numeric not null default 0,
  primary key (account_id, id)
);
create index invoice_due_dates_by_invoice on invoice_due_dates (account_id, invoice_id, position);
create index invoice_due_dates_by_date on invoice_due_dates (account_id, date, id);

create table invoice_lines (
  account_id bigint not null,
  id bigint not null default nextval('invoice_lines_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  position int not null,
  description text not null,
  quantity numeric not null,
  unit_price numeric not null,
  discount numeric not null default 0,
  vat numeric not null default 21,
  amount numeric generated always as (round(quantity * unit_price * (1 - discount / 100), 2)) stored not null,
  product_id bigint null,
  variation_id bigint null,
  format_id bigint null,
  base_quantity numeric null,
  extended_description text null,
  start_date date null,
  end_date date null,
  project_id bigint null,
  invoice_id bigint not null,
  from_delivery_note boolean not null default false,
  delivery_note_id bigint null,
  primary key (account_id, id)
);
create unique index invoice_lines_ref on invoice_lines (account_id, invoice_id, ref) where ref is not null;
create index invoice_lines_by_invoice on invoice_lines (account_id, invoice_id, position);
create index invoice_lines_by_project on invoice_lines (account_id, project_id) where project_id is not null;
create index invoice_lines_by_delivery_note on invoice_lines (account_id, delivery_note_id) where delivery_note_id is not null;

create table loss_reasons (
  account_id bigint not null,
  id bigint not null default nextval('loss_reasons_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  title text collate "es-x-icu" not null,
  primary key (account_id, id)
);
create unique index loss_reasons_ref on loss_reasons (account_id, ref) where ref is not null;

create table machines (
  account_id bigint not null,
  id bigint not null default nextval('machines_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  title text collate "es-x-icu" not null,
  hourly_cost numeric not null default 0,
  primary key (account_id, id)
);
create unique index machines_ref on machines (account_id, ref) where ref is not null;

create table opportunities (
  account_id bigint not null,
  id bigint not null default nextval('opportunities_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  title text collate "es-x-icu" not null,
  funnel_id bigint not null,
  stage_id bigint not null,
  channel_id bigint null,
  contact_id bigint null,
  client_id bigint null,
  state text not null default 'open',
  loss_reason_id bigint null,
  comments text null,
  closing_value numeric null,
  opened_at timestamptz not null,
  closed_at timestamptz null,
  primary key (account_id, id)
);
create unique index opportunities_ref on opportunities (account_id, ref) where ref is not null;
create index opportunities_by_creation on opportunities (account_id, opened_at desc, id desc);
create index opportunities_by_funnel on opportunities (account_id, funnel_id, stage_id);
create index opportunities_by_contact on opportunities (account_id, contact_id) where contact_id is not null;
create index opportunities_by_loss on opportunities (account_id, funnel_id, loss_reason_id) where state = 'lost';
alter table opportunities add constraint opportunities_state_check check (state in ('open', 'won', 'lost'));

create table price_lists (
  account_id bigint not null,
  id bigint not null default nextval('price_lists_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  number int not null,
  with_vat boolean not null default true,
  primary key (account_id, id)
);
create unique index price_lists_ref on price_lists (account_id, ref) where ref is not null;
alter table price_lists add constraint price_lists_number unique (account_id, number);

create table products (
  account_id bigint not null,
  id bigint not null default nextval('products_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  reference text not null default '',
  sku text not null default '',
  ean text not null default '',
  description text collate "es-x-icu" not null,
  family_id bigint null,
  vat numeric not null default 21,
  cost numeric not null default 0,
  mode text not null default 'sale',
  prices jsonb not null default '{}',
  minimum_stock numeric not null default 0,
  search text not null,
  primary key (account_id, id)
);
create unique index products_ref on products (account_id, ref) where ref is not null;
create index products_by_description on products (account_id, description, id);
create index products_by_family on products (account_id, family_id, description, id);
alter table products add constraint products_mode_check check (mode in ('sale', 'rental', 'service'));

create table product_families (
  account_id bigint not null,
  id bigint not null default nextval('product_families_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  title text collate "es-x-icu" not null,
  primary key (account_id, id)
);
create unique index product_families_ref on product_families (account_id, ref) where ref is not null;

create table product_formats (
  account_id bigint not null,
  id bigint not null default nextval('product_formats_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  product_id bigint not null,
  position int not null,
  title text collate "es-x-icu" not null,
  factor numeric not null,
  variable_weight boolean not null default false,
  for_sale boolean not null default true,
  for_purchase boolean not null default true,
  sale_default boolean not null default false,
  primary key (account_id, id)
);
create unique index product_formats_ref on product_formats (account_id, product_id, ref) where ref is not null;
create index product_formats_by_product on product_formats (account_id, product_id, position);

create table product_stocks (
  account_id bigint not null,
  product_id bigint not null,
  quantity numeric not null default 0,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, product_id)
);

create table product_variations (
  account_id bigint not null,
  id bigint not null default nextval('product_variations_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  product_id bigint not null,
  position int not null,
  description text not null,
  primary key (account_id, id)
);
create unique index product_variations_ref on product_variations (account_id, product_id, ref) where ref is not null;
create index product_variations_by_product on product_variations (account_id, product_id, position);

create table projects (
  account_id bigint not null,
  id bigint not null default nextval('projects_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  number text not null,
  description text not null,
  client_id bigint null,
  state_id bigint null,
  budgeted_cost numeric not null default 0,
  budgeted_sales numeric not null default 0,
  search text not null,
  primary key (account_id, id)
);
create unique index projects_ref on projects (account_id, ref) where ref is not null;
create index projects_by_number on projects (account_id, number desc, id desc);
create index projects_by_client on projects (account_id, client_id) where client_id is not null;
create index projects_by_state on projects (account_id, state_id) where state_id is not null;

create table project_states (
  account_id bigint not null,
  id bigint not null default nextval('project_states_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  title text collate "es-x-icu" not null,
  primary key (account_id, id)
);
create unique index project_states_ref on project_states (account_id, ref) where ref is not null;

create table purchase_delivery_notes (
  account_id bigint not null,
  id bigint not null default nextval('purchase_delivery_notes_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  number text null,
  date date not null,
  supplier_id bigint not null,
  project_id bigint null,
  primary key (account_id, id)
);
create unique index purchase_delivery_notes_ref on purchase_delivery_notes (account_id, ref) where ref is not null;
create index purchase_delivery_notes_by_date on purchase_delivery_notes (account_id, date desc, id desc);
create index purchase_delivery_notes_by_supplier on purchase_delivery_notes (account_id, supplier_id, date desc, id desc);
create index purchase_delivery_notes_by_project on purchase_delivery_notes (account_id, project_id, date) where project_id is not null;

create table purchase_delivery_note_lines (
  account_id bigint not null,
  id bigint not null default nextval('purchase_delivery_note_lines_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  position int not null,
  description text not null,
  quantity numeric not null,
  unit_price numeric not null,
  discount numeric not null default 0,
  vat numeric not null default 21,
  amount numeric generated always as (round(quantity * unit_price * (1 - discount / 100), 2)) stored not null,
  product_id bigint null,
  variation_id bigint null,
  format_id bigint null,
  base_quantity numeric null,
  extended_description text null,
  start_date date null,
  end_date date null,
  project_id bigint null,
  purchase_delivery_note_id bigint not null,
  primary key (account_id, id)
);
create unique index purchase_delivery_note_lines_ref on purchase_delivery_note_lines (account_id, purchase_delivery_note_id, ref) where ref is not null;
create index purchase_delivery_note_lines_by_note on purchase_delivery_note_lines (account_id, purchase_delivery_note_id, position);
create index purchase_delivery_note_lines_by_project on purchase_delivery_note_lines (account_id, project_id) where project_id is not null;

create table purchase_invoices (
  account_id bigint not null,
  id bigint not null default nextval('purchase_invoices_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  number text not null,
  date date not null,
  supplier_id bigint not null,
  project_id bigint null,
  subtype text null,
  paid numeric not null default 0,
  primary key (account_id, id)
);
create unique index purchase_invoices_ref on purchase_invoices (account_id, ref) where ref is not null;
create index purchase_invoices_by_date on purchase_invoices (account_id, date desc, id desc);
create index purchase_invoices_by_supplier on purchase_invoices (account_id, supplier_id, date desc, id desc);
create index purchase_invoices_by_subtype on purchase_invoices (account_id, subtype, date desc, id desc);
create index purchase_invoices_by_project on purchase_invoices (account_id, project_id, date) where project_id is not null;

create table purchase_invoice_due_dates (
  account_id bigint not null,
  id bigint not null default nextval('purchase_invoice_due_dates_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  purchase_invoice_id bigint not null,
  position int not null,
  date date not null,
  amount numeric not null,
  paid numeric not null default 0,
  primary key (account_id, id)
);
create index purchase_invoice_due_dates_by_invoice on purchase_invoice_due_dates (account_id, purchase_invoice_id, position);
create index purchase_invoice_due_dates_by_date on purchase_invoice_due_dates (account_id, date, id);

create table purchase_invoice_lines (
  account_id bigint not null,
  id bigint not null default nextval('purchase_invoice_lines_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  position int not null,
  description text not null,
  quantity numeric not null,
  unit_price numeric not null,
  discount numeric not null default 0,
  vat numeric not null default 21,
  amount numeric generated always as (round(quantity * unit_price * (1 - discount / 100), 2)) stored not null,
  product_id bigint null,
  variation_id bigint null,
  format_id bigint null,
  base_quantity numeric null,
  extended_description text null,
  start_date date null,
  end_date date null,
  project_id bigint null,
  purchase_invoice_id bigint not null,
  from_delivery_note boolean not null default false,
  primary key (account_id, id)
);
create unique index purchase_invoice_lines_ref on purchase_invoice_lines (account_id, purchase_invoice_id, ref) where ref is not null;
create index purchase_invoice_lines_by_invoice on purchase_invoice_lines (account_id, purchase_invoice_id, position);
create index purchase_invoice_lines_by_project on purchase_invoice_lines (account_id, project_id) where project_id is not null;

create table quota_windows (
  account_id bigint not null,
  starts_at timestamptz not null,
  used int not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id)
);

create table recurrings (
  account_id bigint not null,
  id bigint not null default nextval('recurrings_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  description text collate "es-x-icu" not null,
  client_id bigint not null,
  periodicity text not null,
  created_on date not null,
  start_date date null,
  end_date date null,
  last_invoiced_on date null,
  active_months int[] null,
  anchor_day int null,
  primary key (account_id, id)
);
create unique index recurrings_ref on recurrings (account_id, ref) where ref is not null;
create index recurrings_by_description on recurrings (account_id, description, id);
create index recurrings_by_creation on recurrings (account_id, created_on, id);
create index recurrings_by_client on recurrings (account_id, client_id);
alter table recurrings add constraint recurrings_periodicity_check check (periodicity in ('weekly', 'fortnightly', 'monthly', 'bimonthly', 'quarterly', 'half-yearly', 'yearly'));

create table recurring_lines (
  account_id bigint not null,
  id bigint not null default nextval('recurring_lines_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  position int not null,
  description text not null,
  quantity numeric not null,
  unit_price numeric not null,
  discount numeric not null default 0,
  vat numeric not null default 21,
  amount numeric generated always as (round(quantity * unit_price * (1 - discount / 100), 2)) stored not null,
  product_id bigint null,
  variation_id bigint null,
  format_id bigint null,
  base_quantity numeric null,
  extended_description text null,
  start_date date null,
  end_date date null,
  project_id bigint null,
  recurring_id bigint not null,
  primary key (account_id, id)
);
create unique index recurring_lines_ref on recurring_lines (account_id, recurring_id, ref) where ref is not null;
create index recurring_lines_by_recurring on recurring_lines (account_id, recurring_id, position);

create table service_secrets (
  name text not null,
  value text not null,
  primary key (name)
);

create table shifts (
  account_id bigint not null,
  id bigint not null default nextval('shifts_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  title text collate "es-x-icu" not null,
  primary key (account_id, id)
);
create unique index shifts_ref on shifts (account_id, ref) where ref is not null;

create table stock_movements (
  account_id bigint not null,
  id bigint not null default nextval('stock_movements_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  product_id bigint not null,
  variation_id bigint null,
  moved_at timestamptz not null,
  quantity numeric not null,
  delivery_note_id bigint null,
  delivery_note_line_id bigint null,
  factor numeric null,
  opening boolean not null default false,
  primary key (account_id, id)
);
create unique index stock_movements_ref on stock_movements (account_id, ref) where ref is not null;
create index stock_movements_by_product on stock_movements (account_id, product_id, moved_at, id);
create index stock_movements_by_delivery_note on stock_movements (account_id, delivery_note_id) where delivery_note_id is not null;

create table suppliers (
  account_id bigint not null,
  id bigint not null default nextval('suppliers_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  legal_name text collate "es-x-icu" not null,
  trade_name text not null default '',
  tax_id text not null default '',
  email text not null default '',
  phone text not null default '',
  mobile text null,
  search text not null,
  primary key (account_id, id)
);
create unique index suppliers_ref on suppliers (account_id, ref) where ref is not null;
create index suppliers_by_name on suppliers (account_id, legal_name, id);

create table tasks (
  account_id bigint not null,
  id bigint not null default nextval('tasks_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  title text collate "es-x-icu" not null,
  project_id bigint null,
  state_id bigint null,
  owner_id bigint null,
  start_date date null,
  planned_end_date date null,
  progress numeric not null default 0,
  budgeted_amount numeric not null default 0,
  deleted boolean not null default false,
  primary key (account_id, id)
);
create unique index tasks_ref on tasks (account_id, ref) where ref is not null;
create index tasks_by_planned_end on tasks (account_id, planned_end_date, id) where not deleted;
create index tasks_by_project on tasks (account_id, project_id, planned_end_date, id) where project_id is not null;

create table task_states (
  account_id bigint not null,
  id bigint not null default nextval('task_states_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  title text collate "es-x-icu" not null,
  primary key (account_id, id)
);
create unique index task_states_ref on task_states (account_id, ref) where ref is not null;

create table time_entries (
  account_id bigint not null,
  id bigint not null default nextval('time_entries_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  employee_id bigint not null,
  entry_at timestamptz not null,
  entry_method text not null,
  exit_at timestamptz null,
  exit_method text null,
  project_id bigint null,
  task_id bigint null,
  machine_id bigint null,
  break_minutes numeric not null default 0,
  notes text null,
  hours numeric generated always as (coalesce(round(greatest(extract(epoch from (exit_at - entry_at)) - break_minutes * 60, 0) / 3600, 2), 0)) stored not null,
  primary key (account_id, id)
);
create unique index time_entries_ref on time_entries (account_id, ref) where ref is not null;
create index time_entries_by_entry on time_entries (account_id, entry_at, id);
create index time_entries_by_employee on time_entries (account_id, employee_id, entry_at, id);
create index time_entries_by_project on time_entries (account_id, project_id, entry_at, id) where project_id is not null;
create index time_entries_by_task on time_entries (account_id, task_id, entry_at, id) where task_id is not null;

create table treasury_accounts (
  account_id bigint not null,
  id bigint not null default nextval('treasury_accounts_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  title text collate "es-x-icu" not null,
  kind text not null,
  iban text null,
  opening_balance numeric not null default 0,
  primary key (account_id, id)
);
create unique index treasury_accounts_ref on treasury_accounts (account_id, ref) where ref is not null;
alter table treasury_accounts add constraint treasury_accounts_kind_check check (kind in ('bank', 'cash'));

create table treasury_movements (
  account_id bigint not null,
  id bigint not null default nextval('treasury_movements_id_seq'),
  ref text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  treasury_account_id bigint not null,
  date date not null,
  concept text not null,
  amount numeric not null,
  primary key (account_id, id)
);
create unique index treasury_movements_ref on treasury_movements (account_id, ref) where ref is not null;
create index treasury_movements_by_date on treasury_movements (account_id, date desc, id desc);
create index treasury_movements_by_account on treasury_movements (account_id, treasury_account_id, date desc, id desc);

-- Foreign keys: always within one company.
alter table absences add constraint absences_employee_id_fk foreign key (account_id, employee_id) references employees (account_id, id);
alter table absences add constraint absences_day_type_fk foreign key (account_id, day_type) references day_types (account_id, code);
alter table attachments add constraint attachments_estimate_id_fk foreign key (account_id, estimate_id) references estimates (account_id, id);
alter table calendar_entries add constraint calendar_entries_day_type_fk foreign key (account_id, day_type) references day_types (account_id, code);
alter table clients add constraint clients_price_list_fk foreign key (account_id, price_list) references price_lists (account_id, number);
alter table contacts add constraint contacts_client_id_fk foreign key (account_id, client_id) references clients (account_id, id);
alter table contracts add constraint contracts_employee_id_fk foreign key (account_id, employee_id) references employees (account_id, id);
alter table contracts add constraint contracts_contract_type_id_fk foreign key (account_id, contract_type_id) references contract_types (account_id, id);
alter table contracts add constraint contracts_department_id_fk foreign key (account_id, department_id) references departments (account_id, id);
alter table contracts add constraint contracts_shift_id_fk foreign key (account_id, shift_id) references shifts (account_id, id);
alter table delivery_note_lines add constraint delivery_note_lines_product_id_fk foreign key (account_id, product_id) references products (account_id, id);
alter table delivery_note_lines add constraint delivery_note_lines_variation_id_fk foreign key (account_id, variation_id) references product_variations (account_id, id);
alter table delivery_note_lines add constraint delivery_note_lines_format_id_fk foreign key (account_id, format_id) references product_formats (account_id, id);
alter table delivery_note_lines add constraint delivery_note_lines_project_id_fk foreign key (account_id, project_id) references projects (account_id, id);
alter table delivery_note_lines add constraint delivery_note_lines_delivery_note_id_fk foreign key (account_id, delivery_note_id) references delivery_notes (account_id, id);
alter table delivery_notes add constraint delivery_notes_client_id_fk foreign key (account_id, client_id) references clients (account_id, id);
alter table delivery_notes add constraint delivery_notes_project_id_fk foreign key (account_id, project_id) references projects (account_id, id);
alter table delivery_notes add constraint delivery_notes_recurring_id_fk foreign key (account_id, recurring_id) references recurrings (account_id, id);
alter table employees add constraint employees_department_id_fk foreign key (account_id, department_id) references departments (account_id, id);
alter table estimate_lines add constraint estimate_lines_product_id_fk foreign key (account_id, product_id) references products (account_id, id);
alter table estimate_lines add constraint estimate_lines_variation_id_fk foreign key (account_id, variation_id) references product_variations (account_id, id);
alter table estimate_lines add constraint estimate_lines_format_id_fk foreign key (account_id, format_id) references product_formats (account_id, id);
alter table estimate_lines add constraint estimate_lines_project_id_fk foreign key (account_id, project_id) references projects (account_id, id);
alter table estimate_lines add constraint estimate_lines_estimate_id_fk foreign key (account_id, estimate_id) references estimates (account_id, id);
alter table estimates add constraint estimates_client_id_fk foreign key (account_id, client_id) references clients (account_id, id);
alter table funnel_stages add constraint funnel_stages_funnel_id_fk foreign key (account_id, funnel_id) references funnels (account_id, id);
alter table invoice_due_dates add constraint invoice_due_dates_invoice_id_fk foreign key (account_id, invoice_id) references invoices (account_id, id);
alter table invoice_lines add constraint invoice_lines_product_id_fk foreign key (account_id, product_id) references products (account_id, id);
alter table invoice_lines add constraint invoice_lines_variation_id_fk foreign key (account_id, variation_id) references product_variations (account_id, id);
alter table invoice_lines add constraint invoice_lines_format_id_fk foreign key (account_id, format_id) references product_formats (account_id, id);
alter table invoice_lines add constraint invoice_lines_project_id_fk foreign key (account_id, project_id) references projects (account_id, id);
alter table invoice_lines add constraint invoice_lines_invoice_id_fk foreign key (account_id, invoice_id) references invoices (account_id, id);
alter table invoice_lines add constraint invoice_lines_delivery_note_id_fk foreign key (account_id, delivery_note_id) references delivery_notes (account_id, id);
alter table invoices add constraint invoices_client_id_fk foreign key (account_id, client_id) references clients (account_id, id);
alter table invoices add constraint invoices_project_id_fk foreign key (account_id, project_id) references projects (account_id, id);
alter table opportunities add constraint opportunities_funnel_id_fk foreign key (account_id, funnel_id) references funnels (account_id, id);
alter table opportunities add constraint opportunities_stage_id_fk foreign key (account_id, stage_id) references funnel_stages (account_id, id);
alter table opportunities add constraint opportunities_channel_id_fk foreign key (account_id, channel_id) references channels (account_id, id);
alter table opportunities add constraint opportunities_contact_id_fk foreign key (account_id, contact_id) references contacts (account_id, id);
alter table opportunities add constraint opportunities_client_id_fk foreign key (account_id, client_id) references clients (account_id, id);
alter table opportunities add constraint opportunities_loss_reason_id_fk foreign key (account_id, loss_reason_id) references loss_reasons (account_id, id);
alter table product_formats add constraint product_formats_product_id_fk foreign key (account_id, product_id) references products (account_id, id);
alter table product_stocks add constraint product_stocks_product_id_fk foreign key (account_id, product_id) references products (account_id, id);
alter table product_variations add constraint product_variations_product_id_fk foreign key (account_id, product_id) references products (account_id, id);
alter table products add constraint products_family_id_fk foreign key (account_id, family_id) references product_families (account_id, id);
alter table projects add constraint projects_client_id_fk foreign key (account_id, client_id) references clients (account_id, id);
alter table projects add constraint projects_state_id_fk foreign key (account_id, state_id) references project_states (account_id, id);
alter table purchase_delivery_note_lines add constraint purchase_delivery_note_lines_product_id_fk foreign key (account_id, product_id) references products (account_id, id);
alter table purchase_delivery_note_lines add constraint purchase_delivery_note_lines_variation_id_fk foreign key (account_id, variation_id) references product_variations (account_id, id);
alter table purchase_delivery_note_lines add constraint purchase_delivery_note_lines_format_id_fk foreign key (account_id, format_id) references product_formats (account_id, id);
alter table purchase_delivery_note_lines add constraint purchase_delivery_note_lines_project_id_fk foreign key (account_id, project_id) references projects (account_id, id);
alter table purchase_delivery_note_lines add constraint purchase_delivery_note_lines_purchase_delivery_note_id_fk foreign key (account_id, purchase_delivery_note_id) references purchase_delivery_notes (account_id, id);
alter table purchase_delivery_notes add constraint purchase_delivery_notes_supplier_id_fk foreign key (account_id, supplier_id) references suppliers (account_id, id);
alter table purchase_delivery_notes add constraint purchase_delivery_notes_project_id_fk foreign key (account_id, project_id) references projects (account_id, id);
alter table purchase_invoice_due_dates add constraint purchase_invoice_due_dates_purchase_invoice_id_fk foreign key (account_id, purchase_invoice_id) references purchase_invoices (account_id, id);
alter table purchase_invoice_lines add constraint purchase_invoice_lines_product_id_fk foreign key (account_id, product_id) references products (account_id, id);
alter table purchase_invoice_lines add constraint purchase_invoice_lines_variation_id_fk foreign key (account_id, variation_id) references product_variations (account_id, id);
alter table purchase_invoice_lines add constraint purchase_invoice_lines_format_id_fk foreign key (account_id, format_id) references product_formats (account_id, id);
alter table purchase_invoice_lines add constraint purchase_invoice_lines_project_id_fk foreign key (account_id, project_id) references projects (account_id, id);
alter table purchase_invoice_lines add constraint purchase_invoice_lines_purchase_invoice_id_fk foreign key (account_id, purchase_invoice_id) references purchase_invoices (account_id, id);
alter table purchase_invoices add constraint purchase_invoices_supplier_id_fk foreign key (account_id, supplier_id) references suppliers (account_id, id);
alter table purchase_invoices add constraint purchase_invoices_project_id_fk foreign key (account_id, project_id) references projects (account_id, id);
alter table recurring_lines add constraint recurring_lines_product_id_fk foreign key (account_id, product_id) references products (account_id, id);
alter table recurring_lines add constraint recurring_lines_variation_id_fk foreign key (account_id, variation_id) references product_variations (account_id, id);
alter table recurring_lines add constraint recurring_lines_format_id_fk foreign key (account_id, format_id) references product_formats (account_id, id);
alter table recurring_lines add constraint recurring_lines_project_id_fk foreign key (account_id, project_id) references projects (account_id, id);
alter table recurring_lines add constraint recurring_lines_recurring_id_fk foreign key (account_id, recurring_id) references recurrings (account_id, id);
alter table recurrings add constraint recurrings_client_id_fk foreign key (account_id, client_id) references clients (account_id, id);
alter table stock_movements add constraint stock_movements_product_id_fk foreign key (account_id, product_id) references products (account_id, id);
alter table stock_movements add constraint stock_movements_variation_id_fk foreign key (account_id, variation_id) references product_variations (account_id, id);
alter table stock_movements add constraint stock_movements_delivery_note_id_fk foreign key (account_id, delivery_note_id) references delivery_notes (account_id, id);
alter table stock_movements add constraint stock_movements_delivery_note_line_id_fk foreign key (account_id, delivery_note_line_id) references delivery_note_lines (account_id, id);
alter table tasks add constraint tasks_project_id_fk foreign key (account_id, project_id) references projects (account_id, id);
alter table tasks add constraint tasks_state_id_fk foreign key (account_id, state_id) references task_states (account_id, id);
alter table tasks add constraint tasks_owner_id_fk foreign key (account_id, owner_id) references employees (account_id, id);
alter table time_entries add constraint time_entries_employee_id_fk foreign key (account_id, employee_id) references employees (account_id, id);
alter table time_entries add constraint time_entries_project_id_fk foreign key (account_id, project_id) references projects (account_id, id);
alter table time_entries add constraint time_entries_task_id_fk foreign key (account_id, task_id) references tasks (account_id, id);
alter table time_entries add constraint time_entries_machine_id_fk foreign key (account_id, machine_id) references machines (account_id, id);
alter table treasury_movements add constraint treasury_movements_treasury_account_id_fk foreign key (account_id, treasury_account_id) references treasury_accounts (account_id, id);
alter table api_keys add constraint api_keys_account_id_fk foreign key (account_id) references accounts (id);

-- Row-level security, forced: it binds the owner of the tables too.
alter table absences enable row level security;
alter table absences force row level security;
create policy company on absences using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table accounts enable row level security;
alter table accounts force row level security;
create policy company on accounts using (id = nullif(current_setting('app.account_id', true), '')::bigint);
create policy named on accounts for select using (slug = nullif(current_setting('app.account_slug', true), ''));
alter table api_keys enable row level security;
alter table api_keys force row level security;
create policy company on api_keys using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
create policy presented on api_keys for select using (key = nullif(current_setting('app.api_key', true), ''));
alter table attachments enable row level security;
alter table attachments force row level security;
create policy company on attachments using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table audit_records enable row level security;
alter table audit_records force row level security;
create policy company on audit_records using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table calendar_entries enable row level security;
alter table calendar_entries force row level security;
create policy company on calendar_entries using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table channels enable row level security;
alter table channels force row level security;
create policy company on channels using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table clients enable row level security;
alter table clients force row level security;
create policy company on clients using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table contacts enable row level security;
alter table contacts force row level security;
create policy company on contacts using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table contracts enable row level security;
alter table contracts force row level security;
create policy company on contracts using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table contract_types enable row level security;
alter table contract_types force row level security;
create policy company on contract_types using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table day_types enable row level security;
alter table day_types force row level security;
create policy company on day_types using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table delivery_notes enable row level security;
alter table delivery_notes force row level security;
create policy company on delivery_notes using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table delivery_note_lines enable row level security;
alter table delivery_note_lines force row level security;
create policy company on delivery_note_lines using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table departments enable row level security;
alter table departments force row level security;
create policy company on departments using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table document_counters enable row level security;
alter table document_counters force row level security;
create policy company on document_counters using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table employees enable row level security;
alter table employees force row level security;
create policy company on employees using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table estimates enable row level security;
alter table estimates force row level security;
create policy company on estimates using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table estimate_lines enable row level security;
alter table estimate_lines force row level security;
create policy company on estimate_lines using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table expense_subtypes enable row level security;
alter table expense_subtypes force row level security;
create policy company on expense_subtypes using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table funnels enable row level security;
alter table funnels force row level security;
create policy company on funnels using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table funnel_stages enable row level security;
alter table funnel_stages force row level security;
create policy company on funnel_stages using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table idempotency_records enable row level security;
alter table idempotency_records force row level security;
create policy company on idempotency_records using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table invoices enable row level security;
alter table invoices force row level security;
create policy company on invoices using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table invoice_due_dates enable row level security;
alter table invoice_due_dates force row level security;
create policy company on invoice_due_dates using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table invoice_lines enable row level security;
alter table invoice_lines force row level security;
create policy company on invoice_lines using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table loss_reasons enable row level security;
alter table loss_reasons force row level security;
create policy company on loss_reasons using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table machines enable row level security;
alter table machines force row level security;
create policy company on machines using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table opportunities enable row level security;
alter table opportunities force row level security;
create policy company on opportunities using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table price_lists enable row level security;
alter table price_lists force row level security;
create policy company on price_lists using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table products enable row level security;
alter table products force row level security;
create policy company on products using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table product_families enable row level security;
alter table product_families force row level security;
create policy company on product_families using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table product_formats enable row level security;
alter table product_formats force row level security;
create policy company on product_formats using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table product_stocks enable row level security;
alter table product_stocks force row level security;
create policy company on product_stocks using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table product_variations enable row level security;
alter table product_variations force row level security;
create policy company on product_variations using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table projects enable row level security;
alter table projects force row level security;
create policy company on projects using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table project_states enable row level security;
alter table project_states force row level security;
create policy company on project_states using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table purchase_delivery_notes enable row level security;
alter table purchase_delivery_notes force row level security;
create policy company on purchase_delivery_notes using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table purchase_delivery_note_lines enable row level security;
alter table purchase_delivery_note_lines force row level security;
create policy company on purchase_delivery_note_lines using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table purchase_invoices enable row level security;
alter table purchase_invoices force row level security;
create policy company on purchase_invoices using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table purchase_invoice_due_dates enable row level security;
alter table purchase_invoice_due_dates force row level security;
create policy company on purchase_invoice_due_dates using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table purchase_invoice_lines enable row level security;
alter table purchase_invoice_lines force row level security;
create policy company on purchase_invoice_lines using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table quota_windows enable row level security;
alter table quota_windows force row level security;
create policy company on quota_windows using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table recurrings enable row level security;
alter table recurrings force row level security;
create policy company on recurrings using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table recurring_lines enable row level security;
alter table recurring_lines force row level security;
create policy company on recurring_lines using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table shifts enable row level security;
alter table shifts force row level security;
create policy company on shifts using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table stock_movements enable row level security;
alter table stock_movements force row level security;
create policy company on stock_movements using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table suppliers enable row level security;
alter table suppliers force row level security;
create policy company on suppliers using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table tasks enable row level security;
alter table tasks force row level security;
create policy company on tasks using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table task_states enable row level security;
alter table task_states force row level security;
create policy company on task_states using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table time_entries enable row level security;
alter table time_entries force row level security;
create policy company on time_entries using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table treasury_accounts enable row level security;
alter table treasury_accounts force row level security;
create policy company on treasury_accounts using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
alter table treasury_movements enable row level security;
alter table treasury_movements force row level security;
create policy company on treasury_movements using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);

-- The role of every company's transaction. Where the login may not create roles, the login itself has to be one
-- that row-level security binds; the server checks that at start.
do $$
begin
  if not exists (select from pg_roles where rolname = 'albaran_app') then
    create role albaran_app nologin;
  end if;
  -- Since PostgreSQL 16 who makes a role is a member of it, and may not become it before that is granted too.
  if not pg_has_role(current_user, 'albaran_app',
      case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end) then
    execute format('grant albaran_app to %I', current_user);
  end if;
exception
  when insufficient_privilege or duplicate_object or unique_violation then null;
end
$$;

do $$
begin
  if exists (select from pg_roles where rolname = 'albaran_app') then
    grant select, insert, update, delete on all tables in schema public to albaran_app;
    grant usage on all sequences in schema public to albaran_app;
    alter default privileges in schema public grant select, insert, update, delete on tables to albaran_app;
    alter default privileges in schema public grant usage on sequences to albaran_app;
    revoke all on service_secrets, failed_attempts from albaran_app;
    revoke update, delete on audit_records from albaran_app;
  end if;
end
$$;

-- Substring search. Under row-level security an index serves only operators whose function is leakproof; marking one
-- so takes a superuser (the embedded server's login is one). Elsewhere the same searches filter the company's rows.
do $$
begin
  create extension if not exists pg_trgm;
  create extension if not exists btree_gin;
  create index products_search on products using gin (account_id, search gin_trgm_ops);
  create index clients_search on clients using gin (account_id, search gin_trgm_ops);
  create index contacts_search on contacts using gin (account_id, search gin_trgm_ops);
exception
  when insufficient_privilege or undefined_file or feature_not_supported then null;
end
$$;

do $$
begin
  alter function pg_catalog.textlike(text, text) leakproof;
exception
  when insufficient_privilege then null;
end
$$;
