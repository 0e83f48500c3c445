-- Databases that ran an earlier form of 0010_cards_counts_and_searches get what it lacked. Elsewhere this changes nothing.
do $$
declare
  product_card constant text := pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
    where d.adrelid = 'products'::regclass and a.attname = 'card';
  family_card constant text := pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
    where d.adrelid = 'product_families'::regclass and a.attname = 'card';
begin
  if product_card not like '%trim_scale%' then
    alter table products drop column card, drop column price_entries;
    create or replace function price_entries(prices jsonb) returns text language sql immutable parallel safe
      return (select coalesce(string_agg('{"tarifa":' || e.key || ',"precio":' ||
        trim_scale((e.value ->> 0)::numeric) || ',"precio_con_iva":' ||
        coalesce(trim_scale((e.value ->> 1)::numeric)::text, 'null') || '}', ',' order by e.key::int), '')
      from jsonb_each(prices) e);
    alter table products
      add column card text not null generated always as (
        E'"articuloId":\t18:' || id || E'\t,"referencia":' || json_text(reference) || ',"sku":' || json_text(sku) ||
        ',"codigo_ean":' || json_text(ean) || ',"descripcion":' || json_text(description) || ',"iva":' || trim_scale(vat) ||
        ',"coste":' || trim_scale(cost) || ',"stock_minimo":' || trim_scale(minimum_stock)) stored,
      add column price_entries text not null generated always as (price_entries(prices)) stored;
  end if;

  if strpos(family_card, E'\t21:') = 0 then
    alter table product_families drop column card;
    alter table product_families
      add column card text not null generated always as (E'{"familiaId":\t21:' || id || E'\t,"titulo":' || json_text(title) || '}') stored;
  end if;

  if not exists (select from pg_attribute where attrelid = 'clients'::regclass and attname = 'card') then
    alter table clients
      add column card text not null generated always as (
        E'{"clienteId":\t10:' || id || E'\t,"nombre_fiscal":' || json_text(legal_name) || ',"nombre_comercial":' ||
        json_text(trade_name) || ',"cif":' || json_text(tax_id) || ',"email":' || json_text(email) || ',"telefono":' ||
        json_text(phone) || ',"movil":' || json_text(mobile) || ',"rgpd":{"comunicaciones_email":' ||
        coalesce(allows_email::text, 'null') || ',"comunicaciones_whatsapp":' || coalesce(allows_whatsapp::text, 'null') ||
        ',"comunicaciones_sms":' || coalesce(allows_sms::text, 'null') || ',"tratamiento_imagenes":' ||
        coalesce(allows_images::text, 'null') || '}}') stored;
  end if;

  if to_regclass('product_counts') is not null then
    alter table product_counts rename to record_counts;
    alter index product_counts_pkey rename to record_counts_pkey;
    alter table record_counts alter column products set default 0, add column projects int not null default 0;
    alter table projects no force row level security;
    alter table record_counts no force row level security;
    insert into record_counts (account_id, projects) select account_id, count(*) from projects group by account_id
    on conflict (account_id) do update set projects = excluded.projects;
    alter table projects force row level security;
    alter table record_counts force row level security;
  end if;

  if to_regclass('products_search') is not null then
    create index if not exists invoices_search on invoices using gin (account_id, search gin_trgm_ops);
    create index if not exists estimates_search on estimates using gin (account_id, search gin_trgm_ops);
  end if;
end
$$;
