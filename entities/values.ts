// The values that some columns may have, and what is kept of a party: by themselves, since the service runs without the entities.

/** Schemes of VAT beside the general one: cash accounting. DOC-01 */
export const VAT_SCHEMES = ['caja'] as const;

/** The letters that numbers of documents begin with where the company has no other series: `A2026-0001`. DLV-02 */
export const NUMBER_LETTERS = { delivery_note: 'A', invoice: 'F', rectification: 'R', estimate: 'P' } as const;

/** What a document keeps of its client, as it was when the document was issued. W-06 */
export const PARTY_COLUMNS = [
  'legal_name',
  'tax_id',
  'email',
  'address',
  'postal_code',
  'city',
  'province',
  'country',
] as const;

/** SQL for what a document that is issued now keeps of its client, the row `client`. */
export const partyOf = (client: string) =>
  `jsonb_build_object(${PARTY_COLUMNS.map((column) => `'${column}', ${client}.${column}`).join(', ')})`;

/** Why a line has no VAT: E1 to E6 exempt, N1 and N2 not subject, S2 reverse charge. DOC-02 */
export const EXEMPTIONS = ['E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'N1', 'N2', 'S2'] as const;

/** What an invoice is that rectifies another, as the tax agency calls it. DOC-02 */
export const RECTIFICATION_TYPES = ['R1', 'R2', 'R3', 'R4', 'R5'] as const;

export const ESTIMATE_STATES = ['pending', 'accepted', 'rejected'] as const;

export const PERIODICITIES = [
  'weekly',
  'fortnightly',
  'monthly',
  'bimonthly',
  'quarterly',
  'half-yearly',
  'yearly',
] as const;

/** The tables of documents that are sealed, in the order in which their chains are locked. DOC-01 */
export const SEALED_TABLES = ['delivery_notes', 'estimates', 'invoices'] as const;
export type SealedTable = (typeof SEALED_TABLES)[number];

/** What a seal over what a document says is made for: it was issued or imported, or a person was removed from it. */
export const CONTENT_ACTIONS = ['issue', 'import', 'anonymise'] as const;
/** The same, and what happened to a document later. */
export const SEAL_ACTIONS = [...CONTENT_ACTIONS, 'annul', 'rectify', 'accept', 'reject', 'reopen', 'convert'] as const;
export type SealAction = (typeof SEAL_ACTIONS)[number];

/** Where registers are sent, and where the codes on invoices lead: to the agency's test service, or the real one. */
export const REGISTER_MODES = ['pruebas', 'produccion'] as const;
export type RegisterMode = (typeof REGISTER_MODES)[number];

export const REGISTER_TYPES = ['alta', 'anulacion'] as const;
export type RegisterType = (typeof REGISTER_TYPES)[number];

export const REGISTER_STATES = ['accepted', 'accepted_with_errors', 'rejected'] as const;
export type RegisterState = (typeof REGISTER_STATES)[number];
