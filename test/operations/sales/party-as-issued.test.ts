// Documents keep their client as it was when they were issued.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { anonymiseRecord, personalRecord } from '../../../lifecycle/anonymise.ts';
import { issueRenewals } from '../../../routers/shared/renewals/issue-renewals.ts';
import { migrate } from '../../../server/postgres/migrations.ts';
import { openCompanies } from '../../account-file/companies.ts';
import { ownDatabase } from '../../helpers/own-database.ts';
import { type Company, type FileRecord, type Server, startServer, TestClock } from '../../helpers/world.ts';

let server: Server;
let companies: Awaited<ReturnType<typeof openCompanies>>;
beforeAll(async () => {
  server = await startServer({ clock: new TestClock('2026-03-10T09:00:00Z') });
  companies = await openCompanies();
});
afterAll(async () => {
  await server.stop();
  await companies[Symbol.asyncDispose]();
});

const bar = { nombre_fiscal: 'Bar Pepe', cif: 'B11111111', email: 'bar@example.com', direccion: 'Calle Mayor, 1' };
const lineas = [{ descripcion: 'Silla', cantidad: 2, importe_unitario: 50 }];
const documents = ['presupuestos', 'albaranes', 'facturas'].map((coleccion, index) => ({
  coleccion,
  ref: 'antes',
  id: 11 + index,
  fecha: '2026-02-01',
  cliente: 'bar',
  lineas,
}));
const records: FileRecord[] = [{ coleccion: 'clientes', ref: 'bar', id: 1, ...bar }, ...documents];

const body = (cliente: object) => ({ cliente, pedido: { obra: 'Obra' }, detalles: lineas });

/** The names that a company's documents show, the newest first; in the list and in the document itself they are the same. */
async function namesOf(company: Company): Promise<Record<string, string[]>> {
  const names: Record<string, string[]> = {};
  for (const [path, list, id] of [
    ['/estimates', 'presupuestos', 'presupuestoId'],
    ['/delivery-notes', 'documentos', 'albaranId'],
    ['/invoices', 'facturas', 'facturaId'],
  ] as const) {
    const { data } = (await company.get(path)).body;
    names[path] = [];
    for (const document of data[list]) {
      const read = await company.get(`${path}/${document[id]}`);
      expect(read.body.data.contraparte).toEqual(document.contraparte);
      names[path].push(document.contraparte.nombre_fiscal);
    }
  }
  return names;
}

test('[W-06] [DLV-01] a document with a known cif and another name updates the client, and no document issued before', async () => {
  const acme = await server.company(records);
  const later = { nombre_fiscal: 'Bar Pepe e Hijos', cif: 'ES-B11111111', email: 'hijos@example.com' };
  expect((await acme.post('/delivery-notes', body(later))).status).toBe(200);
  expect((await acme.get('/clients/1')).body.data.cliente).toMatchObject({
    nombre_fiscal: 'Bar Pepe e Hijos',
    email: 'hijos@example.com',
  });
  const last = { nombre_fiscal: 'Bar de los Hijos', cif: 'B11111111' };
  expect((await acme.post('/invoices', body(last))).status).toBe(200);
  expect(await namesOf(acme)).toEqual({
    '/estimates': ['Bar Pepe'],
    '/delivery-notes': ['Bar Pepe e Hijos', 'Bar Pepe'],
    '/invoices': ['Bar de los Hijos', 'Bar Pepe'],
  });
  const [, old] = (await acme.get('/delivery-notes')).body.data.documentos;
  expect(old.contraparte).toMatchObject({ nombre_fiscal: 'Bar Pepe', cif: 'B11111111', email: 'bar@example.com' });
  // A document of a client by its id, and what it brought into another, is of the client as it is.
  expect((await acme.post('/invoices', { albaranes: [old.albaranId] })).status).toBe(200);
  expect((await namesOf(acme))['/invoices']).toEqual(['Bar de los Hijos', 'Bar de los Hijos', 'Bar Pepe']);
  // Searches find by the client as it is.
  expect((await acme.get('/estimates', { busqueda: 'bar de los' })).body.data.total_presupuestos).toBe(1);
});

test('[W-06] a client that is changed by itself changes no document; a renewal keeps it as it is', async () => {
  const recurring = {
    coleccion: 'recurrentes',
    ref: 'r',
    descripcion: 'Cuota',
    cliente: 'bar',
    periodicidad: 'mensual',
    fecha_creacion: '2026-03-10',
    lineas,
  };
  const acme = await server.company([...records, recurring]);
  const renamed = await acme.put('/clients/1', { datos: { nombre_fiscal: 'Bar Nuevo', cif: '', email: '' } });
  expect(renamed.status).toBe(200);
  const { database, clock } = server.service;
  const today = Temporal.PlainDate.from('2026-03-10');
  const author = { actor: 'test', door: 'command', requestId: 'test' } as const;
  const renewals = { database, accountId: acme.id, today, until: today, since: today, now: clock.now(), author };
  expect(await Array.fromAsync(issueRenewals(renewals))).toHaveLength(1);
  expect((await acme.put('/clients/1', { datos: { nombre_fiscal: 'Bar Último' } })).status).toBe(200);
  expect(await namesOf(acme)).toEqual({
    '/estimates': ['Bar Pepe'],
    '/delivery-notes': ['Bar Nuevo', 'Bar Pepe'],
    '/invoices': ['Bar Pepe'],
  });
});

test('[W-06] the account file holds what a document keeps where the client is another by now, and a file without it changes nothing of it', async () => {
  const acme = await companies.company();
  await acme.import(records);
  const kept = async (company: typeof acme) => {
    const shown = [];
    for (const { coleccion } of documents) shown.push((await company.exported(coleccion))[0]?.contraparte);
    return shown;
  };
  expect(await kept(acme)).toEqual([null, null, null]);
  await acme.import([{ coleccion: 'clientes', ref: 'bar', ...bar, nombre_fiscal: 'Bar Nuevo', poblacion: 'Lugo' }]);
  const before = {
    ...bar,
    cp: null,
    poblacion: null,
    provincia: null,
    pais: null,
  };
  expect(await kept(acme)).toEqual([before, before, before]);

  const [lines, other] = [await acme.export(), await companies.company()];
  expect(await other.importLines(lines)).toMatchObject({ created: 4 });
  expect(await other.export()).toEqual(lines);
  expect(await other.importLines(lines)).toMatchObject({ created: 0, changed: 0 });

  // The same documents without the field, as an older file has them, keep what they have, whatever the file's client is called.
  const older = [{ coleccion: 'clientes', ref: 'bar', ...bar, nombre_fiscal: 'Bar Viejo' }, ...documents];
  expect(await other.import(older)).toMatchObject({ created: 0, changed: 1 });
  expect(await kept(other)).toEqual([before, before, before]);
  // One that is moved to another client is that client's.
  const moved = [
    { coleccion: 'clientes', ref: 'sol', nombre_fiscal: 'Sol' },
    ...documents.map((document) => ({ ...document, cliente: 'sol' })),
  ];
  expect(await other.import(moved)).toMatchObject({ created: 1, changed: 3 });
  expect(await kept(other)).toEqual([null, null, null]);
  const [row] = await other.rows('invoices');
  expect(row?.party).toMatchObject({ legal_name: 'Sol', address: '' });

  expect(
    await other.problems([{ ...documents[0], coleccion: 'presupuestos', contraparte: { cif: 'B1', apodo: 'x' } }]),
  ).toHaveLength(2);
});

test('[W-06] documents that were there before show their client as it is, and keep it', async () => {
  await using own = await ownDatabase();
  await using older = await startServer({ database: { url: own.url }, clock: server.service.clock });
  const many = Array.from({ length: 1203 }, (_, index) => ({
    ...documents[1],
    coleccion: 'albaranes',
    ref: `n${index}`,
    id: 100 + index,
  }));
  const acme = await older.company([...records, ...many]);
  await older.company([...records, ...many]);
  for (const table of ['estimates', 'delivery_notes', 'invoices']) {
    await own.admin.query(`alter table ${table} drop column party`);
  }
  const again = ['0020_documents_as_issued', '0021_parties'];
  await own.admin.query('delete from mikro_orm_migrations where name = any($1)', [again]);
  expect(await migrate(own.directUrl)).toEqual(again);
  const { rows } = await own.admin.query(
    `select account_id, party ->> 'legal_name' as name, party ->> 'address' as address, count(*)::int as documents
     from (select account_id, party from estimates union all select account_id, party from delivery_notes
       union all select account_id, party from invoices) d
     group by 1, 2, 3 order by 1`,
  );
  expect(rows.map(({ name, address, documents: count }) => [name, address, count])).toEqual(
    [1, 2].map(() => ['Bar Pepe', 'Calle Mayor, 1', 1206]),
  );

  // A document that a process of the version before writes meanwhile shows the client as it is.
  await own.admin.query('update invoices set party = null where account_id = $1', [acme.id]);
  expect((await acme.put('/clients/1', { datos: { nombre_fiscal: 'Bar Nuevo' } })).status).toBe(200);
  expect(await namesOf(acme)).toMatchObject({ '/estimates': ['Bar Pepe'], '/invoices': ['Bar Nuevo'] });
});

test('[W-06] a client that is anonymised is so in its documents, and an earlier name of it in every text', async () => {
  const acme = await server.company([
    {
      coleccion: 'clientes',
      ref: 'eva',
      id: 1,
      nombre_fiscal: 'Eva Peña Solé',
      cif: '12345678Z',
      direccion: 'Ronda 5, 2º',
    },
    { coleccion: 'clientes', ref: 'otra', id: 2, nombre_fiscal: 'Otra Persona' },
    ...documents.map((document) => ({ ...document, cliente: 'eva' })),
    { ...documents[1], coleccion: 'albaranes', ref: 'otra', id: 99, cliente: 'otra', concepto: 'Para Eva Peña Solé' },
  ]);
  expect((await acme.put('/clients/1', { datos: { nombre_fiscal: 'Eva Martí Ros', cif: '' } })).status).toBe(200);
  const { database, clock } = server.service;
  const origin = { actor: 'test', door: 'command', requestId: 'test', operation: 'test', now: clock.now() } as const;
  const { changes } = await database.transaction(acme.id, { write: true }, async (db) => {
    const record = await personalRecord(db, acme.id, 'client', 1);
    if (!record) throw new Error('No such client');
    return anonymiseRecord(db, acme.id, { kind: 'client', id: 1, record }, origin);
  });
  for (const table of ['estimates', 'delivery_notes', 'invoices']) {
    expect(changes).toContainEqual({ table, column: 'party', rows: 1 });
  }
  const anonymous = 'Cliente anónimo 1';
  expect(await namesOf(acme)).toEqual({
    '/estimates': [anonymous],
    '/delivery-notes': ['Otra Persona', anonymous],
    '/invoices': [anonymous],
  });
  const { documentos } = (await acme.get('/delivery-notes', { clienteId: 2 })).body.data;
  expect(documentos).toMatchObject([{ concepto: 'Para [anónimo]' }]);
  const { rows } = await database.pool.query(
    `select (e.party || n.party || i.party)::text as kept from estimates e, delivery_notes n, invoices i
     where e.account_id = $1 and n.account_id = $1 and i.account_id = $1 and n.client_id = 1`,
    [acme.id],
  );
  expect(rows).toHaveLength(1);
  expect(rows[0].kept).not.toMatch(/Eva|Peña|12345678|Ronda/);
});
