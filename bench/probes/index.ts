// Measurements other than load: start time, memory, the cost of REST beyond its rows, the typed client, and a working day.
import type { Headers } from '../caller.ts';
import type { Loader } from '../load/loader.ts';
import type { RequestSpec } from '../load/requests.ts';
import { type Server, startProduct } from '../processes.ts';
import { ask } from './ask.ts';
import { type Day, dayOf } from './day.ts';
import { type Memory, memoryOf } from './memory.ts';

export interface ProbeWorld {
  databaseUrl: string;
  product: Server;
  headers: Headers;
  loader: Loader;
  /** Duration of repeated measurements. */
  seconds: number;
  /** Requests before memory is read. */
  requests: number;
}

export interface Probes {
  /** Milliseconds from the start of the process to its first answer, for several starts. */
  start: number[];
  memory: Memory;
  /** Milliseconds of the server's processor time to read and decode the rows of a page of 100 products. */
  rows: { cpuMs: number; statements: number };
  /** Milliseconds until a page of 100 products is an object. */
  client: { clientMs: number; restMs: number };
  day: Day;
}

const STARTS = 3;
const PAGE = 100;

/** Names for `--only`; each is measured alone. */
export const PROBES = ['start', 'memory', 'rows', 'client', 'day'] as const;

export async function probe(
  { databaseUrl, product, headers, loader, seconds, requests }: ProbeWorld,
  isWanted: (name: string) => boolean,
  kinds: readonly RequestSpec[],
): Promise<Partial<Probes>> {
  const found: Partial<Probes> = {};
  if (isWanted('rows')) {
    const path = `/api/v1/products?por_pagina=${PAGE}`;
    found.rows = await ask<Probes['rows']>('read-rows', { databaseUrl, headers, path, seconds });
  }
  if (isWanted('client')) {
    const question = { origin: product.origin, headers, pageSize: PAGE, seconds };
    found.client = await ask<Probes['client']>('typed-client', question);
  }
  if (isWanted('day')) found.day = await dayOf(product, headers);
  if (isWanted('start')) {
    found.start = [];
    for (let index = 0; index < STARTS; index++) {
      await using server = await startProduct(databaseUrl);
      found.start.push(server.startMs);
    }
  }
  if (isWanted('memory')) {
    await using fresh = await startProduct(databaseUrl);
    found.memory = await memoryOf(loader, fresh, kinds, requests);
  }
  return found;
}
