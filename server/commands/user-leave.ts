// `albaran user leave`
import { leaveCompany } from '../../platform/identity/users.ts';
import { type AddCommand, commandAuthor } from '../command.ts';
import { companyOf } from '../companies.ts';
import { email, userOf } from './user-options.ts';

export const addUserLeave: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('leave')
    .description('removes a person from a company and ends their authorizations there')
    .requiredOption('--email <email>', 'the person', email)
    .requiredOption('--account <slug>', 'the company')
    .action((options: { email: string; account: string }) =>
      onDatabase(async ({ database }) => {
        const [user, company] = [await userOf(database, options.email), await companyOf(database, options.account)];
        const left = await leaveCompany(database, { userId: user.id, accountId: company.id }, commandAuthor());
        return {
          json: { id: user.id, email: user.email, account: company.slug, left: true, already: !left },
          text: left ? `${user.email} is out of ${company.slug}` : `${user.email} was not in ${company.slug}`,
        };
      }),
    );
