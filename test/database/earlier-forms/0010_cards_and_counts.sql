-- What long lists show of a row stands in it as JSON text, so that a page is put together and not made anew.
-- An id stands as its kind and number between tabs (platform/ids.ts). Generated columns: nobody has to keep them. What they are made by is immutable for a text and for a jsonb.
create function json_text(value text) returns text language sql immutable parallel safe
  return to_json(value)::text;

-- {"1": [5, 6.05], "2": [4, null]} as the entries of PRO-02.
create function price_entries(prices jsonb) returns text language sql immutable parallel safe
  return (select coalesce(string_agg('{"tarifa":' || e.key || ',"precio":' || (e.value ->> 0) ||
    ',"precio_con_iva":' || coalesce(e.value ->> 1, 'null') || '}', ',' order by e.key::int), '')
  from jsonb_each(prices) e);

create function price_count(prices jsonb) returns int language sql immutable parallel safe
  return (select count(*)::int from jsonb_object_keys(prices));

alter table products
  add column card text not null generated always as (
    E'"articuloId":\t18:' || id || E'\t,"referencia":' || json_text(reference) || ',"sku":' || json_text(sku) ||
    ',"codigo_ean":' || json_text(ean) || ',"descripcion":' || json_text(description) || ',"iva":' || vat ||
    ',"coste":' || cost || ',"stock_minimo":' || minimum_stock) stored,
  add column price_entries text not null generated always as (price_entries(prices)) stored,
  add column price_count int not null generated always as (price_count(prices)) stored;

alter table product_families
  add column card text not null generated always as (E'{"familiaId":\t21:' || id || E'\t,"titulo":' || json_text(title) || '}') stored;

alter table clients
  add column card text not null generated always as (
    E'{"clienteId":\t10:' || id || E'\t,"nombre_fiscal":' || json_text(legal_name) || ',"nombre_comercial":' ||
    json_text(trade_name) || ',"cif":' || json_text(tax_id) || ',"email":' || json_text(email) || ',"telefono":' ||
    json_text(phone) || ',"movil":' || json_text(mobile) || ',"rgpd":{"comunicaciones_email":' ||
    coalesce(allows_email::text, 'null') || ',"comunicaciones_whatsapp":' || coalesce(allows_whatsapp::text, 'null') ||
    ',"comunicaciones_sms":' || coalesce(allows_sms::text, 'null') || ',"tratamiento_imagenes":' ||
    coalesce(allows_images::text, 'null') || '}}') stored;

-- Projects are counted beside products.
alter table product_counts rename to record_counts;
alter index product_counts_pkey rename to record_counts_pkey;
alter table record_counts alter column products set default 0, add column projects int not null default 0;
alter table projects no force row level security;
alter table record_counts no force row level security;
insert into record_counts (account_id, projects) select account_id, count(*) from projects group by account_id
on conflict (account_id) do update set projects = excluded.projects;
alter table projects force row level security;
alter table record_counts force row level security;
