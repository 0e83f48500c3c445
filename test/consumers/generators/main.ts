// Uses clients that four generators made from the document. It must compile and never runs. Each moves an opportunity through
// the path, which has the id, and through the alias, whose body has it.
import * as heyApi from './hey-api';
import * as kubb from './kubb/index.ts';
import * as oazapfts from './oazapfts.ts';
import * as orval from './orval/client.ts';

const id = 'oportunidad';
const body = { etapa_fk: 12 };
const whole = { oportunidadId: id, etapa_fk: 'etapa' };

export async function moved(): Promise<string[]> {
  const byHeyApi = await heyApi.moverOportunidad({ path: { oportunidadId: id }, body });
  const byOazapfts = await oazapfts.moverOportunidad(id, body, { xIdempotencyKey: 'k' });
  const byOrval = await orval.moverOportunidad(id, body, { headers: { 'X-IDEMPOTENCY-KEY': 'k' } });
  return [
    byHeyApi.data?.data.etapa.etapa ?? '',
    (await kubb.moverOportunidad(id, body, { 'X-IDEMPOTENCY-KEY': 'k' })).data.etapa.etapa,
    byOazapfts.status === 200 ? byOazapfts.data.data.etapa.etapa : byOazapfts.data.errorMsg,
    byOrval.status === 200 ? byOrval.data.data.etapa.etapa : byOrval.data.errorMsg,
  ];
}

export async function movedByAlias(): Promise<(string | undefined)[]> {
  const byOazapfts = await oazapfts.moverOportunidadV0(whole);
  const byOrval = await orval.moverOportunidadV0(whole);
  return [
    (await heyApi.moverOportunidadV0({ body: whole })).data?.data.titulo,
    (await kubb.moverOportunidadV0(whole)).data.titulo,
    byOazapfts.status === 200 ? byOazapfts.data.data.titulo : byOazapfts.data.errorMsg,
    byOrval.status === 200 ? byOrval.data.data.titulo : byOrval.data.errorMsg,
  ];
}

/** Lists that may be read some seconds late; an empty text means no error. */
export async function listed(): Promise<string[]> {
  const { errorMsg, data } = await kubb.consultarProductos({ busqueda: 'cable' }, { 'X-Max-Lag': '2.5' });
  const { data: byHeyApi } = await heyApi.consultarProductos({ headers: { 'X-Max-Lag': '2.5' } });
  return [errorMsg, ...[...data.articulos, ...(byHeyApi?.data.articulos ?? [])].map(({ descripcion }) => descripcion)];
}

export function wrong(): void {
  // @ts-expect-error the body needs its stage
  heyApi.moverOportunidad({ path: { oportunidadId: id }, body: {} });
  // @ts-expect-error the body needs its stage
  kubb.moverOportunidad(id, {});
  // @ts-expect-error the body needs its stage
  oazapfts.moverOportunidad(id, {});
  // @ts-expect-error the body needs its stage
  orval.moverOportunidad(id, {});
  // @ts-expect-error the alias needs the opportunity
  heyApi.moverOportunidadV0({ body });
  // @ts-expect-error the alias needs the opportunity
  kubb.moverOportunidadV0(body);
  // @ts-expect-error the alias needs the opportunity
  oazapfts.moverOportunidadV0(body);
  // @ts-expect-error the alias needs the opportunity
  orval.moverOportunidadV0(body);
}
