// A consumer's program with tRPC's own client, its inference and TanStack Query, on the router type of albaran-client.
import { QueryClient, useMutation, useQuery } from '@tanstack/react-query';
import { createTRPCClient, httpBatchLink } from '@trpc/client';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import { createTRPCContext, createTRPCOptionsProxy } from '@trpc/tanstack-react-query';
import type { ProductsListOutput } from 'albaran-client';
import type { AppRouter } from 'albaran-client/trpc';
import superjson from 'superjson';

export const client = createTRPCClient<AppRouter>({
  links: [httpBatchLink({ url: 'http://127.0.0.1/trpc', transformer: superjson })],
});
export const trpc = createTRPCOptionsProxy<AppRouter>({ client, queryClient: new QueryClient() });
const { useTRPC } = createTRPCContext<AppRouter>();

export function useProducts() {
  const api = useTRPC();
  const { data, error } = useQuery(api.products.list.queryOptions({ busqueda: 'tornillo' }));
  const funnels = useQuery(api.funnels.list.queryOptions());
  const create = useMutation(api.opportunities.create.mutationOptions({ onSuccess: (number: number) => number }));
  // @ts-expect-error not a parameter
  useQuery(api.products.list.queryOptions({ buscar: 'tornillo' }));
  // @ts-expect-error a required field is missing
  create.mutate({ datos: { funnel_fk: 1, etapa_fk: 1 } });
  // @ts-expect-error a field that the answer does not have
  data?.productos;
  const page: ProductsListOutput | undefined = data;
  const fields: string[] | undefined = error?.data?.fields.map(({ campo }) => campo);
  return { page, fields, funnels: funnels.data?.total_funnels };
}

export const filter: inferRouterInputs<AppRouter>['timeEntries']['list'] = {
  fecha_inicio: '2026-01-01',
  fecha_fin: '2026-01-31',
};
export const total = (page: inferRouterOutputs<AppRouter>['products']['list']): number => page.total_articulos;
// @ts-expect-error a write is no query
export const wrong = () => client.opportunities.create.query({});
