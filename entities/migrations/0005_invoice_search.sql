-- Invoices are searched as estimates are, and keep the remarks and the promotional code they are created with.
alter table invoices
  add column remarks text not null default '',
  add column promo_code text null,
  add column search text not null default '';

-- The owner is bound by row-level security too, and this fills the rows of every company.
alter table invoices no force row level security;
update invoices set search = array_to_string(array(
  select btrim(regexp_replace(lower(regexp_replace(normalize(value, nfd), '[\u0300-\u036f]', '', 'g')), '\s+', ' ', 'g'))
  from unnest(array[number, concept]) with ordinality as texts (value, position)
  where value <> '' order by position), e'\n');
alter table invoices force row level security;
alter table invoices alter column search drop default;
