// Shared by the commands of `albaran user`: e-mail and password options, and looking a person up.
import { text } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import type { Database } from '../../platform/database.ts';
import { fitsPassword, MAX_PASSWORD, MIN_PASSWORD, newPassword } from '../../platform/identity/passwords.ts';
import { findUser, type User } from '../../platform/identity/users.ts';
import { isEmail } from '../../platform/text.ts';
import { Failure } from '../failure.ts';

/** Parses an e-mail option. */
export function email(given: string): string {
  if (isEmail(given)) return given;
  throw new InvalidArgumentError('Expected an e-mail address.');
}

/** The password from standard input without its line end, or a random one (`made`). */
export async function passwordOf({ passwordStdin }: { passwordStdin?: boolean }) {
  if (!passwordStdin) return { password: newPassword(), made: true };
  const password = (await text(process.stdin)).replace(/\r?\n$/, '');
  if (fitsPassword(password)) return { password, made: false };
  throw new Failure(`--password-stdin: expected ${MIN_PASSWORD} to ${MAX_PASSWORD} characters`, { exitCode: 2 });
}

/** The person with this e-mail. Throws a Failure if there is none. */
export async function userOf(database: Database, address: string): Promise<User> {
  const user = await findUser(database, address);
  if (!user) throw new Failure(`There is no person with the e-mail ${JSON.stringify(address)}`);
  return user;
}
