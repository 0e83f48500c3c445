// The measured company as records of an account file, in import order. The product's own import creates it, so that derived data
// (search texts, opening movements, stored figures) are those of a real company.
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
