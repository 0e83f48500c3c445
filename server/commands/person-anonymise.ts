// `albaran person anonymise`

import {
  type Anonymised,
  anonymiseMentions,
  anonymiseRecord,
  ChangedMeanwhile,
  invoicesOf,
  type PersonKind,
  personalRecord,
} from '../../lifecycle/anonymise.ts';
import { removePerson } from '../../lifecycle/removal.ts';
import { noteWrite } from '../../platform/audit.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database.ts';
import { MissingIdKey, readyIdKeys } from '../../platform/id-keys.ts';
import { companiesOf, findUser, type User } from '../../platform/identity/users.ts';
import { Ids } from '../../platform/ids.ts';
import type { Origin } from '../../platform/journal.ts';
import { type AddCommand, type Answer, commandAuthor, type Opened, table } from '../command.ts';
import { type Company, companyOf } from '../companies.ts';
import { Failure } from '../failure.ts';
import { email, userOf } from './user-options.ts';

interface Options extends Partial<Record<PersonKind, string>> {
  account: string;
  user?: string;
  evenInvoiced?: boolean;
  dryRun?: boolean;
}

const KINDS = ['employee', 'contact', 'client', 'supplier'] as const satisfies readonly PersonKind[];

export const addPersonAnonymise: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('anonymise')
    .description('permanently anonymises a person in a company’s data: their record, and every text that mentions them')
    .requiredOption('--account <slug>', 'the company')
    .option('--employee <id>', 'the person, by number or by sealed id')
    .option('--contact <id>', 'the same, a contact')
    .option('--client <id>', 'the same, a client')
    .option('--supplier <id>', 'the same, a supplier')
    .option('--user <email>', 'the same, a person who signs in: deleted completely, from every company', email)
    .option('--even-invoiced', 'also a client or supplier on invoices, which must be kept by law for years')
    .option('--dry-run', 'shows what would change, and changes nothing')
    .action((options: Options) => {
      const kinds = KINDS.filter((kind) => options[kind] !== undefined);
      if (kinds.length + (options.user === undefined ? 0 : 1) !== 1) {
        const choices = [...KINDS, 'user'].map((kind) => `--${kind}`).join(', ');
        throw new Failure(`Expected one person: give one of ${choices}`, { exitCode: 2 });
      }
      return onDatabase(async (opened) => {
        const company = await companyOf(opened.database, options.account);
        const [kind] = kinds;
        return kind === undefined
          ? anonymiseUser(opened.database, company, await userOf(opened.database, options.user ?? ''), options)
          : anonymise(opened, company, kind, options);
      });
    });

async function anonymise(
  { database, config }: Opened,
  company: Company,
  kind: PersonKind,
  { evenInvoiced = false, dryRun = false, ...options }: Options,
): Promise<Answer> {
  const given = options[kind] ?? '';
  const keys = await readyIdKeys(database, config.idKeys).catch((error: unknown) => {
    throw error instanceof MissingIdKey ? new Failure(error.message, { cause: error }) : error;
  });
  const ids = new Ids(keys);
  const id = ids.open(company.id, kind, given);
  const done = await inTransaction(database, company, dryRun, async (db) => {
    const record = id === undefined ? undefined : await personalRecord(db, company.id, kind, id);
    if (id === undefined || !record) throw new Failure(`${company.slug} has no ${kind} ${JSON.stringify(given)}`);
    const invoices = evenInvoiced ? 0 : await invoicesOf(db, company.id, kind, id);
    if (invoices > 0) {
      throw new Failure(
        `The ${kind} is on ${invoices} ${invoices === 1 ? 'invoice' : 'invoices'}: the law keeps invoices for years, with those they name. Give --even-invoiced once they need not be kept`,
      );
    }
    return { ...(await anonymiseRecord(db, company.id, { kind, id, record }, origin())), email: record.email };
  });
  const signsIn = done.email && (await findUser(database, done.email));
  const notes = signsIn ? ['Somebody signs in with this e-mail: --user deletes them'] : [];
  return answerOf({ account: company.slug, kind, dryRun }, done, notes);
}

async function anonymiseUser(
  database: Database,
  company: Company,
  user: User,
  { dryRun = false }: Options,
): Promise<Answer> {
  const companies = await companiesOf(database, user.id);
  if (!companies.some(({ accountId }) => accountId === company.id)) {
    throw new Failure(`${user.email} does not belong to ${company.slug}`);
  }
  const person = { names: [user.name], shortNames: [], emails: [user.email], phones: [], taxIds: [], addresses: [] };
  const changes = await inTransaction(database, company, dryRun, (db) =>
    anonymiseMentions(db, company.id, person, origin()),
  );
  if (!dryRun) {
    for (const { accountId } of companies) await leave(database, accountId, user.id);
    const client = await database.pool.connect();
    try {
      await client.query('begin');
      await removePerson(client, user.id);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  }
  const slugs = companies.map(({ slug }) => slug);
  const notes = [`${dryRun ? 'Would be' : 'Is'} deleted, with sessions and connections, from ${slugs.join(', ')}`];
  return answerOf(
    { account: company.slug, kind: 'user', dryRun, companies: slugs },
    { changes, attachments: [] },
    notes,
  );
}

const origin = (): Origin => ({ ...commandAuthor(), operation: 'person anonymise', now: systemClock.now() });

/** Deletes a person's membership of a company and their authorizations there. */
const leave = (database: Database, accountId: number, userId: number): Promise<void> =>
  database.transaction(accountId, { write: true }, async (db) => {
    await db.deleteFrom('memberships').where('account_id', '=', accountId).where('user_id', '=', userId).execute();
    await db
      .deleteFrom('oauth_tokens')
      .where('account_id', '=', accountId)
      .where('grant_id', 'in', (grants) =>
        grants.selectFrom('grants').select('id').where('account_id', '=', accountId).where('user_id', '=', userId),
      )
      .execute();
    await db.deleteFrom('grants').where('account_id', '=', accountId).where('user_id', '=', userId).execute();
    await noteWrite(db, accountId, commandAuthor(), { operation: 'person anonymise', kind: 'user', id: userId });
  });

/** Runs `work` in one transaction, rolled back if it is a trial. */
async function inTransaction<T>(database: Database, { id, slug }: Company, trial: boolean, work: Work<T>): Promise<T> {
  let done: { result: T } | undefined;
  try {
    return await database.transaction(id, { write: true }, async (...parts) => {
      done = { result: await work(...parts) };
      if (trial) throw new Trial();
      return done.result;
    });
  } catch (error) {
    if (error instanceof Trial && done) return done.result;
    if (!(error instanceof ChangedMeanwhile)) throw error;
    throw new Failure(`Somebody was writing to ${slug}: nothing has changed, try again`, { cause: error });
  }
}

class Trial extends Error {}

function answerOf(
  head: { account: string; kind: string; dryRun: boolean; companies?: string[] },
  { changes, attachments }: Anonymised,
  notes: readonly string[],
): Answer {
  const lines = [
    changes.length === 0
      ? `Nothing ${head.dryRun ? 'would change' : 'changed'}`
      : table(
          ['TABLE', 'COLUMN', 'ROWS'],
          changes.map((change) => [change.table, change.column, String(change.rows)]),
        ),
    ...notes,
    ...(attachments.length === 0
      ? []
      : [
          '',
          'Attachments, which nobody has looked into:',
          table(
            ['ID', 'ESTIMATE', 'NAME'],
            attachments.map(({ id, estimate, name }) => [String(id), estimate ?? '', name]),
          ),
        ]),
  ];
  return { json: { ...head, changes, attachments, notes }, text: lines.join('\n') };
}
