// `albaran person anonymise` leaves nothing of the person in any column and no figure changed.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { operations } from '../../bridges/operations.ts';
import type { PersonKind } from '../../lifecycle/anonymise.ts';
import { DERIVED } from '../../platform/derived.ts';
import { isRecordTable, OWNERS } from '../../platform/journal.ts';
import { EXAMPLE_NOW, exampleAccount, exampleRecords, examples } from '../helpers/examples.ts';
import { type OwnDatabase, ownDatabase } from '../helpers/own-database.ts';
import { databaseEnvironment } from '../helpers/pgbouncer.ts';
import { type Company, type FileRecord, type Server, startServer, TestClock } from '../helpers/world.ts';
import { newApplication } from '../oauth/application.ts';
import { newPerson } from '../oauth/person.ts';
import { run } from '../server/processes.ts';

vi.setConfig({ testTimeout: 120_000 }); // Each command is a process: half a second, several on a busy machine.

let database: OwnDatabase;
let server: Server;
beforeAll(async () => {
  database = await ownDatabase();
  server = await startServer({
    database: { url: database.url },
    clock: new TestClock(EXAMPLE_NOW),
    quotaPerMinute: 1_000_000,
  });
});
afterAll(async () => {
  await server.stop();
  await database[Symbol.asyncDispose]();
});

const albaran = (...args: string[]) => run(['person', 'anonymise', ...args], databaseEnvironment(database.url));
async function json(...args: string[]) {
  const { stdout, stderr } = await albaran(...args, '--json');
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

interface Somebody {
  first: string;
  last: string;
  email: string;
  phone: string;
  taxId: string;
}

/** The records of the examples, one of which is this person. */
function recordsWith(kind: PersonKind, { first, last, email, phone, taxId }: Somebody): FileRecord[] {
  const party = {
    nombre_fiscal: `${first} ${last}`,
    nombre_comercial: `${first} ${last}`,
    cif: taxId,
    email,
    telefono: phone,
    movil: phone,
  };
  const [collection, id, fields]: [string, number, object] = {
    employee: ['empleados', 1501, { nombre: first, apellidos: last, email }] as [string, number, object],
    contact: ['contactos', 2601, { nombre: `${first} ${last}`, email, movil: phone }] as [string, number, object],
    client: ['clientes', 1901, { ...party, direccion: `Calle de ${first} 5` }] as [string, number, object],
    supplier: ['proveedores', 2001, party] as [string, number, object],
  }[kind];
  return exampleRecords.map((record) =>
    record.coleccion === collection && record.id === id ? { ...record, ...fields } : record,
  );
}

const ID: Record<PersonKind, number> = { employee: 1501, contact: 2601, client: 1901, supplier: 2001 };

// Codes, keys, hashes, numbers and columns without free text.
const NO_TEXT =
  /^(code|key|slug|number|request_hash|search|prices|.*_key|subtype|day_type|shift_mode|entry_method|exit_method|time_zone)$/;
const NO_TABLE = [
  'accounts',
  'assistant_calls',
  'audit_records',
  'call_counts',
  'company_images',
  'document_links',
  'journals',
  'journal_entries',
  'oauth_tokens',
  'seals',
  'seal_chains',
  'register_chains',
  'invoice_registers',
  'register_answers',
  'document_counters',
];

/** Puts a mention into one row of every text column of the company. Returns the columns. */
async function mentionEverywhere(accountId: number, mention: string): Promise<string[]> {
  const { rows } = await database.admin.query<{ table: string; column: string; type: string }>(
    `select table_name as table, column_name as column, data_type as type from information_schema.columns c
     where table_schema = 'public' and data_type in ('text', 'jsonb') and is_generated = 'NEVER'
       and exists (select from information_schema.columns a where a.table_name = c.table_name and a.column_name = 'account_id')`,
  );
  const done: string[] = [];
  for (const { table, column, type } of rows) {
    if (NO_TEXT.test(column) || NO_TABLE.includes(table)) continue;
    // The newest row, which is no record of the person.
    const row = `ctid = (select ctid from ${table} where account_id = $1 order by created_at desc, ctid desc limit 1)`;
    const value =
      type === 'jsonb'
        ? `${column} || jsonb_build_object('nota', $2::text)`
        : `concat_ws(' ', nullif(${column}, ''), $2::text)`;
    const changed = await database.admin
      .query(`update ${table} set ${column} = ${value} where ${row}`, [accountId, mention])
      .catch((error: { code: string }) => {
        if (error.code !== '23514') throw error; // 23514: the column allows only some words.
      });
    if (changed?.rowCount) done.push(`${table}.${column}`);
  }
  return done;
}

const bare = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** The tables of the database with anything of the person in any form. */
async function tracesOf({ first, last, email, phone, taxId }: Somebody): Promise<string[]> {
  const { rows: tables } = await database.admin.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  );
  const wanted = [`${first} ${last}`, `${last}, ${first}`, last, `${first} ${last.split(' ')[0]}`, email].map(bare);
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await database.admin.query<{ text: string }>(`select t::text as text from ${name} t`);
    for (const { text } of rows) {
      const close = bare(text).replace(/[\s.()/·-]/g, '');
      const there =
        wanted.some((want) => bare(text).includes(want)) ||
        [phone, taxId].some((want) => close.includes(bare(want).replace(/[\s.-]/g, '')));
      if (there) found.push(`${name}: ${text.slice(0, 300)}`);
    }
  }
  return found;
}

/** The account's remaining calls decrease with each call; the journal and the seals have what is anonymised. */
const OF_WHAT_IS_DONE = [
  ...['obtenerCuenta', 'consultarCambios', 'consultarRegistroActividad'],
  ...['verificarDocumentos', 'consultarHistorialDocumento'],
];

/** Every number in every readable answer, without searches by text. */
async function figuresOf(company: Company): Promise<Record<string, number[]>> {
  const figures: Record<string, number[]> = {};
  for (const operation of operations) {
    if (operation.write || OF_WHAT_IS_DONE.includes(operation.alias) || operation.alias.startsWith('descargar'))
      continue;
    const { busqueda, email, movil, cif, ...input } = structuredClone(examples[operation.path] ?? {});
    const { status, body } = await company.alias(operation.alias, input);
    expect([operation.alias, status]).toEqual([operation.alias, 200]);
    figures[operation.alias] = numbersIn(body.data).sort((a, b) => a - b);
  }
  return figures;
}

const numbersIn = (value: unknown): number[] =>
  typeof value === 'number'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(numbersIn)
      : [];

const PEOPLE: Record<PersonKind, Somebody> = {
  employee: { first: 'Ángela', last: 'Ibáñez Pons', email: 'angela.ibanez@example.com', phone: '', taxId: '' },
  contact: {
    first: 'Luis',
    last: 'Núñez Vidal',
    email: 'luis.nunez@example.com',
    phone: '+34 612 34 56 78',
    taxId: '',
  },
  client: { first: 'Eva', last: 'Peña Solé', email: 'eva@solé.example', phone: '961 11 22 33', taxId: '12.345.678-Z' },
  supplier: { first: 'Noé', last: 'Cuñat Roca', email: 'noe@roca.example', phone: '971445566', taxId: 'X1234567L' },
};

describe.each(Object.entries(PEOPLE) as [PersonKind, Somebody][])('%s', (kind, person) => {
  test('nothing of them is left in any table, every figure is as it was, and what is searched by follows', async () => {
    // The person needs every field: an empty one would match every text.
    const known = { ...person, phone: person.phone || 'nothing', taxId: person.taxId || 'nothing' };
    const company = await server.company(recordsWith(kind, person), { cuenta: exampleAccount });
    await company.load([
      { coleccion: 'empleados', ref: 'otra', nombre: 'Otra', apellidos: 'Persona' },
      { coleccion: 'contactos', ref: 'otra', nombre: 'Otra Persona' },
      { coleccion: 'clientes', ref: 'otra', nombre_fiscal: 'Otra Persona' },
      { coleccion: 'proveedores', ref: 'otra', nombre_fiscal: 'Otra Persona' },
    ]);
    const other = await server.company([...exampleRecords], { cuenta: exampleAccount });
    await (await newApplication(server, company)).connect();
    const datos = { nombre: 'Nuria', email: 'nuria@example.com' };
    await company.post('/crm/contacts', { datos }, { 'x-idempotency-key': 'anonimo' });
    const [first = ''] = person.last.split(' ');
    const mention = [
      `Ver con ${person.first.toUpperCase()}  ${bare(person.last)} o «${person.last}, ${person.first}» <${person.email.toUpperCase()}>`,
      `${person.first} ${first}`,
      ...(person.phone ? [person.phone.replace(/^\+34 /, '').replaceAll(' ', '.')] : []),
      ...(person.taxId ? [`ES${person.taxId.replace(/[.-]/g, '').toLowerCase()}`] : []),
    ].join(' - ');
    const columns = await mentionEverywhere(
      company.id,
      kind === 'employee' ? mention : mention.replace(` - ${person.first} ${first}`, ''),
    );
    expect(columns.length).toBeGreaterThan(60);
    const [figures, otherFigures] = [await figuresOf(company), await figuresOf(other)];

    const args = ['--account', company.slug, `--${kind}`, server.service.ids.seal(company.id, kind, ID[kind])];
    const invoiced = kind === 'client' || kind === 'supplier';
    if (invoiced) {
      const refused = await albaran(...args);
      expect(refused).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^The \w+ is on \d+ invoices?: the law keeps/),
      });
      args.push('--even-invoiced');
    }
    const dry = await json(...args, '--dry-run');
    expect((await tracesOf(known)).length).toBeGreaterThan(40);
    const done = await json(...args);
    expect(done).toEqual({ ...dry, dryRun: false });
    const changed = done.changes.map(({ table, column }: Record<string, string>) => `${table}.${column}`);
    expect(changed).toEqual(expect.arrayContaining(columns.filter((name) => !name.startsWith('idempotency_records'))));
    expect(changed).toContain('idempotency_records.*');
    expect(done.attachments).toEqual(
      kind === 'client' || kind === 'contact' ? [expect.objectContaining({ id: 3501 })] : [],
    );

    // JRN-01: the records that show something else now; lines by their documents, and nothing of what is no record.
    const { rows: journalled } = await database.admin.query<{ record_table: string }>(
      `select distinct record_table from journal_entries where account_id = $1 and operation = 'person anonymise'`,
      [company.id],
    );
    const tables = new Set(journalled.map(({ record_table }) => record_table));
    const written = new Set(done.changes.map(({ table }: Record<string, string>) => table));
    expect(tables).toEqual(
      new Set(
        [...written].flatMap(
          (table) =>
            OWNERS[String(table)]?.map((owner) => owner.table) ?? (isRecordTable(String(table)) ? [table] : []),
        ),
      ),
    );

    expect(await tracesOf(known)).toEqual([]);
    // DOC-01: documents are sealed anew as they are now, and their chains can be followed.
    const { body: verified } = await company.get('/documents/verify');
    expect(verified.data).toMatchObject({ fallos: [] });
    expect(verified.data.correctos).toBe(verified.data.documentos);
    expect(await figuresOf(company)).toEqual(figures);
    expect(await figuresOf(other)).toEqual(otherFigures);
    expect((await json(...args)).changes).toEqual([]);
  });
});

test('what a row is searched and recognised by is made as when it was written', async () => {
  const company = await server.company([...exampleRecords], { cuenta: exampleAccount });
  const { rows: searched } = await database.admin.query<{ name: string; column: string }>(
    `select table_name as name, column_name as column from information_schema.columns
     where table_schema = 'public' and table_name <> 'users' and column_name in ('search', 'tax_key', 'email_key', 'phone_key')`,
  );
  const derived = Object.entries(DERIVED).flatMap(([name, columns]) =>
    Object.keys(columns).map((column) => `${name}.${column}`),
  );
  expect(derived.sort()).toEqual(searched.map(({ name, column }) => `${name}.${column}`).sort());
  for (const [name, columns] of Object.entries(DERIVED)) {
    const { rows } = await database.admin.query(`select * from ${name} where account_id = $1`, [company.id]);
    expect(rows.length, name).toBeGreaterThan(0);
    for (const row of rows)
      for (const [column, follow] of Object.entries(columns)) expect([name, follow(row)]).toEqual([name, row[column]]);
  }
});

test('somebody who signs in is deleted altogether, with what they authorised, and leaves the texts of the company', async () => {
  const company = await server.company([{ coleccion: 'clientes', ref: 'c', nombre_fiscal: 'Ana Pons' }]);
  const other = await server.company();
  const person = await newPerson(server, company, other);
  await company.load([{ coleccion: 'canales', ref: 'canal', titulo: `Web de ${person.email}` }]);
  const args = ['--account', company.slug, '--user', person.email];
  const { companies, changes } = await json(...args, '--dry-run');
  expect(companies.sort()).toEqual([company.slug, other.slug].sort());
  expect(changes).toContainEqual({ table: 'channels', column: 'title', rows: 1 });
  expect(await rowsOf(person.userId)).toEqual([1, 2, 1, 1]);
  await json(...args);
  expect(await rowsOf(person.userId)).toEqual([0, 0, 0, 0]);
  const { rows } = await database.admin.query('select title from channels where account_id = $1', [company.id]);
  expect(rows).toEqual([{ title: 'Web de [anónimo]' }]);
  expect((await albaran(...args)).stderr).toContain('There is no person with the e-mail');
});

async function rowsOf(userId: number): Promise<(number | null)[]> {
  const counts: (number | null)[] = [];
  for (const from of [
    'users where id',
    'memberships where user_id',
    'user_sessions where user_id',
    'sign_ins where user_id',
  ]) {
    counts.push((await database.admin.query(`select from ${from} = $1`, [userId])).rowCount);
  }
  return counts;
}

test('nobody, two people, or one that the company does not have: nothing is done', async () => {
  const [company, other] = [await server.company([...exampleRecords]), await server.company([])];
  const account = ['--account', company.slug];
  const stranger = server.service.ids.seal(other.id, 'employee', 1501);
  const answers = await Promise.all([
    albaran(...account),
    albaran(...account, '--employee', '1501', '--client', '1901'),
    albaran(...account, '--employee', '999999'),
    albaran(...account, '--employee', stranger),
    albaran(...account, '--user', 'nobody@example.com'),
  ]);
  expect(answers.map(({ code }) => code)).toEqual([2, 2, 1, 1, 1]);
  expect(answers[0]?.stderr).toContain('--employee');
  expect(answers[3]?.stderr).toContain('has no employee');
});
