// Sending registers of invoices to the tax agency, whose place a server of the test takes.
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { correctRegisters } from '../../documents/correct-registers.ts';
import { sendRegisters } from '../../server/registers.ts';
import { type Agency, startAgency } from '../helpers/agency.ts';
import { ownDatabase } from '../helpers/own-database.ts';
import { textIn } from '../helpers/second-hash.ts';
import { registrable, switchOn, verifactu } from '../helpers/verifactu.ts';
import { type Company, startServer, TestClock } from '../helpers/world.ts';

/** A service, the agency that it sends to, and a company. */
async function stand() {
  await using cleanup = new AsyncDisposableStack();
  const clock = new TestClock('2026-11-23T10:00:00Z');
  const agency = cleanup.use(await startAgency());
  const database = cleanup.use(await ownDatabase());
  const sending = { urls: { pruebas: agency.url, produccion: agency.url }, certificate: agency.certificate };
  const server = cleanup.use(
    await startServer({ clock, verifactu: { ...verifactu, sending }, database: { url: database.url }, alone: true }),
  );
  const { service } = server;
  const newCompany = async (cif = registrable.cif) => {
    const client = { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café Nilo', cif: 'A28015865' };
    const company = await server.company([client], { cuenta: { ...registrable, cif } });
    await switchOn(service, company.id);
    return company;
  };
  const company = await newCompany();
  const rest = cleanup.move();
  return {
    clock,
    agency,
    service,
    company,
    newCompany,
    /** A round of the sender, a minute after the one before. */
    async send() {
      clock.advance({ seconds: 61 });
      await sendRegisters({ ...service, ca: agency.ca }, sending);
    },
    correct: (more: { number?: string; withErrors?: boolean } = {}) =>
      correctRegisters(service, { accountId: company.id, number: undefined, withErrors: false, ...more }),
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

async function invoice(company: Company): Promise<string> {
  const { status, body } = await company.post('/invoices', {
    cliente: { id: 1 },
    pedido: { obra: 'Reforma' },
    detalles: [{ cantidad: 1, descripcion: 'Hora', importe_unitario: 100 }],
  });
  expect([status, body.errorMsg]).toEqual([200, '']);
  return body.data;
}
interface Shown {
  estado: string;
  errores: { codigo: number }[];
  csv: string | null;
}
const registersOf = async (company: Company, id: string): Promise<Shown[]> =>
  (await company.get(`/invoices/${id}/register`)).body.data.registros;
const statesOf = async (company: Company, id: string) =>
  (await registersOf(company, id)).map(({ estado, errores }) =>
    [estado, ...errores.map(({ codigo }) => codigo)].join(' '),
  );
const pendingOf = async (company: Company) => (await company.get('/fiscal-settings')).body.data.verifactu.pendientes;
const headings = ({ envelopes }: Agency) => envelopes.map((text) => textIn(text, 'Incidencia') ?? '');

test('[DOC-02] registers are sent in their order and get their states', async () => {
  await using at = await stand();
  const { agency, company, send } = at;
  const ids = [await invoice(company), await invoice(company)];
  await company.post(`/invoices/${ids[1]}/annul`, { motivo: 'Duplicada' });
  expect(await statesOf(company, ids[1] ?? '')).toEqual(['pendiente', 'pendiente']);
  await send();
  expect(agency.taken.map((xml) => /Registro(\w+)/.exec(xml)?.[1])).toEqual(['Alta', 'Alta', 'Anulacion']);
  expect(await statesOf(company, ids[0] ?? '')).toEqual(['aceptado']);
  expect(await statesOf(company, ids[1] ?? '')).toEqual(['aceptado', 'aceptado']);
  expect((await registersOf(company, ids[0] ?? ''))[0]?.csv).toBe('A-1');
  expect(await pendingOf(company)).toBe(0);
  expect(headings(agency)).toEqual(['']);
  await send();
  expect(agency.received).toBe(1);
});

test('[DOC-02] the agency says how long to wait', async () => {
  await using at = await stand();
  const { agency, company, send } = at;
  agency.wait = 300;
  await invoice(company);
  await send();
  await invoice(company);
  await send();
  await send();
  expect(agency.received).toBe(1);
  at.clock.advance({ minutes: 3 });
  await send();
  expect([agency.received, await pendingOf(company)]).toEqual([2, 0]);
});

test.for(['lose', 'silent-page'] as const)(
  '[DOC-02] %s: what was not answered is sent again, and says so',
  async (how) => {
    await using at = await stand();
    const { agency, company, send } = at;
    agency.behave(how === 'lose' ? 'lose' : 'page');
    const id = await invoice(company);
    await send();
    expect(await statesOf(company, id)).toEqual(['pendiente']);
    expect(agency.taken).toHaveLength(how === 'lose' ? 1 : 0);
    await send();
    expect(await statesOf(company, id)).toEqual(['aceptado']);
    expect(agency.taken).toHaveLength(1);
    expect(headings(agency)).toEqual(['', 'S']);
  },
);

test('[DOC-02] a process that dies between the answer and its note: another one finds out', async () => {
  await using at = await stand();
  const { agency, company, send, service } = at;
  const id = await invoice(company);
  await send();
  await service.database.transaction(company.id, { write: true }, (db) =>
    sql`update register_chains set answered = 0 where account_id = ${company.id}`.execute(db),
  );
  await send();
  expect([agency.received, agency.taken.length]).toEqual([2, 1]);
  expect(await statesOf(company, id)).toEqual(['aceptado']);
  expect(await pendingOf(company)).toBe(0);
});

test('[DOC-02] a duplicate of an invoice that was never sent from here is refused, not taken for ours', async () => {
  await using at = await stand();
  const { agency, company, send } = at;
  const id = await invoice(company);
  const { numero } = (await company.get(`/invoices/${id}`)).body.data;
  agency.invoices.set(`B12345674 ${numero} 23-11-2026`, 'Correcta');
  await send();
  expect(await statesOf(company, id)).toEqual(['rechazado 3000']);
});

test('[DOC-02] one company’s faults delay no other', async () => {
  await using at = await stand();
  const { agency, company, newCompany, send } = at;
  const other = await newCompany('A28015865');
  agency.behave('client-fault');
  const ids = [await invoice(company), await invoice(other)];
  await send();
  const states = [...(await statesOf(company, ids[0] ?? '')), ...(await statesOf(other, ids[1] ?? ''))];
  expect(states.toSorted()).toEqual(['aceptado', 'pendiente']);
  // After the second failure it waits two minutes.
  await send();
  expect(await Promise.all([pendingOf(company), pendingOf(other)])).toEqual([0, 0]);
});

test('[DOC-02] what was rejected is registered anew by a command, and annulled without a register before it', async () => {
  await using at = await stand();
  const { agency, company, send, correct } = at;
  const id = await invoice(company);
  const { numero } = (await company.get(`/invoices/${id}`)).body.data;
  const key = `B12345674 ${numero} 23-11-2026`;
  agency.invoices.set(key, 'Correcta');
  await send();
  agency.invoices.delete(key);
  expect(await correct({ number: 'otra' })).toEqual({ made: [], refused: [] });
  expect(await correct()).toEqual({ made: [{ number: numero, type: 'alta' }], refused: [] });
  // It has its new register: there is nothing more to do.
  expect(await correct()).toEqual({ made: [], refused: [] });
  await send();
  expect(await statesOf(company, id)).toEqual(['rechazado 3000', 'aceptado']);
  const xml = agency.taken.at(-1) ?? '';
  expect([textIn(xml, 'Subsanacion'), textIn(xml, 'RechazoPrevio')]).toEqual(['S', 'X']);

  const other = await invoice(company);
  const { numero: next } = (await company.get(`/invoices/${other}`)).body.data;
  agency.invoices.set(`B12345674 ${next} 23-11-2026`, 'Correcta');
  await send();
  agency.invoices.delete(`B12345674 ${next} 23-11-2026`);
  await company.post(`/invoices/${other}/annul`, { motivo: 'Duplicada' });
  await send();
  expect(await statesOf(company, other)).toEqual(['rechazado 3000', 'aceptado']);
  expect(textIn(agency.taken.at(-1) ?? '', 'SinRegistroPrevio')).toBe('S');
});

test('[DOC-02] what was accepted with errors is corrected where that is asked for, by what the client is called today', async () => {
  await using at = await stand();
  const { agency, company, send, correct } = at;
  agency.unknownClients.add('A28015865');
  const id = await invoice(company);
  await send();
  expect(await statesOf(company, id)).toEqual(['aceptado_con_errores 2001']);
  await company.load([
    { coleccion: 'clientes', ref: 'nilo', id: 1, nombre_fiscal: 'Café del Nilo, S.A.', cif: 'A28015865' },
  ]);
  agency.unknownClients.clear();
  expect((await correct()).made).toEqual([]);
  expect((await correct({ withErrors: true })).made).toHaveLength(1);
  await send();
  expect(await statesOf(company, id)).toEqual(['aceptado_con_errores 2001', 'aceptado']);
  const xml = agency.taken.at(-1) ?? '';
  expect([textIn(xml, 'Subsanacion'), textIn(xml, 'RechazoPrevio')]).toEqual(['S', undefined]);
  expect(xml).toContain('Café del Nilo, S.A.');
});

test('[DOC-02] more than a thousand go in several envelopes, at once', async () => {
  await using at = await stand();
  const { agency, company, send, service } = at;
  await invoice(company);
  // The sender reads what is there: copies stand for many invoices.
  await service.database.transaction(company.id, { write: true }, async (db) => {
    await sql`insert into invoice_registers (account_id, mode, n, invoice_id, type, made_at, issuer, number, day, previous, hash, xml, qr)
      select r.account_id, r.mode, s.n, r.invoice_id, r.type, r.made_at, r.issuer, r.number || '-' || s.n, r.day, r.hash, r.hash,
        replace(r.xml, '>' || r.number || '<', '>' || r.number || '-' || s.n || '<'), r.qr
      from invoice_registers r cross join generate_series(2, 1203) as s (n) where r.account_id = ${company.id}
      returning id`.execute(db);
    await sql`update register_chains set n = 1203 where account_id = ${company.id}`.execute(db);
  });
  await send();
  expect(agency.received).toBe(1);
  await send();
  expect([agency.received, await pendingOf(company)]).toEqual([2, 0]);
});
