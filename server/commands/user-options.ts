// What the commands of `albaran user` share: how an e-mail and a password are given, and the person behind an e-mail.
import { text } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import type { Database } from '../../platform/database.ts';
import { fitsPassword, MAX_PASSWORD, MIN_PASSWORD, newPassword } from '../../platform/passwords.ts';
import { findUser, isEmail, type User } from '../../platform/users.ts';
import { Failure } from '../failure.ts';

export function email(given: string): string {
  if (isEmail(given)) return given;
  throw new InvalidArgumentError('Expected an e-mail address.');
}

/** The password on standard input, without the end of its line, or else a new one; `made` says which. */
export async function passwordOf({ passwordStdin }: { passwordStdin?: boolean }) {
  if (!passwordStdin) return { password: newPassword(), made: true };
  const password = (await text(process.stdin)).replace(/\r?\n$/, '');
  if (fitsPassword(password)) return { password, made: false };
  throw new Failure(`--password-stdin: expected ${MIN_PASSWORD} to ${MAX_PASSWORD} characters`, { exitCode: 2 });
}

/** The person with this e-mail. Throws a Failure when there is none. */
export async function userOf(database: Database, address: string): Promise<User> {
  const user = await findUser(database, address);
  if (!user) throw new Failure(`There is no person with the e-mail ${JSON.stringify(address)}`);
  return user;
}
