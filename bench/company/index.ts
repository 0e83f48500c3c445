// The measured company as the records of an account file, in the order that an import takes them. It comes in by the
// product's own import, so that everything a company has beside its records (searched texts, opening movements, whatever
// is kept up to date) is there as it would be of a real one.
import { catalogue } from './catalogue.ts';
import { people, projects, timeEntries } from './people.ts';
import { sizesAt } from './sizes.ts';
import { opportunities, purchases, recurrings, sales, treasury } from './trade.ts';

/** The lines of the company's account file. */
export function* companyAt(scale: number): Generator<string> {
  const sizes = sizesAt(scale);
  yield JSON.stringify({ coleccion: 'cuenta', ref: 'cuenta', nombre: 'Ferretería de medida' });
  const parts = [
    ...[people, catalogue, opportunities, projects, timeEntries],
    ...[recurrings, sales, purchases, treasury],
  ];
  for (const part of parts) for (const record of part(sizes)) yield JSON.stringify(record);
}
