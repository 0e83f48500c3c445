// The client package's router type, with tRPC's own client and inference against a real server.
import { createTRPCClient, httpBatchLink, httpLink, splitLink, TRPCClientError } from '@trpc/client';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import superjson from 'superjson';
import { afterAll, describe, expect, expectTypeOf, test } from 'vitest';
import type {
  ContactsCreateOutput,
  OpportunitiesCreateInput,
  ProductsListInput,
  ProductsListOutput,
  TimeEntriesListInput,
} from '../../client/src/index.ts';
import type { AppRouter, ErrorShape } from '../../client/src/trpc.ts';
import type { appRouter } from '../../routers/index.ts';
import { startServer } from '../helpers/world.ts';

type Inputs = inferRouterInputs<AppRouter>;
type Outputs = inferRouterOutputs<AppRouter>;

const server = await startServer();
afterAll(() => server.stop());

async function clientOf() {
  const { headers } = await server.company([
    { coleccion: 'articulos', ref: 'm4', descripcion: 'Tornillo M4' },
    { coleccion: 'funnels', ref: 'f', id: 1, titulo: 'Ventas', etapas: [{ ref: 'e', id: 1, titulo: 'Nuevo' }] },
  ]);
  const common = { url: `${server.url}/trpc`, headers, transformer: superjson };
  const links = [
    splitLink({ condition: ({ type }) => type === 'query', true: httpBatchLink(common), false: httpLink(common) }),
  ];
  return createTRPCClient<AppRouter>({ links });
}

describe("with tRPC's own client", () => {
  test('reads and writes have their types, and what is required is required', async () => {
    const client = await clientOf();
    const [products, funnels] = await Promise.all([
      client.products.list.query({ busqueda: 'tornillo' }),
      client.funnels.list.query(),
    ]);
    expectTypeOf(products).toEqualTypeOf<ProductsListOutput>();
    expect(products.articulos.map(({ descripcion }) => descripcion)).toEqual(['Tornillo M4']);
    const [funnel] = funnels.funnels;
    const lead: OpportunitiesCreateInput = {
      datos: { funnel_fk: funnel?.funnelId ?? '', etapa_fk: 1, descripcion: 'Toldos' },
    };
    const number: number = await client.opportunities.create.mutate(lead);
    const { oportunidades } = await client.opportunities.list.query({});
    expect([number, oportunidades.map(({ titulo }) => titulo)]).toEqual([expect.any(Number), ['Toldos']]);
    // @ts-expect-error: both dates are required
    await expect(client.timeEntries.list.query({ fecha_inicio: '2026-01-01' })).rejects.toThrow('fecha_fin');
    // @ts-expect-error: a write is no query
    expect(client.opportunities.create.query).toBeDefined();
  });

  test('[W-03] a creation says whether the record was there', async () => {
    const client = await clientOf();
    const create = () => client.contacts.create.mutate({ datos: { email: 'eva@example.com' } });
    const first = await create();
    expectTypeOf(first).toEqualTypeOf<ContactsCreateOutput>();
    expect([first.existente, (await create()).existente]).toEqual([false, true]);
  });

  test('[ENV-02] an error has its fields, typed', async () => {
    const client = await clientOf();
    const error = await client.products.list.query({ pagina: 0 }).catch((failure: unknown) => failure);
    expect(isOurs(error)).toBe(true);
    if (!isOurs(error)) return;
    expectTypeOf(error.shape).toEqualTypeOf<ErrorShape | undefined | null>();
    expect(error.data).toMatchObject({ errorCode: 400, path: 'products.list', fields: [{ campo: 'pagina' }] });
    // No field beyond the type.
    const names: Record<keyof ErrorShape['data'], true> = {
      code: true,
      httpStatus: true,
      path: true,
      errorCode: true,
      errorMsg: true,
      fields: true,
      requestId: true,
      retryAfterSeconds: true,
    };
    expect(Object.keys(error.data ?? {}).filter((name) => !(name in names))).toEqual([]);
  });
});

const isOurs = (error: unknown): error is TRPCClientError<AppRouter> => error instanceof TRPCClientError;

describe("tRPC's inference", () => {
  test('gives the types of the operations', () => {
    expectTypeOf<Outputs['products']['list']>().toEqualTypeOf<ProductsListOutput>();
    expectTypeOf<Inputs['timeEntries']['list']>().toEqualTypeOf<TimeEntriesListInput>();
    expectTypeOf<Extract<Inputs['products']['list'], object>>().toEqualTypeOf<ProductsListInput>();
    expectTypeOf<undefined>().toExtend<Inputs['products']['list']>();
  });

  test('is that of the service: what it takes is taken, what it answers is told', () => {
    type ServerInputs = inferRouterInputs<typeof appRouter>;
    type ServerOutputs = inferRouterOutputs<typeof appRouter>;
    expectTypeOf<Inputs>().toExtend<ServerInputs>();
    expectTypeOf<ServerInputs>().toExtend<Inputs>();
    expectTypeOf<ServerOutputs>().toExtend<Outputs>();
    expectTypeOf<Outputs>().toExtend<ServerOutputs>();
  });

  test('knows what is a query and what a mutation, as the service does', () => {
    type Kinds<Record> = {
      [Resource in keyof Record]: {
        [Verb in keyof Record[Resource]]: Record[Resource][Verb] extends { _def: { type: infer Type } } ? Type : never;
      };
    };
    type Ours = Kinds<AppRouter['_def']['record']>;
    expectTypeOf<Ours>().toEqualTypeOf<Kinds<(typeof appRouter)['_def']['record']>>();
    expectTypeOf<Ours['opportunities']['create']>().toEqualTypeOf<'mutation'>();
    expectTypeOf<Ours['opportunities']['list']>().toEqualTypeOf<'query'>();
  });
});
