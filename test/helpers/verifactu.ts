// VeriFactu for tests: the operator's settings, and a company for which it is on.

import type { RegisterMode } from '../../entities/values.ts';
import { queueRegisters, switchVerifactu } from '../../lifecycle/verifactu.ts';
import type { Service } from '../../platform/context.ts';
import type { VerifactuSettings } from '../../platform/verifactu-settings.ts';

export const verifactu: VerifactuSettings = {
  producer: {
    producerName: 'Albaran de Prueba, S.L.',
    producerNif: 'A00000000',
    systemName: 'Albaran',
    systemId: 'AL',
    systemVersion: '1.0',
  },
  declarationUrl: 'https://albaran.example/declaracion',
  sending: undefined,
};

/** `cuenta` of a company whose invoices can be registered. */
export const registrable = { razon_social: 'Cuadra Obras, S.L.', cif: 'B12345674', pais: 'España' };

export async function switchOn(
  { database, clock }: Pick<Service, 'database' | 'clock'>,
  accountId: number,
  mode: RegisterMode | null = 'produccion',
) {
  const now = clock.now();
  await queueRegisters(database, accountId, now);
  await database.transaction(accountId, { write: true }, (db) =>
    switchVerifactu(db, accountId, { mode, sharesPeople: false, now }),
  );
}
