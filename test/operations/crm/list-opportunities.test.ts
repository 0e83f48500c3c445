import { afterAll, expect, test } from 'vitest';
import { type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const server = await startServer({ clock: new TestClock('2026-07-01T21:30:15.5Z') });
afterAll(() => server.stop());

const opportunity = (id: number, fecha_creacion: string, more: object = {}): FileRecord => ({
  coleccion: 'oportunidades',
  ref: `o${id}`,
  id,
  titulo: `O${id}`,
  funnel: 'ventas',
  etapa: 'nuevo',
  fecha_creacion,
  ...more,
});
const records: FileRecord[] = [
  {
    coleccion: 'funnels',
    ref: 'ventas',
    id: 1,
    titulo: 'Ventas',
    etapas: [
      { ref: 'nuevo', id: 1, titulo: 'Nuevo' },
      { ref: 'visita', id: 2, titulo: 'Visita' },
    ],
  },
  { coleccion: 'funnels', ref: 'manten', id: 2, titulo: 'Manten.', etapas: [{ ref: 'alta', id: 3, titulo: 'Alta' }] },
  { coleccion: 'canales', ref: 'web', titulo: 'Web' },
  { coleccion: 'motivos_perdida', ref: 'precio', motivo: 'Precio' },
  { coleccion: 'contactos', ref: 'eva', id: 8, nombre: 'Eva', empresa: 'Nilo', email: 'e@nilo.es', movil: '600112233' },
  opportunity(11, '2026-03-01 00:00:00', { canal: 'web', contacto: 'eva' }),
  opportunity(12, '2026-02-28 23:59:59', { etapa: 'visita', estado: 'ganado', fecha_cierre: '2026-03-09 08:05:00' }),
  opportunity(13, '2026-03-31 23:59:59', {
    funnel: 'manten',
    etapa: 'alta',
    estado: 'perdido',
    motivo: 'precio',
    valor: 1234.5,
    fecha_cierre: '2026-04-01 10:00:00',
  }),
  opportunity(15, '2026-04-01 00:00:00'),
  opportunity(14, '2026-04-01 00:00:00', { contacto: 'eva' }),
];
const titles = (body: { data: { oportunidades: { titulo: string }[] } }) =>
  body.data.oportunidades.map(({ titulo }) => titulo);

test('everything about each, and [ENV-08] "" for what is not set', async () => {
  const acme = await server.company(records);
  const lost = (await acme.get('/crm/opportunities/13')).body.data;
  expect(lost).toEqual({
    oportunidad: {
      oportunidadId: expect.any(String),
      titulo: 'O13',
      funnel: { funnelId: expect.any(String), funnel: 'Manten.' },
      etapa: { etapaId: expect.any(String), etapa: 'Alta' },
      canal: { canalId: '', canal: '' },
      contacto: { contactoId: '', nombre: '', empresa: '', email: '', movil: '' },
      resultado: 'perdido',
      valor_cierre: 1234.5,
      fecha_creacion: '2026-03-31 23:59:59',
      fecha_cierre: '2026-04-01 10:00:00',
      motivo: 'Precio',
      cliente: null,
      comentarios: '',
    },
  });
  const open = (await acme.get('/crm/opportunities/11')).body.data.oportunidad;
  expect(open).toMatchObject({
    canal: { canalId: expect.stringMatching(/^.{23}$/), canal: 'Web' },
    contacto: {
      contactoId: expect.stringMatching(/^.{23}$/),
      nombre: 'Eva',
      empresa: 'Nilo',
      email: 'e@nilo.es',
      movil: '600112233',
    },
    resultado: 'abierta',
    valor_cierre: null,
    fecha_creacion: '2026-03-01 00:00:00',
    fecha_cierre: '',
    motivo: '',
  });
  const { body } = await acme.get('/crm/opportunities', {
    contactoId: open.contacto.contactoId,
    fecha_fin: '2026-03-01',
  });
  const { cliente, comentarios, ...listed } = open;
  expect([body.data.oportunidades, cliente, comentarios]).toEqual([[listed], null, '']);
  expect((await acme.get(`/crm/opportunities/${open.oportunidadId}`)).body.data.oportunidad).toEqual(open);
});

test('[ID-04] an opportunity just created is read by its number, and [CLO-01] again as it was closed', async () => {
  const acme = await server.company(records);
  const datos = { funnel_fk: 1, etapa_fk: 2, descripcion: 'Placas', email_contacto: 'leo@x.es' };
  const { data: number } = (await acme.post('/crm/opportunities', { datos })).body;
  const created = (await acme.get(`/crm/opportunities/${number}`)).body.data.oportunidad;
  expect(created).toMatchObject({
    titulo: 'Placas',
    etapa: { etapa: 'Visita' },
    contacto: { nombre: 'leo', email: 'leo@x.es' },
    fecha_creacion: '2026-07-01 23:30:15',
  });
  await acme.put(`/crm/opportunities/${number}/close`, { resultado: 'ganado', valor_cierre: 10 });
  expect((await acme.get(`/crm/opportunities/${number}`)).body.data.oportunidad).toEqual({
    ...created,
    resultado: 'ganado',
    valor_cierre: 10,
    fecha_cierre: '2026-07-01 23:30:15',
  });
});

test('[PAG-02] newest first, then by id, over pages', async () => {
  const acme = await server.company(records);
  const { status, body } = await acme.get('/crm/opportunities');
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ total_oportunidades: 5, pagina: 1, por_pagina: 100, num_paginas: 1 });
  expect(titles(body)).toEqual(['O15', 'O14', 'O13', 'O11', 'O12']);
  expect(titles((await acme.get('/crm/opportunities', { pagina: 2, por_pagina: 2 })).body)).toEqual(['O13', 'O11']);
});

test('[DATE-02] the dates are days of creation in the company’s zone, both ends included', async () => {
  const march = { fecha_inicio: '2026-03-01', fecha_fin: '2026-03-31' };
  for (const zona_horaria of ['Europe/Madrid', 'America/Bogota', 'Pacific/Auckland']) {
    const acme = await server.company(records, { cuenta: { zona_horaria } });
    expect(titles((await acme.get('/crm/opportunities', march)).body), zona_horaria).toEqual(['O13', 'O11']);
  }
  const acme = await server.company(records);
  expect(titles((await acme.get('/crm/opportunities', { fecha_fin: '2026-02-28' })).body)).toEqual(['O12']);
  expect(titles((await acme.get('/crm/opportunities', { fecha_inicio: '2026-04-01' })).body)).toEqual(['O15', 'O14']);
});

test('by funnel, stage, result and contact, together too', async () => {
  const acme = await server.company(records);
  const list = async (query: object) => titles((await acme.get('/crm/opportunities', { ...query })).body);
  expect(await list({ funnel_fk: 2 })).toEqual(['O13']);
  expect(await list({ etapa_fk: 2 })).toEqual(['O12']);
  expect(await list({ funnel_fk: 1, etapa_fk: 1 })).toEqual(['O15', 'O14', 'O11']);
  expect(await list({ resultado: 'abierta' })).toEqual(['O15', 'O14', 'O11']);
  expect(await list({ resultado: 'ganado' })).toEqual(['O12']);
  expect(await list({ resultado: 'perdido' })).toEqual(['O13']);
  expect(await list({ contactoId: 8 })).toEqual(['O14', 'O11']);
  expect(await list({ contactoId: 8, funnel_fk: 1, resultado: 'abierta', fecha_fin: '2026-03-31' })).toEqual(['O11']);
});

test('[ID-05] a stage of another funnel is a 400, and so is an unknown result', async () => {
  const acme = await server.company(records);
  const misplaced = await acme.get('/crm/opportunities', { funnel_fk: 1, etapa_fk: 3 });
  expect([misplaced.status, misplaced.body.data]).toMatchObject([400, [{ campo: 'etapa_fk' }]]);
  const unknown = await acme.get('/crm/opportunities', { resultado: 'won' });
  expect([unknown.status, unknown.body.data]).toMatchObject([400, [{ campo: 'resultado' }]]);
});

test('[TEN-01] another company’s ids are not found', async () => {
  const acme = await server.company(records);
  const other = await server.company();
  const { oportunidadId, funnel, etapa } = (await acme.get('/crm/opportunities/11')).body.data.oportunidad;
  for (const id of [oportunidadId, 11, 99]) expect((await other.get(`/crm/opportunities/${id}`)).status).toBe(404);
  for (const query of [{ funnel_fk: funnel.funnelId }, { etapa_fk: etapa.etapaId }, { contactoId: 8 }]) {
    expect((await other.get('/crm/opportunities', query)).status).toBe(404);
  }
  expect((await other.get('/crm/opportunities')).body.data.oportunidades).toEqual([]);
});

test('[DATE-02] a day that begins twice begins the first time', async () => {
  // In Havana this night has midnight twice: one o'clock is midnight again.
  await using cuban = await startServer({ clock: new TestClock('2026-11-01T04:30:00Z') });
  const acme = await cuban.company(records, { cuenta: { zona_horaria: 'America/Havana' } });
  await acme.post('/crm/opportunities', { datos: { funnel_fk: 1, etapa_fk: 1, descripcion: 'Trasnochada' } });
  const on = async (day: string) =>
    titles((await acme.get('/crm/opportunities', { fecha_inicio: day, fecha_fin: day })).body);
  expect(await on('2026-11-01')).toEqual(['Trasnochada']);
  expect(await on('2026-10-31')).toEqual([]);
});
