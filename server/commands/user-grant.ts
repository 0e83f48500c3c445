// `albaran user grant`
import { grantCompany } from '../../platform/identity/users.ts';
import { type AddCommand, commandAuthor } from '../command.ts';
import { companyOf } from '../companies.ts';
import { email, userOf } from './user-options.ts';

export const addUserGrant: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('grant')
    .description('adds a person to a company, or changes their role there')
    .requiredOption('--email <email>', 'the person', email)
    .requiredOption('--account <slug>', 'the company')
    .option(
      '--admin',
      'makes the person an administrator, who manages API keys and all connections (default: a member)',
    )
    .action((options: { email: string; account: string; admin?: boolean }) =>
      onDatabase(async ({ database }) => {
        const [user, company] = [await userOf(database, options.email), await companyOf(database, options.account)];
        const role = options.admin ? 'admin' : 'member';
        await grantCompany(database, { userId: user.id, accountId: company.id, role }, commandAuthor());
        return {
          json: { id: user.id, email: user.email, account: company.slug, role },
          text: `${user.email} is ${role === 'admin' ? 'an administrator' : 'a member'} of ${company.slug}`,
        };
      }),
    );
