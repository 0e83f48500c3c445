// Chains of registers for tests.
import type { DocumentContent } from '../../documents/content.ts';
import {
  type Alta,
  type Anulacion,
  altaOf,
  anulacionOf,
  type Link,
  type Making,
  type Outcome,
  type SystemSettings,
} from '../../documents/verifactu/record.ts';

export const system: SystemSettings = {
  producerName: 'Productora SL',
  producerNif: 'A00000000',
  systemName: 'albaran',
  systemId: 'A1',
  systemVersion: '0.2.0',
  installation: 'i-1',
  multipleCompanies: false,
};

export const making: Making = {
  previous: null,
  system,
  instant: Temporal.Instant.from('2026-11-22T22:30:15.987Z'),
  timeZone: 'Europe/Madrid',
};

export function recordOf<R>(outcome: Outcome<R>): R {
  if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems));
  return outcome.record;
}

/** The registers of invoices, each a second after the one before: every fourth is corrected, and every third annulled. */
export function* chain(contents: Iterable<DocumentContent>, installation = 'i-1'): Generator<Alta | Anulacion> {
  let previous: Link | null = null;
  let { instant } = making;
  const next = (): Making => {
    instant = instant.add({ seconds: 1 });
    return { ...making, system: { ...system, installation }, previous, instant };
  };
  let index = 0;
  for (const content of contents) {
    index++;
    const all: (() => Outcome<Alta | Anulacion>)[] = [() => altaOf(content, next())];
    if (index % 4 === 0) all.push(() => altaOf(content, next(), { subsanacion: true }));
    if (index % 3 === 0) all.push(() => anulacionOf(content, next()));
    for (const make of all) {
      const record: Alta | Anulacion = recordOf(make());
      yield record;
      previous = record;
    }
  }
}
