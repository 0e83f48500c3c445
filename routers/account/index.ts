import { findRecord } from './find-record.ts';
import { getAccount } from './get-account.ts';
import { importIntoCompany } from './import-records.ts';
import { listChanges } from './list-changes.ts';

export const account = {
  account: { get: getAccount },
  changes: { list: listChanges },
  imports: { create: importIntoCompany },
  records: { find: findRecord },
};
