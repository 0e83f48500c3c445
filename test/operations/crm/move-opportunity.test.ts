import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-07-01T10:00:00Z') });
afterAll(() => server.stop());

const records: FileRecord[] = [
  {
    coleccion: 'funnels',
    ref: 'ventas',
    titulo: 'Ventas',
    etapas: [
      { ref: 'nuevo', id: 1, titulo: 'Nuevo' },
      { ref: 'visita', id: 2, titulo: 'Visita' },
      { ref: 'oferta', id: 4, titulo: 'Oferta' },
    ],
  },
  { coleccion: 'funnels', ref: 'manten', titulo: 'Manten.', etapas: [{ ref: 'alta', id: 3, titulo: 'Alta' }] },
  {
    coleccion: 'oportunidades',
    ref: 'o',
    id: 7,
    titulo: 'Placas',
    funnel: 'ventas',
    etapa: 'nuevo',
    fecha_creacion: '2026-06-01 10:00:00',
  },
];
const move = (company: Company, etapa_fk: unknown, id: unknown = 7, more?: Record<string, string>) =>
  company.put(`/crm/opportunities/${id}/stage`, { etapa_fk }, more);

/** Stage and version of the opportunity, and how often the journal has it moved. */
async function stored(company: Company) {
  const { rows } = await server.service.database.pool.query<{ stage: number; version: number }>(
    'select stage_id as stage, version from opportunities where account_id = $1',
    [company.id],
  );
  const { rowCount } = await server.service.database.pool.query(
    `select from journal_entries where account_id = $1 and operation = 'moverOportunidad' and record_id = 7`,
    [company.id],
  );
  return { ...rows[0], moved: rowCount };
}

test('an open opportunity goes to any stage of its funnel, forwards and back', async () => {
  const acme = await server.company(records);
  const { status, body } = await move(acme, 4);
  expect(status).toBe(200);
  expect(body.data).toEqual({
    oportunidadId: expect.any(String),
    titulo: 'Placas',
    etapa_anterior: { etapaId: expect.any(String), etapa: 'Nuevo' },
    etapa: { etapaId: expect.any(String), etapa: 'Oferta' },
  });
  expect(await stored(acme)).toEqual({ stage: 4, version: 2, moved: 1 });
  const { oportunidadId, etapa_anterior } = body.data;
  const back = await move(acme, etapa_anterior.etapaId, oportunidadId);
  expect(back.body.data).toMatchObject({ etapa_anterior: { etapa: 'Oferta' }, etapa: etapa_anterior });
  expect((await acme.get('/crm/opportunities/7')).body.data.oportunidad.etapa).toEqual(etapa_anterior);
});

test('to the stage it is in, nothing changes', async () => {
  const acme = await server.company(records);
  const { status, body } = await move(acme, 1);
  expect(status).toBe(200);
  expect(body.data.etapa).toEqual(body.data.etapa_anterior);
  expect(await stored(acme)).toEqual({ stage: 1, version: 1, moved: 0 });
});

test('[ID-05] a stage of another funnel is a 400', async () => {
  const acme = await server.company(records);
  const { status, body } = await move(acme, 3);
  expect([status, body.data]).toMatchObject([400, [{ campo: 'etapa_fk' }]]);
  expect((await move(acme, undefined)).body.data).toMatchObject([{ campo: 'etapa_fk' }]);
  expect(await stored(acme)).toEqual({ stage: 1, version: 1, moved: 0 });
});

test('a closed opportunity stays where it is, until it is reopened', async () => {
  const acme = await server.company(records);
  for (const resultado of ['ganado', 'perdido']) {
    await acme.put('/crm/opportunities/7/close', { resultado });
    for (const etapa of [1, 2]) {
      const { status, body } = await move(acme, etapa);
      expect([status, body.data]).toMatchObject([400, [{ campo: 'oportunidadId' }]]);
    }
  }
  await acme.put('/crm/opportunities/7/close', { resultado: 'abierta' });
  expect((await move(acme, 2)).status).toBe(200);
});

test('moves at once follow each other: each starts where another ended', async () => {
  const acme = await server.company(records);
  const targets = Array.from({ length: 12 }, (_, index) => [2, 4][index % 2]);
  const answers = await Promise.all(targets.map((etapa) => move(acme, etapa)));
  const steps = answers.map(({ body }) => [body.data.etapa_anterior.etapa, body.data.etapa.etapa]);
  expect(steps.filter(([from]) => from === 'Nuevo')).toHaveLength(1);
  const changes = steps.filter(([from, to]) => from !== to).length;
  expect((await stored(acme)).version).toBe(1 + changes);
  // A move that left a stage also arrived at one.
  for (const stage of ['Visita', 'Oferta']) {
    const came = steps.filter(([from, to]) => to === stage && from !== stage).length;
    const left = steps.filter(([from, to]) => from === stage && to !== stage).length;
    expect([0, 1]).toContain(came - left);
  }
});

test('[IDEM-01] the same key moves once', async () => {
  const acme = await server.company(records);
  const key = { 'x-idempotency-key': 'mover-7' };
  const first = await move(acme, 2, 7, key);
  await move(acme, 4);
  const again = await move(acme, 2, 7, key);
  expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([first.body, 'true']);
  expect(await stored(acme)).toMatchObject({ stage: 4, version: 3 });
});

test('[AUTH-04] [TEN-01] a read-only key moves nothing; another company finds neither', async () => {
  const readOnly = await server.company(records, { readOnly: true });
  expect((await move(readOnly, 2)).status).toBe(403);
  expect(await stored(readOnly)).toEqual({ stage: 1, version: 1, moved: 0 });

  const acme = await server.company(records);
  const other = await server.company(records.slice(0, 2));
  const { oportunidadId, etapa } = (await acme.get('/crm/opportunities/7')).body.data.oportunidad;
  for (const id of [oportunidadId, 7, 99]) expect((await move(other, 2, id)).status).toBe(404);
  for (const stage of [99, 'x']) {
    const { status, body } = await move(acme, stage);
    expect([status, body.errorMsg]).toEqual([404, 'No existe el registro indicado en etapa_fk']);
  }
  expect((await move(other, etapa.etapaId)).status).toBe(404);
  expect(await stored(acme)).toEqual({ stage: 1, version: 1, moved: 0 });
});
