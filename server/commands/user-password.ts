// `albaran user password`
import { setPassword } from '../../platform/identity/users.ts';
import { type AddCommand, commandAuthor, fields } from '../command.ts';
import { email, passwordOf, userOf } from './user-options.ts';

export const addUserPassword: AddCommand = (parent, { onDatabase }) =>
  parent
    .command('password')
    .description('sets a new password for a person and ends their sessions')
    .requiredOption('--email <email>', 'the person', email)
    .option('--password-stdin', 'read the password from standard input instead of generating one')
    .action((options: { email: string; passwordStdin?: boolean }) =>
      onDatabase(async ({ database }) => {
        const user = await userOf(database, options.email);
        const { password, made } = await passwordOf(options);
        await setPassword(database, user.id, password, commandAuthor());
        const json = { ...user, ...(made ? { password } : {}) };
        return { json, text: fields(json) + (made ? '\n\nThe password is not kept: note it down now.' : '') };
      }),
    );
