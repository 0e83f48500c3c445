// Checks registers wherever they come from: by the schema, the agency's rules, a second implementation of the hash, and the chain.
import { type Read, recordsOf, verify } from '../../../documents/verifactu/verify.ts';
import { brokenRules } from '../../helpers/agency-rules.ts';
import { secondHash, textIn } from '../../helpers/second-hash.ts';
import type { Validate } from './schemas.ts';

/** The hash that a register says it has. */
export const ownHash = (xml: string): string | undefined =>
  textIn(xml.replace(/<(\w+:)?Encadenamiento>.*<\/(\w+:)?Encadenamiento>/s, ''), 'Huella');

/** What is wrong with one register by itself. */
export async function wrongIn(xml: string, validate: Validate): Promise<string[]> {
  const invalid = validate(xml);
  const computed = await secondHash(xml);
  const hash = ownHash(xml);
  return [
    ...(invalid === undefined ? [] : [`schema: ${invalid}`]),
    ...(hash === computed ? [] : [`second hash: ${computed}, not ${hash}`]),
    ...(await brokenRules(xml)).map((rule) => `rule: ${rule}`),
  ];
}

/** What is wrong with a company's registers, oldest first: each by itself, and the chain from the first on. */
export async function wrongInChain(xmls: readonly string[], validate: Validate): Promise<string[]> {
  const wrong: string[] = [];
  for (const [index, xml] of xmls.entries())
    for (const one of await wrongIn(xml, validate)) wrong.push(`register ${index + 1}: ${one}`);
  const { registros, fallos, continuaciones } = await verify(reading(xmls));
  if (registros !== xmls.length) wrong.push(`${registros} registers of ${xmls.length} were read`);
  for (const { registro, motivo } of fallos) wrong.push(`register ${registro}: ${motivo}`);
  for (const { registro } of continuaciones) wrong.push(`register ${registro}: the chain begins before it`);
  return wrong;
}

async function* reading(xmls: readonly string[]): AsyncGenerator<Read> {
  async function* lines() {
    for (const registro of xmls) yield `${JSON.stringify({ registro })}\n`;
  }
  yield* recordsOf(lines());
}
