// Clients, suppliers, contacts, and the opportunities in their funnels.
import { defineEntity, p } from '@mikro-orm/postgresql';
import { alphabetical, bigint, decimal, indexOn, instant, isolated, record, uniqueRef } from './columns.ts';

/** `taxKey` is the tax id normalised for comparison. DLV-01 */
export const Client = defineEntity({
  name: 'Client',
  tableName: 'clients',
  ...isolated,
  indexes: [
    uniqueRef('clients'),
    indexOn('clients', 'name', 'legal_name, id'),
    indexOn('clients', 'tax_key', 'tax_key, id', 'tax_key is not null'),
    indexOn('clients', 'price_list', 'price_list'),
  ],
  properties: {
    ...record('clients'),
    legalName: alphabetical(),
    tradeName: p.text().default(''),
    taxId: p.text().default(''),
    taxKey: p.text().nullable(),
    email: p.text().default(''),
    phone: p.text().default(''),
    mobile: p.text().default(''),
    address: p.text().default(''),
    postalCode: p.text().default(''),
    city: p.text().default(''),
    province: p.text().default(''),
    country: p.text().default(''),
    priceList: p.integer().nullable(),
    allowsEmail: p.boolean().nullable(),
    allowsWhatsapp: p.boolean().nullable(),
    allowsSms: p.boolean().nullable(),
    allowsImages: p.boolean().nullable(),
    search: p.text(),
  },
});

export const Supplier = defineEntity({
  name: 'Supplier',
  tableName: 'suppliers',
  ...isolated,
  indexes: [uniqueRef('suppliers'), indexOn('suppliers', 'name', 'legal_name, id')],
  properties: {
    ...record('suppliers'),
    legalName: alphabetical(),
    tradeName: p.text().default(''),
    taxId: p.text().default(''),
    email: p.text().default(''),
    phone: p.text().default(''),
    mobile: p.text().nullable(),
    search: p.text(),
  },
});

export const Funnel = defineEntity({
  name: 'Funnel',
  tableName: 'funnels',
  ...isolated,
  indexes: [uniqueRef('funnels'), indexOn('funnels', 'title', 'title, id')],
  properties: { ...record('funnels'), title: alphabetical() },
});

export const FunnelStage = defineEntity({
  name: 'FunnelStage',
  tableName: 'funnel_stages',
  ...isolated,
  indexes: [uniqueRef('funnel_stages', 'funnel_id'), indexOn('funnel_stages', 'funnel', 'funnel_id, position')],
  properties: { ...record('funnel_stages'), funnelId: bigint(), position: p.integer(), title: alphabetical() },
});

export const Channel = defineEntity({
  name: 'Channel',
  tableName: 'channels',
  ...isolated,
  indexes: [uniqueRef('channels')],
  properties: { ...record('channels'), title: alphabetical() },
});

export const LossReason = defineEntity({
  name: 'LossReason',
  tableName: 'loss_reasons',
  ...isolated,
  indexes: [uniqueRef('loss_reasons')],
  properties: { ...record('loss_reasons'), title: alphabetical() },
});

/** Contacts are matched by `emailKey` and `phoneKey` (OPP-03). */
export const Contact = defineEntity({
  name: 'Contact',
  tableName: 'contacts',
  ...isolated,
  indexes: [
    uniqueRef('contacts'),
    indexOn('contacts', 'email', 'email_key, id', 'email_key is not null'),
    indexOn('contacts', 'phone', 'phone_key, id', 'phone_key is not null'),
    indexOn('contacts', 'name', 'name, id'),
  ],
  properties: {
    ...record('contacts'),
    name: alphabetical().default(''),
    company: p.text().default(''),
    email: p.text().default(''),
    mobile: p.text().default(''),
    emailKey: p.text().nullable(),
    phoneKey: p.text().nullable(),
    clientId: bigint().nullable(),
    search: p.text(),
  },
});

export const Opportunity = defineEntity({
  name: 'Opportunity',
  tableName: 'opportunities',
  ...isolated,
  indexes: [
    uniqueRef('opportunities'),
    indexOn('opportunities', 'creation', 'opened_at desc, id desc'),
    indexOn('opportunities', 'funnel', 'funnel_id, stage_id'),
    indexOn('opportunities', 'contact', 'contact_id', 'contact_id is not null'),
    indexOn('opportunities', 'loss', 'funnel_id, loss_reason_id', `state = 'lost'`),
  ],
  properties: {
    ...record('opportunities'),
    title: alphabetical(),
    funnelId: bigint(),
    stageId: bigint(),
    channelId: bigint().nullable(),
    contactId: bigint().nullable(),
    clientId: bigint().nullable(),
    state: p
      .enum(['open', 'won', 'lost'] as const)
      .columnType('text')
      .default('open'),
    lossReasonId: bigint().nullable(),
    comments: p.text().nullable(),
    closingValue: decimal().nullable(),
    openedAt: instant(),
    closedAt: instant().nullable(),
  },
});
