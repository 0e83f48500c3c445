// A small company, of which a database gets many: bench/many.ts.
import { catalogue } from './catalogue.ts';
import { people, projects, timeEntries } from './people.ts';
import type { Sizes } from './sizes.ts';
import { opportunities, recurrings, sales } from './trade.ts';

/** All within the first nine months. Of the documents eleven are delivery notes and six invoices. */
export const SMALL: Sizes = {
  days: 270,
  people: 2,
  timeEntries: 20,
  products: 5,
  clients: 5,
  suppliers: 1,
  projects: 2,
  documents: 34,
  opportunities: 5,
  contacts: 5,
  recurrings: 2,
};

/** The lines of its account file. */
export function* smallCompany(): Generator<string> {
  yield JSON.stringify({ coleccion: 'cuenta', ref: 'cuenta', nombre: 'Taller pequeño' });
  const parts = [people, catalogue, opportunities, projects, timeEntries, recurrings, sales];
  for (const part of parts) for (const record of part(SMALL)) yield JSON.stringify(record);
}
