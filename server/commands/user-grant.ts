// `albaran user grant`
import { grantCompany } from '../../platform/users.ts';
import { type AddCommand, commandAuthor } from '../command.ts';
import { companyOf } from '../companies.ts';
import { email, userOf } from './user-options.ts';

export const addUserGrant: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('grant')
    .description('takes a person into a company, or changes what they may do there')
    .requiredOption('--email <email>', 'the person', email)
    .requiredOption('--account <slug>', 'the company')
    .option('--admin', 'the person sees to its API keys and everybody’s connections; left out, they don’t')
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
