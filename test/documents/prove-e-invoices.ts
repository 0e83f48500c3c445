// `npm run prove:e-invoices -- --schemas <folder>`: e-invoices of arbitrary content are valid against the published schemas. DOC-04
//
//   --invoices 2000    how many, each as Facturae and as UBL
//   --seed 7           the same invoices again
//   --write <folder>   keeps the first 200 of each format there, for other validators
//
// The folder, or folders in it, have the schemas, unmodified; they are not part of the project:
//
//   Facturaev3_2_2.xsd, xmldsig-core-schema.xsd       facturae.gob.es, "Formato Facturae", version 3.2.2; w3.org/TR/xmldsig-core
//   UBL-Invoice-2.1.xsd, UBL-CreditNote-2.1.xsd       docs.oasis-open.org/ubl/os-UBL-2.1: its folders `xsd/maindoc` and `xsd/common`
//
// What of the two is missing is said, and not validated. Exit 1 if an invoice is invalid, 2 if there is no schema.
import { randomInt } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { XmlDocument, XsdValidator, xmlRegisterInputProvider } from 'libxml2-wasm';
import { fsInputProviders } from 'libxml2-wasm/lib/nodejs.mjs';
import { facturae } from '../../documents/e-invoices/facturae.ts';
import type { EInvoice } from '../../documents/e-invoices/parts.ts';
import { ubl } from '../../documents/e-invoices/ubl.ts';
import { invoices } from './arbitrary-content.ts';

const { values: options } = parseArgs({
  options: {
    schemas: { type: 'string' },
    invoices: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    write: { type: 'string' },
  },
});

const WHERE = `Give the folder of the published schemas: npm run prove:e-invoices -- --schemas <folder>
  Facturae   Facturaev3_2_2.xsd from facturae.gob.es (Formato Facturae), with xmldsig-core-schema.xsd from w3.org/TR/xmldsig-core
  UBL        xsd/maindoc and xsd/common from docs.oasis-open.org/ubl/os-UBL-2.1 (UBL-2.1.zip)`;

const KEPT = 200;
const SHOWN = 10;
/** Documents made at a time: arbitrary texts of many would fill the memory. */
const AT_ONCE = 200;

xmlRegisterInputProvider(fsInputProviders);

const found = options.schemas
  ? readdirSync(options.schemas, { recursive: true, encoding: 'utf8' }).map((file) =>
      resolve(options.schemas ?? '', file),
    )
  : [];

/** The schema of that file; undefined if it isn't there. */
function schema(file: string): XsdValidator | undefined {
  const path = found.find((one) => basename(one) === file);
  if (!path && options.schemas) console.warn(`${file}: not in the folder, not validated`);
  return path ? XsdValidator.fromDoc(XmlDocument.fromBuffer(readFileSync(path), { url: path })) : undefined;
}

const validators = {
  Facturae: schema('Facturaev3_2_2.xsd'),
  Invoice: schema('UBL-Invoice-2.1.xsd'),
  CreditNote: schema('UBL-CreditNote-2.1.xsd'),
};
if (!Object.values(validators).some(Boolean)) {
  console.error(WHERE);
  process.exit(2);
}
if (options.write) mkdirSync(options.write, { recursive: true });

const counted: Record<keyof typeof validators, number> = { Facturae: 0, Invoice: 0, CreditNote: 0 };
let refused = 0;
let invalid = 0;

function check(made: EInvoice): void {
  if ('problems' in made) {
    refused++;
    return;
  }
  const kind = made.xml.includes('<fe:Facturae')
    ? 'Facturae'
    : made.xml.includes('<CreditNote ')
      ? 'CreditNote'
      : 'Invoice';
  const number = ++counted[kind];
  if (options.write && number <= KEPT) writeFileSync(join(options.write, `${kind}-${number}.xml`), made.xml);
  try {
    using document = XmlDocument.fromString(made.xml);
    validators[kind]?.validate(document);
  } catch (error) {
    if (++invalid <= SHOWN) console.error(`${kind} ${number}: ${error}\n${made.xml.slice(0, 4000)}\n`);
  }
}

const wanted = Number(options.invoices);
const seed = Number(options.seed);
for (let done = 0; done < wanted; done += AT_ONCE) {
  const numRuns = Math.min(AT_ONCE, wanted - done);
  for (const content of fc.sample(invoices, { numRuns, seed: seed + done })) {
    check(facturae(content));
    check(ubl(content));
  }
}
const kinds = ['Facturae', 'Invoice', 'CreditNote'] as const;
const validated = kinds.map((kind) => `${counted[kind]} ${kind}${validators[kind] ? '' : ' (not validated)'}`);
console.log(`Seed ${seed}: ${validated.join(', ')}; ${invalid} invalid, ${refused} refused for what they lack`);
process.exitCode = invalid > 0 ? 1 : 0;
