// `npm run prove:verifactu`: registers of invoices are what the tax agency publishes: its schemas, its rules, its hashes.
//
//   npm run prove:verifactu -- --schemas ~/tikeV1.0      the folder of the published schemas; 10,000 invoices, 20 kills, random seed
//   npm run prove:verifactu -- --schemas ~/tikeV1.0 --invoices 200 --kills 3 --random 200 --seed 7
//
// Invoices, rectifications and annulments by eight writers, while the service is killed and the agency loses answers: every register in one
// chain, valid, its hash by a second implementation, and taken by the agency once, in order. Official hashes; then random invoices, rectifying ones, corrections and annulments in a chain: each register valid against
// SuministroInformacion.xsd, by the rules beyond it, and by a second implementation of the hash that reads the XML alone; each envelope of
// a thousand against SuministroLR.xsd. Registers that are broken on purpose have to be found. Exit 1 otherwise.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { envelopeOf, MAX_RECORDS } from '../../documents/verifactu/envelope.ts';
import { hashOfAlta, hashOfAnulacion } from '../../documents/verifactu/hash.ts';
import type { Alta, Anulacion } from '../../documents/verifactu/record.ts';
import { arbitraryInvoice } from '../documents/arbitrary-invoice.ts';
import { chain } from '../documents/registers.ts';
import { altas, anulaciones, vectorXml } from '../documents/verifactu-vectors.ts';
import { elementsIn, secondHash } from '../helpers/second-hash.ts';
import { table } from './stand.ts';
import { runProof } from './supervisor.ts';
import { issuedRegisters } from './verifactu/issued.ts';
import { wrongIn, wrongInChain } from './verifactu/registers.ts';
import { missing, schemasOf } from './verifactu/schemas.ts';

const SHOWN = 20;

const { values: options } = parseArgs({
  options: {
    schemas: { type: 'string' },
    invoices: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '20' },
    random: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
  },
});

type Schemas = ReturnType<typeof schemasOf>;
/** What a part of the proof found: lines of its summary, and violations. */
interface Found {
  summary: [string, number][];
  violations: string[];
}

/** The published hashes, by both implementations. */
async function vectors(): Promise<Found> {
  const all = [
    ...altas.map(({ of, hash, source }) => ({ of, hash, source, computed: hashOfAlta(of) })),
    ...anulaciones.map(({ of, hash, source }) => ({ of, hash, source, computed: hashOfAnulacion(of) })),
  ];
  const violations: string[] = [];
  for (const { of, hash, source, computed } of all) {
    if (computed !== hash) violations.push(`${of.numero} of ${source}: ${computed}`);
    const second = await secondHash(vectorXml(of, hash));
    if (second !== hash) violations.push(`${of.numero} of ${source}, second implementation: ${second}`);
  }
  return { summary: [['published hashes', all.length]], violations };
}

/** Random invoices with their registers, made and checked without the service. */
async function randomRegisters({ register, message }: Schemas): Promise<Found> {
  const contents = fc.sample(arbitraryInvoice, { numRuns: Number(options.random), seed: Number(options.seed) });
  // The agency takes one issuer at a time.
  const issuer = contents[0]?.emisor;
  const records = [...chain(contents.map((content) => ({ ...content, emisor: issuer ?? content.emisor })))];
  const xmls = records.map(({ xml }) => xml);
  const violations = await wrongInChain(xmls, register);
  const heading = { nombre: issuer?.nombre_fiscal ?? '', nif: records[0]?.emisor ?? '' };
  const envelopes = Array.from({ length: Math.ceil(records.length / MAX_RECORDS) }, (_, index) =>
    envelopeOf({ ...heading, incidencia: index > 0 }, records.slice(index * MAX_RECORDS, (index + 1) * MAX_RECORDS)),
  );
  for (const [index, envelope] of envelopes.entries()) {
    const invalid = message(bodyOf(envelope));
    if (invalid !== undefined) violations.push(`envelope ${index + 1}: ${invalid}`);
  }
  let broken = 0;
  for (const record of records.slice(0, 200)) {
    for (const xml of breakings(record)) {
      broken++;
      if ((await wrongIn(xml, register)).length === 0) violations.push(`nothing found wrong in ${xml}`);
    }
  }
  const of = (...kinds: readonly string[]) =>
    records.filter((record) => kinds.includes(record.tipo === 'alta' ? record.tipoFactura : record.tipo)).length;
  return {
    summary: [
      ['random invoices', contents.length],
      ['registers in the chain', records.length],
      ['of full invoices', of('F1')],
      ['of simplified ones', of('F2')],
      ['of rectifying ones', of('R1', 'R2', 'R3', 'R4', 'R5')],
      ['of annulments', of('anulacion')],
      ['envelopes', envelopes.length],
      ['broken on purpose, all found', broken],
    ],
    violations,
  };
}

/** The message inside a SOAP envelope, with the namespaces that were declared around it. */
function bodyOf(envelope: string): string {
  const [, declared = ''] = /<soapenv:Envelope([^>]*)>/.exec(envelope) ?? [];
  const [body = ''] = elementsIn(envelope, 'Body');
  return body.replace('<lr:RegFactuSistemaFacturacion', `<lr:RegFactuSistemaFacturacion${declared}`);
}

/** A register changed in ways that the checks have to see. */
function breakings({ xml, huella }: Alta | Anulacion): string[] {
  return [
    xml.replace(
      /(\d\d)([+-]\d\d:\d\d<)/,
      (_, seconds: string, zone: string) => `${seconds === '00' ? '01' : '00'}${zone}`,
    ),
    xml.replace(`${huella}</sf:Huella></`, `${'0'.repeat(64)}</sf:Huella></`),
    xml.replace(/<sf:IdSistemaInformatico>.*?<\/sf:IdSistemaInformatico>/, ''),
    xml.replace('<sf:TipoHuella>01', '<sf:TipoHuella>02'),
  ];
}

async function main(): Promise<boolean> {
  const advice = missing(options.schemas);
  if (advice !== undefined || options.schemas === undefined) {
    console.error(advice);
    return false;
  }
  const started = performance.now();
  const schemas = schemasOf(options.schemas);
  const issuing = { seed: Number(options.seed), invoices: Number(options.invoices), kills: Number(options.kills) };
  const parts = [await vectors(), await randomRegisters(schemas), await issuedRegisters(issuing, schemas)];
  const violations = parts.flatMap((part) => part.violations);
  const summary = [
    [`seed ${options.seed}`, ''],
    ...parts.flatMap((part) => part.summary),
    ['seconds', Math.round((performance.now() - started) / 1000)],
    ['violations', violations.length],
  ];
  console.log(`\n${table(summary)}\n`);
  if (violations.length > 0) console.error(violations.slice(0, SHOWN).join('\n'));
  console.log(violations.length === 0 ? 'Registers hold.' : `Not proved; seed ${options.seed}.`);
  return violations.length === 0;
}

await runProof(main);
