// tRPC passes any JSON as input: one that is no object was refused without a reason.
import { expect, test } from 'vitest';
import { startServer } from '../helpers/world.ts';

test('[ENV-03] an input that is no object is told so, in a sentence of its own', async () => {
  await using server = await startServer();
  const { headers } = await server.company();
  for (const input of ['x', 5, [], true]) {
    const asked = encodeURIComponent(JSON.stringify({ json: input }));
    const { status, body } = await server.request(`/trpc/clients.list?input=${asked}`, { headers });
    expect([status, Reflect.get(body, 'error').json.message]).toEqual([
      400,
      'Los datos de entrada tienen que ser un objeto JSON',
    ]);
  }
});
