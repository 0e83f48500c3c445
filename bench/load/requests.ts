// Generates the requests of a load as text.
import { randomUUID } from 'node:crypto';

/** Ids in the form of the side under test. */
export interface Ids {
  clients: readonly (string | number)[];
  products: readonly (string | number)[];
  funnels: readonly { id: string | number; stages: readonly (string | number)[] }[];
}

export type Body =
  | { kind: 'fixed'; value: unknown }
  /** Half of them of an existing contact, half of a new one. */
  | { kind: 'opportunity'; funnels: Ids['funnels']; leads: number }
  /** Three lines of different articles, for an existing client. */
  | { kind: 'deliveryNote'; clients: Ids['clients']; products: Ids['products'] };

export interface RequestSpec {
  method: 'GET' | 'POST';
  /** The path with its query. */
  path: string;
  headers: Record<string, string>;
  /** The headers of many callers: each request is of one of them. */
  callers?: readonly Record<string, string>[];
  body?: Body;
  /** Each with a new idempotency key. */
  keyed?: boolean;
  /** What is sent before each of these, in turns; it counts as a request too. */
  before?: RequestSpec;
  /** The status of an answer that counts; default 200. */
  expected?: number;
}

/** Makes the requests of a load, each a complete HTTP message. */
export function requestsOf(request: RequestSpec, host: string): () => string {
  const own = textsOf(request, host);
  if (!request.before) return own;
  const before = textsOf(request.before, host);
  let turn = 0;
  return () => (turn++ % 2 === 0 ? before() : own());
}

function textsOf({ method, path, headers, callers = [{}], body, keyed }: RequestSpec, host: string): () => string {
  const headOf = (caller: Record<string, string>) =>
    `${method} ${path} HTTP/1.1\r\n${Object.entries({ host, ...headers, ...caller })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}`;
  const heads = callers.map(headOf);
  if (!body) return () => `${pick(heads)}\r\n`;
  const bodies = bodiesOf(body);
  return () => {
    const text = bodies();
    const key = keyed ? `x-idempotency-key: ${randomUUID()}\r\n` : '';
    const length = Buffer.byteLength(text);
    return `${pick(heads)}${key}content-type: application/json\r\ncontent-length: ${length}\r\n\r\n${text}`;
  };
}

function bodiesOf(body: Body): () => string {
  switch (body.kind) {
    case 'fixed': {
      const text = JSON.stringify(body.value);
      return () => text;
    }
    case 'opportunity':
      return () => JSON.stringify(opportunity(body));
    case 'deliveryNote':
      return () => JSON.stringify(deliveryNote(body));
  }
}

const below = (count: number) => Math.floor(Math.random() * count);

function pick<T>(list: readonly T[]): T {
  const element = list[below(list.length)];
  if (element === undefined) throw new Error('Nothing to pick from');
  return element;
}

function opportunity({ funnels, leads }: { funnels: Ids['funnels']; leads: number }) {
  const { id, stages } = pick(funnels);
  const lead = Math.random() < 0.5 ? below(leads) + 1 : 100_000 + below(2_000_000_000);
  return {
    datos: {
      funnel_fk: id,
      etapa_fk: pick(stages),
      descripcion: `Oportunidad ${lead}`,
      email_contacto: `lead${lead}@example.com`,
      persona_contacto: `Persona ${lead}`,
      empresa: `Empresa ${lead}`,
    },
  };
}

function deliveryNote({ clients, products }: { clients: Ids['clients']; products: Ids['products'] }) {
  const third = Math.floor(products.length / 3);
  const first = below(third);
  return {
    cliente: { id: pick(clients) },
    pedido: { obra: `Obra ${first}` },
    detalles: [0, 1, 2].map((line) => ({
      cantidad: 1 + below(9),
      descripcion: 'Linea',
      importe_unitario: 12.5,
      iva: 21,
      articulo_fk: products[first + line * third],
    })),
  };
}
