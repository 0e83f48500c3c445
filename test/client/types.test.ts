// Type tests of the client: `tsc` fails if a type is not as stated.
import { expectTypeOf, test } from 'vitest';
import type {
  AlbaranClient,
  AlbaranError,
  ApiPromise,
  CallOptions,
  DeliveryNotesCreateInput,
  FieldProblem,
  OpportunitiesListInput,
  ProductsListInput,
  ProductsListOutput,
  ResponseMeta,
  TimeEntriesListInput,
  TimeEntriesListOutput,
  WriteOptions,
} from '../../client/src/index.ts';

type Method<
  Resource extends keyof AlbaranClient,
  Verb extends keyof AlbaranClient[Resource],
> = AlbaranClient[Resource][Verb];

test('a read takes its input and options, and the input can be left out where none of it is required', () => {
  type List = Method<'products', 'list'>;
  expectTypeOf<Parameters<List>>().toEqualTypeOf<[input?: ProductsListInput, options?: CallOptions]>();
  expectTypeOf<ReturnType<List>>().toEqualTypeOf<ApiPromise<ProductsListOutput>>();
  expectTypeOf<Awaited<ReturnType<List>>>().toEqualTypeOf<ProductsListOutput>();
  type Entries = Method<'timeEntries', 'list'>;
  expectTypeOf<Parameters<Entries>>().toEqualTypeOf<[input: TimeEntriesListInput, options?: CallOptions]>();
});

test('a call gives its data with the metadata of its response', () => {
  type Create = Awaited<ReturnType<ReturnType<Method<'opportunities', 'create'>>['withResponse']>>;
  expectTypeOf<Create>().toEqualTypeOf<{ data: number; meta: ResponseMeta }>();
});

test('a list in pages gives each of them with the type of the list', () => {
  type Pages = Method<'timeEntries', 'list'>['pages'];
  expectTypeOf<ReturnType<Pages>>().toEqualTypeOf<AsyncGenerator<TimeEntriesListOutput, void, undefined>>();
  expectTypeOf<Parameters<Pages>>().toEqualTypeOf<[input: TimeEntriesListInput, options?: CallOptions]>();
  type Items = Method<'timeEntries', 'list'>['items'];
  type Entry = TimeEntriesListOutput['fichajes'][number];
  expectTypeOf<ReturnType<Items>>().toEqualTypeOf<AsyncGenerator<Entry, void, undefined>>();
  expectTypeOf<Method<'funnels', 'list'>>().not.toHaveProperty('pages');
});

test('[IDEM-01] a write takes an idempotency key, a read does not', () => {
  type Create = Method<'deliveryNotes', 'create'>;
  expectTypeOf<Parameters<Create>>().toEqualTypeOf<[input: DeliveryNotesCreateInput, options?: WriteOptions]>();
  expectTypeOf<CallOptions>().not.toHaveProperty('idempotencyKey');
});

test('[ID-01] [ID-03] ids are taken as texts or numbers, and given as texts', () => {
  expectTypeOf<OpportunitiesListInput['funnel_fk']>().toEqualTypeOf<string | number | undefined>();
  type Entry = TimeEntriesListOutput['fichajes'][number];
  expectTypeOf<Entry['empleado']['empleadoId']>().toEqualTypeOf<string>();
  expectTypeOf<Entry['proyectoId']>().toEqualTypeOf<string | null>();
});

test('closed lists of values are unions, amounts numbers', () => {
  expectTypeOf<OpportunitiesListInput['resultado']>().toEqualTypeOf<'abierta' | 'ganado' | 'perdido' | undefined>();
  expectTypeOf<ProductsListOutput['articulos'][number]['coste']>().toEqualTypeOf<number>();
});

test('no answer is `any`, nor an error', () => {
  type Answers = {
    [Resource in keyof AlbaranClient]: {
      [Verb in keyof AlbaranClient[Resource]]: AlbaranClient[Resource][Verb] extends (
        ...args: never[]
      ) => Promise<infer Answer>
        ? 0 extends 1 & Answer
          ? [Resource, Verb]
          : never
        : [Resource, Verb];
    }[keyof AlbaranClient[Resource]];
  }[keyof AlbaranClient];
  expectTypeOf<Answers>().toEqualTypeOf<never>();
  expectTypeOf<AlbaranError['fields']>().toEqualTypeOf<readonly FieldProblem[]>();
  expectTypeOf<AlbaranError['retryAfterSeconds']>().toEqualTypeOf<number | undefined>();
});

test('[TIM-01] what must not compile does not', () => {
  // Never called.
  const wrong = (client: AlbaranClient) => {
    // @ts-expect-error: not a parameter
    client.products.list({ buscar: 'tornillo' });
    // @ts-expect-error: a parameter of another type
    client.products.list({ bajo_minimo: 'true' });
    // @ts-expect-error: not a value of the list
    client.opportunities.list({ resultado: 'ganada' });
    // @ts-expect-error: a required parameter is missing
    client.timeEntries.list({ fecha_inicio: '2026-01-01' });
    // @ts-expect-error: the required input is missing
    client.employees.get();
    // @ts-expect-error: a required field inside the input is missing
    client.opportunities.create({ datos: { funnel_fk: 1, etapa_fk: 1 } });
    // @ts-expect-error: not an operation
    client.products.remove({ articuloId: 1 });
    // @ts-expect-error: working time is read-only
    client.timeEntries.create({ empleadoId: 1 });
    // @ts-expect-error: a read takes no idempotency key
    client.products.list({}, { idempotencyKey: 'k' });
    // @ts-expect-error: a field that the answer does not have
    client.products.list().then(({ productos }) => productos);
  };
  expectTypeOf(wrong).toBeFunction();
});
