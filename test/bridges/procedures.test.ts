// Operations as tRPC procedures: what tRPC and its tools see of them, and invalid answers.
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operations } from '../../bridges/operations.ts';
import type { CallContext } from '../../platform/context.ts';
import { asApiError } from '../../platform/errors.ts';
import { metaOf, operation } from '../../routers/operation.ts';
import { sealedId } from '../../routers/shared/id.ts';
import { startServer } from '../helpers/world.ts';

const server = await startServer();
const unchecked = await startServer({ checkOutputs: false });
afterAll(() => Promise.all([server.stop(), unchecked.stop()]));

test('every procedure has its input’s schema, where tRPC’s tools look for it', () => {
  for (const { path, procedure, input } of operations) expect(procedure._def.inputs, path).toEqual([input]);
});

describe('an answer against its schema', () => {
  const write = operation({
    title: 'Prueba',
    description: 'Prueba',
    rest: ['POST /test'],
    alias: 'probar',
    scope: 'svc.write',
    input: { nombre: z.string() },
    output: z.object({ contactoId: sealedId('contact'), nombre: z.string().max(3) }),
    async handler({ input: { nombre }, db, accountId, journal }) {
      const { rows } = await sql<{ id: number }>`
        insert into contacts (account_id, name, search) values (${accountId}, ${nombre}, ${nombre}) returning id`.execute(
        db,
      );
      const [{ id } = { id: 0 }] = rows;
      journal('create', 'contact', id);
      return { contactoId: id, nombre };
    },
  });

  type Call = (ctx: CallContext, input: object) => Promise<unknown>;
  const asDoors: Call = (ctx, input) => metaOf(write).run(ctx, () => input);
  const asTrpc: Call = (ctx, input) =>
    write({
      ctx,
      path: 'test',
      type: 'mutation',
      getRawInput: async () => input,
      input: undefined,
      signal: undefined,
      batchIndex: 0,
    });

  async function called(call: Call, nombre: unknown, { service, ...at } = server) {
    const company = await at.company();
    const { 'x-api-key': key, 'x-api-secret': secret } = company.headers;
    const context: CallContext = {
      service,
      door: 'v1',
      requestId: 'r',
      credentials: { key, secret, address: '127.0.0.1' },
      idempotencyKeys: [],
      headers: {},
    };
    const answer = await call(context, { nombre }).catch(asApiError);
    const { body } = await company.get('/crm/contacts');
    return { answer, written: body.data.total_contactos };
  }

  test.each([
    ['as the doors call it', asDoors],
    ['as tRPC calls it', asTrpc],
  ])('is a 500, and what it had written is not there: %s', async (_, call) => {
    expect(await called(call, 'Eva')).toMatchObject({
      answer: { text: expect.stringContaining('"nombre":"Eva"') },
      written: 1,
    });
    expect(await called(call, 'Evangelina')).toMatchObject({ answer: { status: 500 }, written: 0 });
    expect(await called(call, 7)).toMatchObject({ answer: { status: 400, fields: [{ campo: 'nombre' }] }, written: 0 });
  });

  test('goes out as it is where answers are not checked', async () => {
    const { answer, written } = await called(asDoors, 'Evangelina', unchecked);
    expect({ answer, written }).toMatchObject({ answer: { text: expect.any(String) }, written: 1 });
  });
});
