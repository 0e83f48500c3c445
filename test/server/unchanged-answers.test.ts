// ETag, 304, and answers that a process gives again: only while nothing of the company has changed. JRN-04
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../bridges/operations.ts';
import { JsonText } from '../../platform/json-text.ts';
import { KeptAnswers } from '../../platform/kept-answers.ts';
import { EXAMPLE_NOW, exampleAccount, exampleRecords, examples } from '../helpers/examples.ts';
import { type Company, type Server, startServer, TestClock } from '../helpers/world.ts';

let server: Server;
let clock: TestClock;

beforeAll(async () => {
  clock = new TestClock(EXAMPLE_NOW);
  server = await startServer({ clock, alone: true });
});
afterAll(() => server.stop());

const company = () => server.company([...exampleRecords], { cuenta: exampleAccount });
const tagOf = async (acme: Company, path: string, query = {}) =>
  (await acme.get(path, query)).headers.get('etag') ?? '';
const asked = (acme: Company, path: string, tag: string, query = {}) => acme.get(path, query, { 'If-None-Match': tag });
const NOT_LASTING = [
  'account.get',
  'audit.list',
  'changes.list',
  'documents.verify',
  'documents.listLinks',
  'documents.register',
  'fiscalSettings.get',
  'webhooks.list',
  'webhooks.listDeliveries',
  'estimates.listAttachments',
  'fiscalSettings.get',
  'estimates.download',
  'deliveryNotes.download',
  'invoices.download',
  'invoices.facturae',
  'invoices.ubl',
];

describe('[JRN-04] a read', () => {
  test('has an entity tag, with which an unchanged one is 304 without a body; a change of the company ends it', async () => {
    const acme = await company();
    const first = await acme.get('/clients');
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^W\/"[\w-]{27}"$/);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    for (const field of [tag, tag.replace('W/', ''), `"other", ${tag}`, '*']) {
      const same = await asked(acme, '/clients', field);
      expect([field, same.status, same.text, same.headers.get('etag')]).toEqual([field, 304, '', tag]);
      expect(same.headers.get('ratelimit')).toMatch(/r=\d+/);
    }
    expect(await tagOf(acme, '/clients', { por_pagina: 1 })).not.toBe(tag);
    expect(await tagOf(acme, '/suppliers')).not.toBe(tag);

    expect((await acme.post('/clients', { datos: { nombre_fiscal: 'Aa' } })).status).toBe(200);
    const after = await asked(acme, '/clients', tag);
    expect([after.status, after.headers.get('etag') === tag]).toEqual([200, false]);
    expect(after.body.data.total_clientes).toBe(first.body.data.total_clientes + 1);
  });

  test('of every operation but those that show more than the company', async () => {
    const acme = await company();
    for (const operation of operations.filter(({ write }) => !write)) {
      const [route] = operation.routes;
      const input = { ...examples[operation.path] };
      const path = (route?.path ?? '').replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = input[name];
        delete input[name];
        return encodeURIComponent(String(value));
      });
      const first = await acme.get(path, input);
      const tag = first.headers.get('etag');
      if (NOT_LASTING.includes(operation.path)) expect([operation.path, tag]).toEqual([operation.path, null]);
      else expect([operation.path, (await asked(acme, path, tag ?? '', input)).status]).toEqual([operation.path, 304]);
      expect((await acme.alias(operation.alias, examples[operation.path])).headers.get('etag')).toBeNull();
    }
  });

  test('is another one on another day of the company, and for another company', async () => {
    const [acme, other] = [await company(), await company()];
    const tag = await tagOf(acme, '/projects');
    expect(await tagOf(other, '/projects')).not.toBe(tag);
    clock.set('2026-03-02T22:59:59Z');
    expect((await asked(acme, '/projects', tag)).status).toBe(304);
    clock.set('2026-03-02T23:00:00Z');
    expect((await asked(acme, '/projects', tag)).status).toBe(200);
    clock.set(EXAMPLE_NOW);
  });

  test('is refused as ever: without a key, with a revoked one, of an id that there is not', async () => {
    const acme = await company();
    const tag = await tagOf(acme, '/clients');
    const key = await acme.newKey(true);
    const withKey = () => server.request('/api/v1/clients', { headers: { ...key, 'If-None-Match': tag } });
    expect((await withKey()).status).toBe(304);
    await server.service.database.pool.query(
      'update api_keys set revoked_at = created_at where account_id = $1 and key = $2',
      [acme.id, key['x-api-key']],
    );
    expect((await withKey()).status).toBe(401);
    expect((await server.request('/api/v1/clients', { headers: { 'If-None-Match': tag } })).status).toBe(401);
    expect((await asked(acme, '/clients/987654', '*')).status).toBe(404);
  });

  test('after every write shows what that changed, by every door', async () => {
    const acme = await company();
    for (const name of ['Una', 'Dos', 'Tres']) {
      const { data: id } = (await acme.post('/clients', { datos: { nombre_fiscal: name } })).body;
      for (let time = 0; time < 3; time++) {
        expect((await acme.get(`/clients/${id}`)).body.data.cliente.nombre_fiscal).toBe(name);
        expect((await acme.alias('obtenerCliente', { clienteId: id })).body.data.cliente.nombre_fiscal).toBe(name);
      }
      const changed = { datos: { nombre_fiscal: `${name} SL` } };
      expect((await acme.put(`/clients/${id}`, changed)).status).toBe(200);
      expect((await acme.get(`/clients/${id}`)).body.data.cliente.nombre_fiscal).toBe(`${name} SL`);
    }
  });

  test('of one process shows what another one wrote', async () => {
    const other = await startServer({ clock, alone: true });
    try {
      const acme = await company();
      const total = async () => (await acme.get('/clients')).body.data.total_clientes;
      const before = await total();
      expect([await total(), await total()]).toEqual([before, before]);
      const { status } = await other.request('/api/v1/clients', {
        method: 'POST',
        headers: { ...acme.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ datos: { nombre_fiscal: 'De otro' } }),
      });
      expect([status, await total()]).toEqual([200, before + 1]);
    } finally {
      await other.stop();
    }
  });
});

describe('[JRN-04] what a process keeps', () => {
  const text = 'x'.repeat(1000);
  const answer = new JsonText(text);

  test('is found again for the state that it was read in', () => {
    const answers = new KeptAnswers(100_000, 'build');
    answers.keep('a', 1, '7', answer);
    expect(answers.isLasting('a')).toBe(false);
    expect(answers.find('a', '8')).toBeUndefined();
    expect(answers.find('a', '7')?.text).toBe(text);
    expect(answers.isLasting('a')).toBe(true);
    answers.keep('a', 1, '8', new JsonText('new'));
    expect([answers.find('a', '7'), answers.find('a', '8')?.text]).toEqual([undefined, 'new']);
  });

  test('is at most a quarter of the space of one company, the rest is for others; what is asked for least goes', () => {
    const answers = new KeptAnswers(40_000, 'build');
    for (let key = 0; key < 20; key++) answers.keep(`one ${key}`, 1, '1', answer);
    expect(answers.bytesOf(1)).toBeLessThanOrEqual(10_000);
    expect(answers.bytesOf(1)).toBeGreaterThan(7000);
    expect([answers.find('one 0', '1'), answers.find('one 19', '1')?.text]).toEqual([undefined, text]);
    for (let company = 2; company < 40; company++) answers.keep(`of ${company}`, company, '1', answer);
    expect(answers.find('of 39', '1')?.text).toBe(text);
    expect(answers.find('one 19', '1')).toBeUndefined();
    expect(answers.bytesOf(1)).toBe(0);
    const none = new KeptAnswers(0, 'build');
    none.keep('a', 1, '1', answer);
    expect(none.find('a', '1')).toBeUndefined();
  });

  test('has other tags in another build', () => {
    expect(new KeptAnswers(0, 'one').tagOf('a', '1')).not.toBe(new KeptAnswers(0, 'other').tagOf('a', '1'));
  });
});
