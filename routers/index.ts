// Every operation, by area and resource: `products.list` is the tRPC path and the client's `client.products.list`.
import { router } from './operation.ts';
import { time } from './time/index.ts';

/** Areas group operations for people and for assistants that want a part of the tools (`/mcp/?areas=time`). */
export const areas = { time };

export const appRouter = router({ ...time });
