// Invariants of a company's rows, whatever happened to its writes.

/** Queries that must find nothing; their rows describe violations. */
export const NEVER: Readonly<Record<string, string>> = {
  'two contacts have one e-mail': `select email_key from contacts where account_id = $1 and email_key is not null group by 1 having count(*) > 1`,
  'two clients have one tax id': `select tax_key from clients where account_id = $1 and tax_key is not null group by 1 having count(*) > 1`,
  'two families have one title': `select lower(title) from product_families where account_id = $1 group by 1 having count(*) > 1`,
  'numbers of documents have gaps, or the counter is elsewhere': `
    with numbered as (
      select 'delivery_note' as document, number from delivery_notes where account_id = $1
      union all select case when rectified_invoice_id is null then 'invoice' else 'rectification' end, number
      from invoices where account_id = $1
      union all select 'estimate', number from estimates where account_id = $1),
    counted as (
      select document, split_part(substr(number, 2), '-', 1)::int as year, split_part(number, '-', 2)::int as number
      from numbered where number ~ '^[AFPR]\\d{4}-\\d+$'
      union all
      select 'project', 2000 + split_part(number, '-', 1)::int, split_part(number, '-', 2)::int
      from projects where account_id = $1 and number ~ '^\\d{2}-\\d+$'),
    seen as (
      select document, year, count(*) as documents, count(distinct number) as numbers, max(number) as last
      from counted group by 1, 2)
    select s.*, c.last_number from seen s
    full join (select document, year, last_number from document_counters where account_id = $1) c using (document, year)
    where (s.documents, s.numbers, s.last) is distinct from (c.last_number::bigint, c.last_number::bigint, c.last_number)`,
  'a document has no number': `
    select concept from delivery_notes where account_id = $1 and number is null and concept like 'w%-%'
    union all select concept from invoices where account_id = $1 and number is null and concept like 'w%-%'
    union all select concept from estimates where account_id = $1 and number is null and concept like 'w%-%'`,
  'a line of an estimate is converted beyond its quantity': `
    select l.id, l.quantity, c.quantity as converted from estimate_lines l
    join (
      select estimate_line_id as id, sum(quantity) as quantity from (
        select b.estimate_line_id, b.quantity from delivery_note_lines b
        join delivery_notes d on d.account_id = $1 and d.id = b.delivery_note_id and d.annulled_at is null
        where b.account_id = $1
        union all select b.estimate_line_id, b.quantity from invoice_lines b
        join invoices d on d.account_id = $1 and d.id = b.invoice_id and d.annulled_at is null
        where b.account_id = $1) b
      group by 1) c on c.id = l.id
    where l.account_id = $1 and c.quantity * sign(l.quantity) not between 0 and abs(l.quantity)`,
  'a document has no lines': `
    select concept from delivery_notes d where account_id = $1
      and not exists (select from delivery_note_lines l where l.account_id = $1 and l.delivery_note_id = d.id)
    union all select concept from invoices i where account_id = $1
      and not exists (select from invoice_lines l where l.account_id = $1 and l.invoice_id = i.id)
    union all select description from recurrings r where account_id = $1
      and not exists (select from recurring_lines l where l.account_id = $1 and l.recurring_id = r.id)`,
  'stock is not the sum of its movements': `
    select p.id, s.quantity, m.quantity as moved from products p
    left join product_stocks s on s.account_id = $1 and s.product_id = p.id
    left join (select product_id, sum(quantity) as quantity from stock_movements where account_id = $1 group by 1) m
      on m.product_id = p.id
    where p.account_id = $1 and p.mode = 'sale' and coalesce(s.quantity, 0) <> coalesce(m.quantity, 0)`,
  'movements are not what the documents sold': `
    with sold as (
      select l.product_id, l.quantity, l.base_quantity, l.format_id
      from delivery_note_lines l join delivery_notes d on d.account_id = $1 and d.id = l.delivery_note_id
      where l.account_id = $1 and d.concept like 'w%-%' and d.annulled_at is null
      union all
      select l.product_id, l.quantity, l.base_quantity, l.format_id
      from invoice_lines l join invoices i on i.account_id = $1 and i.id = l.invoice_id
      where l.account_id = $1 and i.concept like 'w%-%' and not l.from_delivery_note and i.rectified_invoice_id is null
        and i.annulled_at is null
      union all
      select l.product_id, -l.quantity, l.base_quantity, l.format_id from purchase_delivery_note_lines l
      join purchase_delivery_notes d on d.account_id = $1 and d.id = l.purchase_delivery_note_id and d.annulled_at is null
      where l.account_id = $1 and d.number like 'w%-%'),
    units as (
      select b.product_id, coalesce(sign(b.quantity) * b.base_quantity, b.quantity * coalesce(f.factor, 1)) as quantity
      from sold b left join product_formats f on f.account_id = $1 and f.id = b.format_id),
    moved as (
      select m.product_id, -m.quantity as quantity from stock_movements m
      left join invoices i on i.account_id = $1 and i.id = m.invoice_id
      where m.account_id = $1 and not m.opening and m.ref is null and m.reason is null and i.rectified_invoice_id is null)
    select p.id, s.quantity as sold, m.quantity as moved from products p
    left join (select product_id, sum(quantity) as quantity from units group by 1) s on s.product_id = p.id
    left join (select product_id, sum(quantity) as quantity from moved group by 1) m on m.product_id = p.id
    where p.account_id = $1 and coalesce(m.quantity, 0) <> case when p.mode = 'sale' then coalesce(s.quantity, 0) else 0 end`,
  'due dates are not the total': `
    select i.id, d.amount, t.total from invoices i
    left join (select invoice_id, sum(amount) as amount from invoice_due_dates where account_id = $1 group by 1) d
      on d.invoice_id = i.id
    left join (
      select invoice_id, sum(base + round(base * vat / 100, 2)) as total
      from (select invoice_id, vat, sum(amount) as base from invoice_lines where account_id = $1 group by 1, 2) r group by 1) t
      on t.invoice_id = i.id
    where i.account_id = $1 and d.amount is distinct from t.total`,
  'a delivery note is in two invoices': `
    select l.delivery_note_id from invoice_lines l
    join invoices i on i.account_id = $1 and i.id = l.invoice_id and i.annulled_at is null
    where l.account_id = $1 and l.delivery_note_id is not null and not l.note_released
    group by 1 having count(distinct l.invoice_id) > 1`,
  'an invoice has not every line of its delivery notes once': `
    select delivery_note_id from (
      select l.delivery_note_id, count(*) as lines from invoice_lines l
      join invoices i on i.account_id = $1 and i.id = l.invoice_id and i.annulled_at is null
      where l.account_id = $1 and l.delivery_note_id is not null and not l.note_released group by 1) b
    join (select delivery_note_id, count(*) as lines from delivery_note_lines where account_id = $1 group by 1) n using (delivery_note_id)
    where b.lines <> n.lines`,
};
