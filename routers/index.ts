// Every operation, by area and resource: `products.list` is the tRPC path and the client's `client.products.list`.
import { account } from './account/index.ts';
import { catalogue } from './catalogue/index.ts';
import { clients } from './clients/index.ts';
import { crm } from './crm/index.ts';
import { router } from './operation.ts';
import { projects } from './projects/index.ts';
import { purchases } from './purchases/index.ts';
import { recurring } from './recurring/index.ts';
import { documents, estimates, sales } from './sales/index.ts';
import { time } from './time/index.ts';
import { treasury } from './treasury/index.ts';

/** Areas group operations for people and for assistants that want a part of the tools (`/mcp/?areas=crm,time`). */
export const areas = {
  crm,
  catalogue,
  clients,
  estimates,
  sales,
  documents,
  recurring,
  purchases,
  projects,
  time,
  treasury,
  account,
};

export const appRouter = router({
  ...crm,
  ...catalogue,
  ...clients,
  ...estimates,
  ...sales,
  ...documents,
  ...recurring,
  ...purchases,
  ...projects,
  ...time,
  ...treasury,
  ...account,
});
