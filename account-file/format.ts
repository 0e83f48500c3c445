// The account file: one company's data as NDJSON. These are its collections in the order of the file, declared in collections/;
// import.ts and export.ts work from the declarations. The first record, `cuenta`, is the company itself: account.ts.
import type { Collection } from './collection.ts';
import { families, priceLists, products } from './collections/catalogue.ts';
import { channels, contacts, funnels, lossReasons, opportunities } from './collections/crm.ts';
import { clients, suppliers } from './collections/parties.ts';
import {
  absences,
  calendarEntries,
  contracts,
  contractTypes,
  dayTypes,
  departments,
  employees,
  shifts,
} from './collections/people.ts';
import { machines, projectStates, projects, taskStates, tasks, timeEntries } from './collections/projects.ts';
import { expenseSubtypes, purchaseDeliveryNotes, purchaseInvoices } from './collections/purchases.ts';
import { attachments, deliveryNotes, estimates, invoices, recurrings } from './collections/sales.ts';
import { stockMovements } from './collections/stock.ts';
import { settlements, treasuryAccounts, treasuryMovements } from './collections/treasury.ts';

/** A collection may only name records of those before it. */
export const COLLECTIONS: readonly Collection[] = [
  priceLists,
  departments,
  contractTypes,
  shifts,
  employees,
  contracts,
  dayTypes,
  calendarEntries,
  absences,
  clients,
  suppliers,
  families,
  products,
  funnels,
  channels,
  lossReasons,
  contacts,
  opportunities,
  projectStates,
  projects,
  taskStates,
  tasks,
  machines,
  timeEntries,
  estimates,
  attachments,
  recurrings,
  deliveryNotes,
  invoices,
  purchaseDeliveryNotes,
  stockMovements,
  expenseSubtypes,
  purchaseInvoices,
  treasuryAccounts,
  treasuryMovements,
  settlements,
];
