// A person and their connections leave a company together: a failure in between left connections that still worked.
import { expect, test } from 'vitest';
import { leaveCompany } from '../../platform/identity/users.ts';
import { ownDatabase } from '../helpers/own-database.ts';
import { poolerOptions } from '../helpers/pgbouncer.ts';
import { startServer } from '../helpers/world.ts';
import { newApplication } from '../oauth/application.ts';

test('[OAU-06] a person whose connections can’t be ended has not left either', async () => {
  await using database = await ownDatabase();
  await using server = await startServer({ database: { url: database.url, ...poolerOptions() } });
  const acme = await server.company();
  const application = await newApplication(server, acme);
  await application.connect();
  const { userId } = application.person;
  const author = { actor: 'command', door: 'command', requestId: 'test' } as const;
  const leave = () => leaveCompany(server.service.database, { userId, accountId: acme.id }, author);
  const state = async () => {
    const of = async (table: string) =>
      (await database.admin.query(`select from ${table} where account_id = $1 and user_id = $2`, [acme.id, userId]))
        .rowCount;
    return {
      memberships: await of('memberships'),
      live: await of('(select * from grants where revoked_at is null) g'),
    };
  };

  await database.admin.query('revoke update on grants from albaran_app');
  await expect(leave()).rejects.toThrow('permission denied');
  expect(await state()).toEqual({ memberships: 1, live: 1 });
  await database.admin.query('grant update on grants to albaran_app');
  expect(await leave()).toBe(true);
  expect(await state()).toEqual({ memberships: 0, live: 0 });
});
