// A caller of the published client's source and one of plain REST, in one process and in turns: milliseconds until a page of
// products is an object, one call after another.
import { createClient } from '../../client/src/index.ts';

interface Question {
  origin: string;
  headers: Record<string, string>;
  pageSize: number;
  seconds: number;
}

process.on('message', async ({ origin, headers, pageSize, seconds }: Question) => {
  const { 'x-api-key': apiKey = '', 'x-api-secret': apiSecret = '' } = headers;
  const client = createClient({ baseUrl: origin, apiKey, apiSecret });
  const viaClient = () => client.products.list({ por_pagina: pageSize });
  const viaRest = async () => {
    const response = await fetch(`${origin}/api/v1/products?por_pagina=${pageSize}`, { headers });
    return await response.json();
  };
  const times = { client: [] as number[], rest: [] as number[] };
  const turn = async (kept: boolean) => {
    for (const [name, call] of [
      ['client', viaClient],
      ['rest', viaRest],
    ] as const) {
      const begun = performance.now();
      await call();
      if (kept) times[name].push(performance.now() - begun);
    }
  };
  for (let warm = 0; warm < 20; warm++) await turn(false);
  for (const until = performance.now() + seconds * 1000; performance.now() < until; ) await turn(true);
  process.send?.({ clientMs: median(times.client), restMs: median(times.rest) });
});

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
