// How a client is shown where clients are what was asked for.
import { z } from 'zod';
import { clientOf as blockOf, type ClientRow, client as clientBlock } from '../projects/project.ts';

/** The `cliente` block and the number of the client's price list: list 1 for clients without one of their own. TAR-01 */
export const client = clientBlock.extend({ tarifa: z.int() });

export const CLIENT_COLUMNS = [
  'c.id as client_id',
  'c.legal_name',
  'c.trade_name',
  'c.tax_id',
  'c.email',
  'c.phone',
  'c.mobile',
  'c.allows_email',
  'c.allows_whatsapp',
  'c.allows_sms',
  'c.allows_images',
  'c.price_list',
] as const;

export const clientOf = (row: ClientRow & { price_list: number | null }) => ({
  ...blockOf(row),
  tarifa: row.price_list ?? 1,
});
