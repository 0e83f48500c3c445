// What goes wrong while calls are answered: the service is killed, PostgreSQL shut down, and account files are imported between.
import { setTimeout as wait } from 'node:timers/promises';
import { importAccountFile } from '../../account-file/import.ts';
import { exampleAccount } from '../helpers/examples.ts';
import { LIMIT_MS, type Proof } from './once/proof.ts';
import { Random } from './random.ts';
import { type OwnPostgres, type Supervised, standOn } from './supervisor.ts';

/** What is disturbed, how often, and the seed of the order. */
export interface Disturbed {
  service: Supervised;
  postgres: OwnPostgres;
  /** Whose files are imported. */
  account: number;
  seed: number;
  kills: string;
  restarts: string;
  imports: string;
}

/** The stream of the seed's random numbers; those of writers are below. */
const NOT_A_WRITER = 12;

/** Kills, restarts and imports in the seed's order, each while calls are being answered. */
export async function disturb(proof: Proof, { service, postgres, account, seed, ...counts }: Disturbed): Promise<void> {
  const random = new Random(seed, NOT_A_WRITER);
  const of = (what: 'kill' | 'restart' | 'import', count: string) =>
    Array.from({ length: Number(count) }, () => ({ what, at: random.next() }));
  const events = [...of('kill', counts.kills), ...of('restart', counts.restarts), ...of('import', counts.imports)];
  for (const [index, { what }] of events.sort((one, other) => one.at - other.at).entries()) {
    await service.up();
    const enough = proof.acknowledged + random.int(5, 60);
    for (const until = Date.now() + LIMIT_MS; proof.acknowledged < enough; await wait(5)) {
      if (Date.now() > until) throw new Error('No calls are answered any more');
    }
    await wait(random.int(0, 30));
    if (what === 'kill') service.kill();
    else if (what === 'restart') {
      await postgres.end(index % 2 ? 'immediate' : 'fast');
      await postgres.start();
    } else {
      await using stand = await standOn(postgres.url);
      const clients = Array.from({ length: 50 }, (_, client) =>
        // Each file has some records of the one before.
        JSON.stringify({
          coleccion: 'clientes',
          ref: `i${index + client}`,
          nombre_fiscal: `De fichero ${index} ${client}`,
        }),
      );
      const own = JSON.stringify({ coleccion: 'cuenta', ref: 'cuenta', nombre: 'Prueba', ...exampleAccount });
      await importAccountFile(stand.database, account, [own, ...clients]);
    }
  }
  await service.up();
}
