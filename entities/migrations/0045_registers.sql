-- Registers of invoices for the tax agency (VeriFactu), chained a company and a mode, and what the agency answered.
alter table accounts add column verifactu_mode text null;
alter table accounts add check (verifactu_mode in ('pruebas', 'produccion'));

create table register_chains (
  account_id bigint not null,
  mode text not null,
  installation text not null,
  shares_people boolean not null default false,
  n bigint not null default 0,
  answered bigint not null default 0,
  tried bigint not null default 0,
  failures int not null default 0,
  problem text null,
  sent_at timestamptz null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, mode),
  check (mode in ('pruebas', 'produccion'))
);
alter table register_chains enable row level security;
alter table register_chains force row level security;
create policy company on register_chains using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);

create sequence invoice_registers_id_seq as bigint start 1000000001;
create table invoice_registers (
  account_id bigint not null,
  id bigint not null default nextval('invoice_registers_id_seq'),
  mode text not null,
  n bigint not null,
  invoice_id bigint not null,
  type text not null,
  made_at timestamptz not null,
  issuer text not null,
  number text not null,
  day text not null,
  previous text null,
  hash text not null,
  xml text not null,
  qr text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id),
  constraint invoice_registers_n unique (account_id, mode, n),
  check (mode in ('pruebas', 'produccion')),
  check (type in ('alta', 'anulacion'))
);
alter table invoice_registers add constraint invoice_registers_invoice_id_fk foreign key (account_id, invoice_id) references invoices (account_id, id);
create index invoice_registers_by_invoice on invoice_registers (account_id, invoice_id, n);
alter table invoice_registers enable row level security;
alter table invoice_registers force row level security;
create policy company on invoice_registers using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);

create table register_answers (
  account_id bigint not null,
  register_id bigint not null,
  state text not null,
  code int null,
  description text null,
  csv text null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, register_id),
  check (state in ('accepted', 'accepted_with_errors', 'rejected'))
);
alter table register_answers add constraint register_answers_register_id_fk foreign key (account_id, register_id) references invoice_registers (account_id, id);
alter table register_answers enable row level security;
alter table register_answers force row level security;
create policy company on register_answers using (account_id = nullif(current_setting('app.account_id', true), '')::bigint);

-- When a process looks at a company with registers next. It belongs to the service.
create table register_queue (
  company bigint not null,
  look_at timestamptz not null,
  primary key (company)
);
create index register_queue_by_look on register_queue (look_at);
