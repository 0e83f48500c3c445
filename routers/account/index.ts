import { findRecord } from './find-record.ts';
import { getAccount } from './get-account.ts';
import { importIntoCompany } from './import-records.ts';

export const account = {
  account: { get: getAccount },
  imports: { create: importIntoCompany },
  records: { find: findRecord },
};
