import { getAccount } from './get-account.ts';

export const account = { account: { get: getAccount } };
