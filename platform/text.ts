// Texts in the forms they are compared by. Stored beside the original, so that the database compares by equality.

const folded = (text: string) =>
  text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim();

/** What `busqueda` is looked for in: lower case, without accents, a line for each text there is. PRO-01 */
export const searchable = (...texts: (string | null | undefined)[]) =>
  texts.flatMap((text) => (text ? [folded(text)] : [])).join('\n');

/** A LIKE pattern that finds `text` anywhere in a `searchable` column. */
export const containing = (text: string) => `%${searchable(text).replace(/[\\%_]/g, '\\$&')}%`;

/** A tax id as it is compared: upper case, without spaces, dots, dashes or a leading ES; null when nothing is left. DLV-01 */
export const taxKey = (taxId: string | null | undefined) =>
  (taxId ?? '')
    .toUpperCase()
    .replace(/[\s.-]/g, '')
    .replace(/^ES/, '') || null;

/** An e-mail as it is compared; null when empty. OPP-03 */
export const emailKey = (email: string | null | undefined) => (email ?? '').trim().toLowerCase() || null;

/** A mobile as it is compared: digits without the Spanish prefix; null when none. OPP-03 */
export const phoneKey = (phone: string | null | undefined) =>
  (phone ?? '')
    .replace(/\D/g, '')
    .replace(/^0034/, '')
    .replace(/^34(?=\d{9}$)/, '') || null;
