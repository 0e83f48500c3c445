// Invoices that a service registers while it is killed, and sends to an agency that loses answers.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Behaviour, startAgency } from '../../helpers/agency.ts';
import { registrable, switchOn } from '../../helpers/verifactu.ts';
import { Random } from '../random.ts';
import { newApiKey, newCompany } from '../stand.ts';
import { standOn, startOwnPostgres, supervise } from '../supervisor.ts';
import { wrongInChain } from './registers.ts';
import type { schemasOf } from './schemas.ts';

const WRITERS = 8;
const LIMIT_MS = 120_000;
/** With its right control character, and without one: those get simplified invoices. */
const CLIENTS = ['A28015865', 'A00000000', '12345678Z', 'X0000000T', '', ''];
const RATES = [21, 21, 10, 4];
const DISTURBANCES: readonly Behaviour[] = ['lose', 'page', 'server-fault', 'lose'];

interface Options {
  seed: number;
  /** How many are issued. */
  invoices: number;
  kills: number;
}

/** What was found: lines of a summary, and violations. */
export async function issuedRegisters(
  { seed, invoices, kills }: Options,
  { register, message }: ReturnType<typeof schemasOf>,
) {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'albaran-verifactu-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const agency = stack.use(await startAgency(message));
  agency.wait = 1;
  const [certificate, authority] = [join(folder, 'certificate.pem'), join(folder, 'authority.pem')];
  await writeFile(certificate, `${agency.certificate.cert}\n${agency.certificate.key}`);
  await writeFile(authority, agency.ca);
  const postgres = stack.use(await startOwnPostgres());
  const stand = stack.use(await standOn(postgres.url));
  const account = await newCompany(
    stand,
    CLIENTS.map((cif, index) => ({
      coleccion: 'clientes',
      id: index + 1,
      nombre_fiscal: `Cliente ${index + 1}`,
      ...(cif && { cif }),
    })),
    registrable,
  );
  const clock = { now: () => Temporal.Now.instant() };
  await switchOn({ database: stand.database, clock }, account);
  const headers = { ...(await newApiKey(stand, account)), 'content-type': 'application/json' };
  const service = stack.use(
    await supervise(postgres.url, {
      VERIFACTU_PRODUCER_NAME: 'Productora de Prueba, S.L.',
      VERIFACTU_PRODUCER_NIF: 'A00000000',
      VERIFACTU_SYSTEM_NAME: 'Albaran',
      VERIFACTU_SYSTEM_ID: 'AL',
      VERIFACTU_SYSTEM_VERSION: '1',
      VERIFACTU_CERTIFICATE: certificate,
      VERIFACTU_URL: agency.url,
      NODE_EXTRA_CA_CERTS: authority,
    }),
  );

  const violations: string[] = [];
  const count = { issued: 0, rectified: 0, annulled: 0 };
  const total = () => count.issued + count.rectified;

  /** Sent until it is answered. */
  async function post(path: string, body: object): Promise<string | undefined> {
    const key = randomUUID();
    for (const until = Date.now() + LIMIT_MS; Date.now() < until; await wait(20)) {
      try {
        const response = await fetch(`${service.url()}/api/v1${path}`, {
          method: 'POST',
          headers: { ...headers, 'x-idempotency-key': key },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(20_000),
        });
        const text = await response.text();
        if (response.status === 200) {
          const { data } = JSON.parse(text);
          return typeof data === 'string' ? data : data.facturaId;
        }
        if (![409, 503].includes(response.status)) {
          violations.push(`${path} was answered ${response.status}: ${text.slice(0, 300)}`);
          return undefined;
        }
      } catch {
        // It was killed meanwhile.
      }
    }
    violations.push(`${path} was not answered`);
    return undefined;
  }

  async function keepIssuing(index: number): Promise<void> {
    const random = new Random(seed, index);
    const open: string[] = [];
    while (total() < invoices && violations.length === 0) {
      const [first] = open;
      const change = random.next();
      if (first && change < 0.25) {
        open.shift();
        const motivo = 'Error en la factura';
        if (change < 0.15) {
          if (await post(`/invoices/${first}/rectify`, { motivo, compensar: false })) count.rectified++;
        } else if (await post(`/invoices/${first}/annul`, { motivo })) count.annulled++;
        continue;
      }
      const detalles = Array.from({ length: random.int(1, 5) }, (_, line) => ({
        cantidad: random.int(1, 900) / 100,
        descripcion: `Trabajo ${line + 1}`,
        // Five lines of these are within what a simplified invoice may amount to.
        importe_unitario: random.int(1, 5500) / 100,
        iva: random.pick(RATES),
      }));
      const cliente = { id: random.int(1, CLIENTS.length) };
      const made = await post('/invoices', { cliente, pedido: { obra: 'Obra <&> "ñ€"' }, detalles });
      if (!made) continue;
      count.issued++;
      open.push(made);
    }
  }

  const writing = Promise.all(Array.from({ length: WRITERS }, (_, index) => keepIssuing(index)));
  const random = new Random(seed, WRITERS);
  for (let kill = 1; kill <= kills && violations.length === 0; kill++) {
    await service.up();
    const enough = Math.floor((kill * invoices) / (kills + 1));
    while (total() < enough && violations.length === 0) await wait(5);
    agency.behave(random.pick(DISTURBANCES));
    // The company's turn comes now: a kill may fall into a sending.
    await stand.admin.query('update register_queue set look_at = now()');
    await wait(random.int(0, 5000) * (kill % 2));
    service.kill();
  }
  await writing;
  await service.up();

  const pending = async () => {
    const { rows } = await stand.admin.query<{ pending: string }>(
      'select n - answered as pending from register_chains',
    );
    return Number(rows[0]?.pending);
  };
  for (const until = Date.now() + LIMIT_MS; (await pending()) > 0; await wait(500)) {
    if (Date.now() > until) {
      violations.push(`${await pending()} registers were not answered`);
      break;
    }
    await stand.admin.query('update register_queue set look_at = now()');
  }

  const { rows } = await stand.admin.query<{ xml: string; type: string; state: string | null }>(
    `select r.xml, r.type, w.state from invoice_registers r
     left join register_answers w on w.account_id = r.account_id and w.register_id = r.id order by r.n`,
  );
  const xmls = rows.map(({ xml }) => xml);
  violations.push(...(await wrongInChain(xmls, register)));
  const { rows: totals } = await stand.admin.query<{ invoices: string; annulled: string }>(
    'select count(*) as invoices, count(annulled_at) as annulled from invoices',
  );
  const registered = (type: string) => rows.filter((row) => row.type === type).length;
  const expected = [Number(totals[0]?.invoices), Number(totals[0]?.annulled)];
  const found = [registered('alta'), registered('anulacion')];
  if (`${found}` !== `${expected}`) violations.push(`registers ${found} of invoices and annulments ${expected}`);
  if (`${[total(), count.annulled]}` !== `${expected}`)
    violations.push(`answered were ${total()} and ${count.annulled}, written ${expected}`);
  const states = Map.groupBy(rows, ({ state }) => state ?? 'pending');
  for (const state of states.keys())
    if (state !== 'accepted') violations.push(`${state}: ${states.get(state)?.length}`);
  if (agency.taken.length !== xmls.length || agency.taken.some((xml, index) => withoutNamespaces(xml) !== xmls[index]))
    violations.push(`the agency took ${agency.taken.length} registers of ${xmls.length}, or in another order`);
  for (const text of service.endedByItself) violations.push(`The service ended by itself:\n${text}`);
  const summary: [string, number][] = [
    ['issued by the service', total()],
    ['of them rectifying', count.rectified],
    ['annulled', count.annulled],
    ['kills', kills],
    ['registers, each valid and in its chain', xmls.length],
    ['taken by the agency, once each', agency.taken.length],
    ['envelopes', agency.received],
  ];
  return { summary, violations };
}

/** As the register stands alone. */
const withoutNamespaces = (xml: string) => xml.replace(/^<lr:RegistroFactura>|<\/lr:RegistroFactura>$/g, '');
