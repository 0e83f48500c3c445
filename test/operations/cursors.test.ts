// Pages by cursor, of which every list has the same.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Cursors } from '../../platform/cursors.ts';
import { type Company, type FileRecord, type Server, startServer, TestClock } from '../helpers/world.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer({ clock: new TestClock('2026-03-10T10:00:00Z'), quotaPerMinute: 1_000_000 });
});
afterAll(() => server.stop());

const names = ['Ada', 'Bea', 'Eva', 'Eva', 'Iván', 'Zoe'];
const records: FileRecord[] = names.flatMap((nombre, n) => [
  { coleccion: 'contactos', ref: `k${n}`, nombre },
  { coleccion: 'proveedores', ref: `p${n}`, nombre_fiscal: nombre },
]);
const namesOf = ({ body }: { body: { data: { contactos: { nombre: string }[] } } }) =>
  body.data.contactos.map(({ nombre }) => nombre);

describe('[PAG-02] a page by the cursor of the one before it', () => {
  let acme: Company;
  let first: Awaited<ReturnType<Company['get']>>;
  beforeAll(async () => {
    acme = await server.company(records);
    first = await acme.get('/crm/contacts', { por_pagina: 2 });
  });
  const refused = { campo: 'cursor', mensaje: 'no es el que dio una página de esta lista' };

  test('goes on behind it, with the number of the page; the last one has none', async () => {
    const { cursor } = first.body.data;
    expect(first.body.data).toMatchObject({ pagina: 1, num_paginas: 3, cursor: expect.any(String) });
    const second = await acme.get('/crm/contacts', { por_pagina: 2, cursor });
    expect([second.body.data.pagina, namesOf(second)]).toEqual([2, ['Eva', 'Eva']]);
    const third = await acme.alias('consultarContactos', { por_pagina: 2, cursor: second.body.data.cursor });
    expect([third.body.data.pagina, namesOf(third), third.body.data.cursor]).toEqual([3, ['Iván', 'Zoe'], null]);
    expect((await acme.get('/crm/contacts', { por_pagina: 2, pagina: 3 })).body).toEqual(third.body);
    expect((await acme.get('/crm/contacts', { por_pagina: 2 })).body).toEqual(first.body);
  });

  test('may have another size and other filters, which are simply applied', async () => {
    const { cursor } = first.body.data;
    const rest = await acme.get('/crm/contacts', { por_pagina: 500, cursor });
    expect([namesOf(rest), rest.body.data.cursor]).toEqual([names.slice(2), null]);
    const filtered = await acme.get('/crm/contacts', { busqueda: 'a', cursor });
    expect([namesOf(filtered), filtered.body.data.total_contactos]).toEqual([['Eva', 'Eva', 'Iván'], 5]);
    expect(namesOf(await acme.get('/crm/contacts', { por_pagina: 2, pagina: 1, cursor }))).toEqual(['Eva', 'Eva']);
    expect(namesOf(await acme.get('/crm/contacts', { por_pagina: 2, cursor: '' }))).toEqual(['Ada', 'Bea']);
  });

  test('says nothing of numbers or names', () => {
    const bytes = Buffer.from(first.body.data.cursor, 'base64url').toString('latin1');
    expect(bytes).not.toMatch(/Bea|name|id/);
  });

  test('is 400 beside another page', async () => {
    const answer = await acme.get('/crm/contacts', { pagina: 2, cursor: first.body.data.cursor });
    expect([answer.status, answer.body.data]).toEqual([
      400,
      [{ campo: 'cursor', mensaje: 'no puede ir junto con pagina' }],
    ]);
  });

  test('is 400 where it is malformed, or of another list, company, key or order', async () => {
    const { cursor } = first.body.data;
    const globex = await server.company(records);
    const opened = server.service.cursors.open(acme.id, 'consultarContactos', cursor);
    if (!opened) throw new Error('Not a cursor');
    const wrong = {
      'no cursor': 'x',
      'half of one': cursor.slice(0, cursor.length / 2),
      longer: `${cursor}AAAA`,
      altered: `${cursor[0] === 'A' ? 'B' : 'A'}${cursor.slice(1)}`,
      'another list’s': (await acme.get('/suppliers', { por_pagina: 2 })).body.data.cursor,
      'another company’s': (await globex.get('/crm/contacts', { por_pagina: 2 })).body.data.cursor,
      'with another key': new Cursors(['another']).seal(acme.id, 'consultarContactos', opened),
      'of another order': server.service.cursors.seal(acme.id, 'consultarContactos', { ...opened, order: 'id' }),
    };
    for (const [what, value] of Object.entries(wrong)) {
      const answer = await acme.get('/crm/contacts', { cursor: value });
      expect([answer.status, answer.body.data], what).toEqual([400, [refused]]);
    }
  });
});

test('[ID-02] cursors of an earlier key open after a rotation', () => {
  const place = { order: 'name, id', page: 2, keys: ['Bea', null] };
  const sealed = new Cursors(['earlier']).seal(7, 'list', place);
  expect(new Cursors(['newest', 'earlier']).open(7, 'list', sealed)).toEqual(place);
  expect(new Cursors(['newest']).open(7, 'list', sealed)).toBeUndefined();
});

test('[PAG-02] a walk by cursor meets each row that was there all the while once, whatever comes and goes', async () => {
  const dates = ['', '2026-03-01', '2026-03-02', '2026-03-03'];
  const date = fc.constantFrom(...dates);
  const change = fc.oneof(
    fc.record({ add: date }),
    fc.record({ remove: fc.nat(11) }),
    fc.record({ restore: fc.nat(11) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(date, { minLength: 4, maxLength: 12 }),
      fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      async (planned, changes, por_pagina) => {
        const company = await server.company(
          planned.map((fecha, n) => ({
            ...{ coleccion: 'tareas', ref: `t${n}`, id: n + 1, titulo: `t${n}` },
            ...(fecha && { fecha_prevista_fin: fecha }),
          })),
        );
        const always = new Set(planned.map((_, n) => `t${n}`));
        const met: string[] = [];
        let cursor: string | null | undefined;
        for (let page = 0; cursor !== null; page++) {
          const { status, body } = await company.get('/tasks', { por_pagina, ...(cursor && { cursor }) });
          expect(status).toBe(200);
          met.push(...body.data.tareas.map(({ titulo }: { titulo: string }) => titulo));
          cursor = body.data.cursor;
          for (const each of changes[page] ?? []) {
            if ('add' in each) {
              const datos = { titulo: `new ${page}`, ...(each.add && { fecha_prevista_fin: each.add }) };
              expect((await company.post('/tasks', { datos })).status).toBe(200);
              continue;
            }
            const n = ('remove' in each ? each.remove : each.restore) % planned.length;
            always.delete(`t${n}`);
            const datos = { eliminada: 'remove' in each };
            expect((await company.put(`/tasks/${n + 1}`, { datos })).status).toBe(200);
          }
        }
        const there = met.filter((title) => always.has(title));
        expect(there.toSorted()).toEqual([...always].toSorted());
        const imported = met.filter((title) => title.startsWith('t'));
        expect(new Set(imported).size).toBe(imported.length);
      },
    ),
    { numRuns: 40 },
  );
}, 60_000);
