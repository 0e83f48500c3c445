// `albaran user create`
import { createUser, findUser, grantCompany } from '../../platform/identity/users.ts';
import { type AddCommand, commandAuthor, fields } from '../command.ts';
import { companyOf } from '../companies.ts';
import { Failure } from '../failure.ts';
import { email, passwordOf } from './user-options.ts';

interface Options {
  email: string;
  name?: string;
  account?: string;
  admin?: boolean;
  passwordStdin?: boolean;
}

export const addUserCreate: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('create')
    .description('creates a person who may sign in; a generated password is shown only once')
    .requiredOption('--email <email>', 'what the person signs in with', email)
    .option('--name <name>', 'what the person is called (default: the e-mail)')
    .option('--account <slug>', 'a company the person belongs to')
    .option('--admin', 'makes the person an administrator, who manages API keys and all connections')
    .option('--password-stdin', 'read the password from standard input instead of generating one')
    .action((options: Options) =>
      onDatabase(async ({ database }) => {
        if (options.admin && !options.account)
          throw new Failure('--admin: expected --account beside it', { exitCode: 2 });
        const company = options.account ? await companyOf(database, options.account) : undefined;
        if (await findUser(database, options.email)) {
          throw new Failure(`There is a person with the e-mail ${JSON.stringify(options.email)} already`);
        }
        const { password, made } = await passwordOf(options);
        const user = await createUser(database, {
          email: options.email,
          name: options.name ?? options.email,
          password,
        });
        if (company) {
          const role = options.admin ? 'admin' : 'member';
          await grantCompany(database, { userId: user.id, accountId: company.id, role }, commandAuthor());
        }
        const json = { ...user, ...(made ? { password } : {}) };
        return { json, text: fields(json) + (made ? '\n\nThe password is not kept: note it down now.' : '') };
      }),
    );
