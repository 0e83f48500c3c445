// The connector gave a refusal in the MCP specification's words, without the name of the argument.
import { expect, test } from 'vitest';
import { startServer } from '../helpers/world.ts';
import { callMcp, toolCall } from '../oauth/application.ts';

test('[MCP-04] [REN-05] a range that is too long is refused with the name of its end', async () => {
  await using server = await startServer();
  const { headers } = await server.company();
  const range = { fecha_inicio: '2020-01-01', fecha_fin: '2026-01-01' };
  const call = toolCall('consultar_prevision_tesoreria', range);
  const { body } = await callMcp(server, undefined, call, { headers });
  expect(body.result).toEqual({
    isError: true,
    content: [{ type: 'text', text: 'El rango máximo es de 5 años\n- fecha_fin: El rango máximo es de 5 años' }],
  });
});
