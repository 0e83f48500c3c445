// How a contact is shown, alone and inside an opportunity.
import { z } from 'zod';
import { sealedId } from '../shared/id.ts';

export const contact = z.object({
  contactoId: sealedId('contact'),
  nombre: z.string(),
  empresa: z.string(),
  email: z.string(),
  movil: z.string(),
});

export const CONTACT_COLUMNS = ['k.id as contact_id', 'k.name', 'k.company', 'k.email', 'k.mobile'] as const;

interface ContactRow {
  contact_id: number | null;
  name: string | null;
  company: string | null;
  email: string | null;
  mobile: string | null;
}

/** Of a row that may have no contact: then all of it is "". ENV-08 */
export const contactOf = (row: ContactRow) => ({
  contactoId: row.contact_id,
  nombre: row.name ?? '',
  empresa: row.company ?? '',
  email: row.email ?? '',
  movil: row.mobile ?? '',
});
