-- Renewals are issued by themselves only for companies that switched it on, and only cycles since then and since the service
-- is known here. The day it was switched on, by the company's calendar; null: it is off, as for every company until it says so.
alter table accounts add column automatic_issuing_since date null;

alter table recurrings
  -- The day it came into this service, created or imported. Of those that are there 0018_recurrings_entered says it.
  add column entered_on date not null default current_date,
  -- Where a later cycle was issued before earlier ones: cycles from this day on are due even before the last invoicing.
  add column pending_from date null,
  -- Cycles that are never to be issued.
  add column skipped_cycles date[] not null default '{}';
