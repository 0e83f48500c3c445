import { afterAll, expect, test } from 'vitest';
import { type Company, type FileRecord, startServer, TestClock } from '../../helpers/world.ts';

const clock = new TestClock('2026-07-01T21:30:15.5Z');
const server = await startServer({ clock });
afterAll(() => server.stop());

const crm: FileRecord[] = [
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
  {
    coleccion: 'funnels',
    ref: 'mantenimiento',
    id: 2,
    titulo: 'Mantenimiento',
    etapas: [{ ref: 'alta', id: 3, titulo: 'Alta' }],
  },
  { coleccion: 'canales', ref: 'web', id: 4, titulo: 'Web' },
  { coleccion: 'motivos_perdida', ref: 'precio', id: 5, motivo: 'Precio' },
  { coleccion: 'clientes', ref: 'cli', id: 6, nombre_fiscal: 'Cliente SL' },
];
const datos = { funnel_fk: 1, etapa_fk: 1, descripcion: 'Placas solares' };
const create = (company: Company, more: object = {}) =>
  company.post('/crm/opportunities', { datos: { ...datos, ...more } });

/** The opportunities and contacts of a company, as stored. */
const stored = (company: Company) =>
  server.service.database.transaction(company.id, {}, async (db) => ({
    opportunities: await db
      .selectFrom('opportunities')
      .selectAll()
      .where('account_id', '=', company.id)
      .orderBy('id')
      .execute(),
    contacts: await db.selectFrom('contacts').selectAll().where('account_id', '=', company.id).orderBy('id').execute(),
  }));

test('funnels come with their stages in order', async () => {
  const acme = await server.company(crm);
  const { body } = await acme.get('/crm/funnels');
  expect(body.data).toMatchObject({
    total_funnels: 2,
    funnels: [
      { funnel: 'Mantenimiento', etapas: [{ etapa: 'Alta', orden: 1 }] },
      {
        funnel: 'Ventas',
        etapas: [
          { etapa: 'Nuevo', orden: 1 },
          { etapa: 'Visita', orden: 2 },
        ],
      },
    ],
  });
  const [, ventas] = body.data.funnels;
  const created = await create(acme, { funnel_fk: ventas.funnelId, etapa_fk: ventas.etapas[1].etapaId });
  expect(created.status).toBe(200);
});

test('[OPP-04] [ID-04] [ID-06] every call creates one and answers its number', async () => {
  const acme = await server.company(crm);
  const first = await create(acme, { email_contacto: 'eva@example.com' });
  const second = await create(acme, { email_contacto: 'eva@example.com' });
  expect(first.body).toEqual({ errorCode: 200, errorMsg: '', data: expect.any(Number) });
  expect(first.body.data).toBeGreaterThan(1_000_000_000);
  expect(second.body.data).not.toBe(first.body.data);
  const { opportunities, contacts } = await stored(acme);
  expect(opportunities.map(({ id }) => id)).toEqual([first.body.data, second.body.data]);
  expect(contacts).toHaveLength(1);
});

test('[OPP-01] incomplete parameters have the message of the specification', async () => {
  const acme = await server.company(crm);
  const message = 'Error on service call: Oportunidad no creada: Parámetros incompletos.';
  for (const missing of ['funnel_fk', 'etapa_fk', 'descripcion']) {
    for (const value of [undefined, null, '']) {
      const { status, body } = await acme.post('/crm/opportunities', { datos: { ...datos, [missing]: value } });
      expect(status).toBe(400);
      expect(body.errorMsg).toBe(message);
      expect(body.data).toMatchObject([{ campo: `datos.${missing}` }]);
    }
  }
  expect((await acme.post('/crm/opportunities', {})).body.errorMsg).toBe(message);
  expect((await acme.alias('crearOportunidad', {})).body.errorMsg).toBe(message);
  expect((await stored(acme)).opportunities).toEqual([]);
});

test('[OPP-02] [ID-05] what is not of the company is not found; a stage of another funnel does not fit', async () => {
  const acme = await server.company(crm);
  const other = await server.company(crm);
  const foreign = await create(other);
  expect(foreign.status).toBe(200);
  for (const field of ['funnel_fk', 'etapa_fk', 'canal_fk', 'contacto_fk', 'cliente_facturacion_fk']) {
    const { status, body } = await create(acme, { [field]: 999 });
    expect([field, status]).toEqual([field, 404]);
    expect(body.errorMsg).toContain(`datos.${field}`);
  }
  const misplaced = await create(acme, { etapa_fk: 3 });
  expect(misplaced.status).toBe(400);
  expect(misplaced.body.data).toMatchObject([{ campo: 'datos.etapa_fk' }]);
  expect((await stored(acme)).opportunities).toEqual([]);
});

test('[OPP-03] the contact is found by e-mail or mobile, or created', async () => {
  const acme = await server.company([
    ...crm,
    { coleccion: 'contactos', ref: 'm', id: 31, nombre: 'Por móvil', movil: '+34 600 11 22 33' },
    { coleccion: 'contactos', ref: 'e', id: 32, nombre: 'Por correo', email: 'Lola@Example.com' },
    { coleccion: 'contactos', ref: 'e2', id: 33, nombre: 'Más nuevo', email: 'lola@example.com' },
  ]);
  const contactOf = async (more: object) => {
    const { body } = await create(acme, more);
    const { opportunities } = await stored(acme);
    return opportunities.find(({ id }) => id === body.data)?.contact_id;
  };
  expect(await contactOf({ email_contacto: 'LOLA@example.com', movil_contacto: '600112233' })).toBe(32);
  expect(await contactOf({ email_contacto: 'otra@example.com', movil_contacto: '0034600112233' })).toBe(31);
  expect(await contactOf({})).toBeNull();
  expect(await contactOf({ contacto_fk: 33, email_contacto: 'lola@example.com' })).toBe(33);
  const created = await contactOf({
    email_contacto: 'nuevo@empresa.es',
    movil_contacto: '611 000 111',
    persona_contacto: 'Nuria Sanz',
    empresa: 'Empresa SA',
  });
  expect(await contactOf({ email_contacto: 'sinnombre@empresa.es', empresa: 'Sola SL' })).not.toBe(created);
  await contactOf({ email_contacto: 'solo.correo@empresa.es' });
  const { contacts } = await stored(acme);
  expect(contacts.slice(3)).toMatchObject([
    { id: created, name: 'Nuria Sanz', company: 'Empresa SA', email: 'nuevo@empresa.es', mobile: '611 000 111' },
    { name: 'Sola SL', company: 'Sola SL' },
    { name: 'solo.correo', company: '' },
  ]);
});

test('[W-12] [OPP-02] what is known of a lead without an e-mail is kept', async () => {
  const acme = await server.company([
    ...crm,
    { coleccion: 'contactos', ref: 'm', id: 31, nombre: 'Por móvil', email: 'm@x.es', movil: '+34 600 11 22 33' },
  ]);
  const contactOf = async (more: object) => {
    const { body } = await create(acme, more);
    const { opportunities, contacts } = await stored(acme);
    const contact = opportunities.find(({ id }) => id === body.data)?.contact_id;
    return contacts.find(({ id }) => id === contact);
  };
  expect(await contactOf({ movil_contacto: '600112233' })).toMatchObject({ id: 31, name: 'Por móvil', version: 1 });
  expect(await contactOf({ movil_contacto: '600112233', persona_contacto: 'Otra', email_contacto: '' })).toMatchObject({
    id: 31,
  });
  const nuria = await contactOf({ movil_contacto: '611 000 111', persona_contacto: 'Nuria', empresa: 'Empresa SA' });
  expect(nuria).toMatchObject({ name: 'Nuria', company: 'Empresa SA', email: '', mobile: '611 000 111' });
  expect((await contactOf({ movil_contacto: '+34611000111' }))?.id).toBe(nuria?.id);
  expect(await contactOf({ movil_contacto: '622 000 111' })).toMatchObject({ name: '622 000 111' });
  const leo = await contactOf({ persona_contacto: 'Leo' });
  expect(leo).toMatchObject({ name: 'Leo', company: '', mobile: '' });
  // Names are not unique.
  expect((await contactOf({ persona_contacto: 'Leo' }))?.id).not.toBe(leo?.id);
  expect(await contactOf({ empresa: 'Sola SL' })).toMatchObject({ name: 'Sola SL', company: 'Sola SL' });
  // A contact given by id is used.
  expect(await contactOf({ contacto_fk: 31, movil_contacto: '699999999' })).toMatchObject({ id: 31 });
  expect((await stored(acme)).contacts).toHaveLength(6);
});

test.for([
  { what: 'e-mail', lead: { email_contacto: 'a@b.es' } },
  { what: 'mobile', lead: { movil_contacto: '600112233' } },
])('[OPP-03] [W-12] parallel calls with one new $what create one contact', async ({ lead }) => {
  const acme = await server.company(crm);
  const answers = await Promise.all(Array.from({ length: 20 }, () => create(acme, lead)));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  const { opportunities, contacts } = await stored(acme);
  expect(opportunities).toHaveLength(20);
  expect(contacts).toHaveLength(1);
});

test('[AUTH-04] a read-only key creates and closes nothing', async () => {
  const acme = await server.company(crm, { readOnly: true });
  expect((await create(acme)).status).toBe(403);
  expect((await acme.put('/crm/opportunities/1/close', { resultado: 'ganado' })).status).toBe(403);
});

test('[CLO-01] [CLO-04] winning sets the closing date, in the local time of the company', async () => {
  const acme = await server.company(crm);
  const { data: id } = (await create(acme)).body;
  const won = await acme.put(`/crm/opportunities/${id}/close`, { resultado: 'ganado', valor_cierre: 1234.5 });
  expect(won.body.data).toEqual({
    oportunidadId: expect.any(String),
    titulo: 'Placas solares',
    resultado: 'ganado',
    fecha_cierre: '2026-07-01 23:30:15',
    motivo: '',
  });
  const dated = await acme.put(`/crm/opportunities/${won.body.data.oportunidadId}/close`, {
    resultado: 'perdido',
    fecha_cierre: '2026-06-15',
  });
  expect(dated.body.data).toMatchObject({ resultado: 'perdido', fecha_cierre: '2026-06-15 00:00:00' });
  const reopened = await acme.put(`/crm/opportunities/${id}/close`, {
    resultado: 'abierta',
    fecha_cierre: '2026-06-15',
    valor_cierre: 99,
  });
  expect(reopened.body.data).toMatchObject({ resultado: 'abierta', fecha_cierre: '', motivo: '' });
  // Whatever the key was used for.
  for (const fecha_cierre of ['2026-02-30', 7, {}]) {
    const again = await acme.put(`/crm/opportunities/${id}/close`, { resultado: 'abierta', fecha_cierre });
    expect(again.body.data).toMatchObject({ resultado: 'abierta', fecha_cierre: '' });
  }
  const { opportunities } = await stored(acme);
  expect(opportunities).toMatchObject([{ state: 'open', closed_at: null, closing_value: 99, version: 7 }]);
});

test('[CLO-02] reason and comments only with a loss; winning or reopening clears them', async () => {
  const acme = await server.company(crm);
  const { data: id } = (await create(acme)).body;
  const close = (body: object) => acme.put(`/crm/opportunities/${id}/close`, body);
  const lost = await close({ resultado: 'perdido', motivoId: 5, comentarios: 'Muy caro' });
  expect(lost.body.data).toMatchObject({ resultado: 'perdido', motivo: 'Precio' });
  expect((await stored(acme)).opportunities).toMatchObject([{ loss_reason_id: 5, comments: 'Muy caro' }]);
  expect((await close({ resultado: 'ganado', motivoId: 5, comentarios: 'x' })).body.data.motivo).toBe('');
  expect((await stored(acme)).opportunities).toMatchObject([{ loss_reason_id: null, comments: null }]);
});

test('[CLO-03] bad results, reasons and opportunities', async () => {
  const acme = await server.company(crm);
  const other = await server.company(crm);
  const { data: id } = (await create(acme)).body;
  const close = (body: object, opportunity: unknown = id) => acme.put(`/crm/opportunities/${opportunity}/close`, body);
  expect((await close({ resultado: 'won' })).status).toBe(400);
  expect((await close({})).body.data).toMatchObject([{ campo: 'resultado' }]);
  expect((await close({ resultado: 'perdido', motivoId: 999 })).status).toBe(400);
  expect((await close({ resultado: 'perdido', motivoId: 'forjado' })).body.data).toMatchObject([{ campo: 'motivoId' }]);
  expect((await close({ resultado: 'perdido', motivoId: 'forjado' }, 999)).status).toBe(404);
  expect((await close({ resultado: 'ganado' }, 999)).status).toBe(404);
  expect((await acme.alias('cerrarOportunidad', { resultado: 'ganado' })).status).toBe(400);
  expect((await acme.alias('cerrarOportunidad', { resultado: 'ganado', oportunidadId: id })).status).toBe(200);
  expect((await other.put(`/crm/opportunities/${id}/close`, { resultado: 'ganado' })).status).toBe(404);
});

test('[CLO-04] body and query are taken, the body first; an id in the body agrees with the path', async () => {
  const acme = await server.company(crm);
  const [one, two] = [(await create(acme)).body.data, (await create(acme)).body.data];
  const query = await acme.put(`/crm/opportunities/${one}/close?resultado=ganado&valor_cierre=12.5`, {});
  expect(query.body.data.resultado).toBe('ganado');
  const both = await acme.put(`/crm/opportunities/${one}/close?resultado=ganado`, { resultado: 'abierta' });
  expect(both.body.data.resultado).toBe('abierta');
  const { oportunidadId } = query.body.data;
  expect((await acme.put(`/crm/opportunities/${one}/close`, { resultado: 'ganado', oportunidadId })).status).toBe(200);
  const apart = await acme.put(`/crm/opportunities/${two}/close`, { resultado: 'ganado', oportunidadId });
  expect(apart.status).toBe(400);
  expect(apart.body.data).toMatchObject([{ campo: 'oportunidadId' }]);
});
