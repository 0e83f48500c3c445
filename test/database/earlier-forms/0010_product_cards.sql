-- What lists of products show of a row stands in it as JSON text, so that a page is put together and not made anew.
-- Generated columns: nobody has to keep them. What they are made by is immutable for a text and for a jsonb.
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
    '"articuloId":' || id || ',"referencia":' || json_text(reference) || ',"sku":' || json_text(sku) ||
    ',"codigo_ean":' || json_text(ean) || ',"descripcion":' || json_text(description) || ',"iva":' || vat ||
    ',"coste":' || cost || ',"stock_minimo":' || minimum_stock) stored,
  add column price_entries text not null generated always as (price_entries(prices)) stored,
  add column price_count int not null generated always as (price_count(prices)) stored;

alter table product_families
  add column card text not null generated always as ('{"familiaId":' || id || ',"titulo":' || json_text(title) || '}') stored;
