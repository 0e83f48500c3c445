// Sending to the agency, whose place a server of the test takes: mutual TLS, every answer that is documented, and none.
import { expect, test } from 'vitest';
import { SENDING_ADDRESSES, type Sender, send, UnansweredError } from '../../documents/verifactu/client.ts';
import { type Answer, AnswerError, envelopeOf } from '../../documents/verifactu/envelope.ts';
import { altaOf } from '../../documents/verifactu/record.ts';
import { type Agency, startAgency } from '../helpers/agency.ts';
import { selfSigned } from '../helpers/certificate.ts';
import { invoice } from './arbitrary-invoice.ts';
import { chain, making, recordOf } from './registers.ts';

const heading = { nombre: 'Talleres', nif: '89890001K' };
const records = [...chain([1, 2, 3].map((number) => invoice({ numero: `26/${number}` })))];
const senderTo = ({ url, certificate, ca }: Agency, more: Partial<Sender> = {}): Sender => ({
  url,
  certificate,
  ca,
  timeoutMs: 10_000,
  ...more,
});
async function answerOf(agency: Agency, sent: readonly { xml: string }[], of = heading): Promise<Answer> {
  const outcome = await send(envelopeOf(of, sent), senderTo(agency));
  if ('fallo' in outcome) throw new Error(outcome.fallo.descripcion);
  return outcome.respuesta;
}
const states = ({ lineas }: Answer) =>
  lineas.map(({ estado, error }) => (error ? `${estado} ${error.codigo}` : estado));

test('[DOC-02] registers are sent as they were made, and each has its answer', async () => {
  await using agency = await startAgency();
  agency.wait = 77;
  const answer = await answerOf(agency, records);
  expect(answer).toMatchObject({ estado: 'Correcto', espera: 77, csv: 'A-1', presentacion: { nif: '89890001K' } });
  expect(answer.lineas.map(({ tipo, numero, estado }) => [tipo, numero, estado])).toEqual([
    ['alta', '26/1', 'Correcto'],
    ['alta', '26/2', 'Correcto'],
    ['alta', '26/3', 'Correcto'],
    ['anulacion', '26/3', 'Correcto'],
  ]);
  expect(agency.taken).toEqual(records.map(({ xml }) => xml));
  expect([...agency.invoices.values()]).toEqual(['Correcta', 'Correcta', 'Anulada']);
});

test('[DOC-02] accepted with errors, refused, and in part', async () => {
  await using agency = await startAgency();
  agency.unknownClients.add('A28015865');
  const [first, second] = records;
  if (!first || !second) throw new Error('no registers');
  const wrongHash = { xml: second.xml.replace(/[0-9A-F]{64}(?=<\/sf:Huella><\/sf:RegistroAlta>)/, 'A'.repeat(64)) };
  const empty = { xml: second.xml.replace(/(<sf:DescripcionOperacion>).*?</, '$1<') };
  expect(states(await answerOf(agency, [first, wrongHash]))).toEqual([
    'AceptadoConErrores 2001',
    'AceptadoConErrores 2000',
  ]);
  const refused = await answerOf(agency, [empty]);
  expect(refused).toMatchObject({ estado: 'Incorrecto', csv: null, presentacion: null });
  expect(await answerOf(agency, [empty, ...records.slice(2, 3)])).toMatchObject({ estado: 'ParcialmenteCorrecto' });
});

test('[DOC-02] a lost answer: sending again tells that it was registered', async () => {
  await using agency = await startAgency();
  agency.behave('lose');
  const envelope = envelopeOf(heading, records.slice(0, 2));
  await expect(send(envelope, senderTo(agency))).rejects.toThrow(UnansweredError);
  const answer = await answerOf(agency, records.slice(0, 2));
  expect(states(answer)).toEqual(['Incorrecto 3000', 'Incorrecto 3000']);
  expect(answer.lineas[0]?.duplicado).toEqual({ estado: 'Correcta', error: null });
  expect(agency.taken).toHaveLength(2);
});

test('[DOC-02] corrections and annulments need what they correct, unless they say otherwise', async () => {
  await using agency = await startAgency();
  const of = (...args: Parameters<typeof altaOf>) => recordOf(altaOf(...args));
  const one = (more?: Parameters<typeof altaOf>[2]) => of(invoice(), making, more);
  expect(states(await answerOf(agency, [one({ subsanacion: true })]))).toEqual(['Incorrecto 3002']);
  expect(states(await answerOf(agency, [one({ subsanacion: true, rechazoPrevio: 'X' })]))).toEqual(['Correcto']);
  expect(states(await answerOf(agency, [one({ subsanacion: true })]))).toEqual(['Correcto']);
  expect(states(await answerOf(agency, records.slice(3)))).toEqual(['Incorrecto 3002']);
});

test('[DOC-02] faults, other pages and silence', async () => {
  await using agency = await startAgency();
  const envelope = envelopeOf(heading, records);
  agency.behave('client-fault', 'server-fault', 'page', 'silent');
  const faults = [await send(envelope, senderTo(agency)), await send(envelope, senderTo(agency))];
  expect(faults).toMatchObject([
    { fallo: { repetir: false, codigo: 4104 } },
    { fallo: { repetir: true, codigo: 4103 } },
  ]);
  await expect(send(envelope, senderTo(agency))).rejects.toThrow(AnswerError);
  await expect(send(envelope, senderTo(agency, { timeoutMs: 100 }))).rejects.toThrow(UnansweredError);
  const stop = AbortSignal.abort();
  await expect(send(envelope, senderTo(agency, { signal: stop }))).rejects.toThrow(UnansweredError);
  expect(agency.taken).toEqual([]);
});

test('[DOC-02] only to the agency, and only by the company’s certificate', async () => {
  await using agency = await startAgency();
  const envelope = envelopeOf(heading, records);
  const other = selfSigned('otra');
  await expect(send(envelope, senderTo(agency, { ca: other.cert }))).rejects.toThrow(UnansweredError);
  await expect(send(envelope, senderTo(agency, { certificate: other }))).rejects.toThrow(UnansweredError);
  expect(agency.received).toBe(0);
  const foreign = await answerOf(agency, records, { ...heading, nif: 'A28015865' });
  expect(foreign.estado).toBe('Incorrecto');
});

test('[DOC-02] the addresses are the published ones', () => {
  const all = Object.values(SENDING_ADDRESSES).flatMap((by) => Object.values(by));
  expect(all.map((address) => new URL(address).host)).toEqual([
    'prewww1.aeat.es',
    'prewww10.aeat.es',
    'www1.agenciatributaria.gob.es',
    'www10.agenciatributaria.gob.es',
  ]);
});
