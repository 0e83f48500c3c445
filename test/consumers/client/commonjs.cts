// A CommonJS program: `commonjs.cjs <base url> <key> <secret>` prints the names of the products.
import { AlbaranError, createClient } from 'albaran-client';

declare const process: { argv: string[] };

const [baseUrl = '', apiKey = '', apiSecret = ''] = process.argv.slice(2);
const client = createClient({ baseUrl, apiKey, apiSecret });

client.products.list().then(
  ({ articulos }) => console.log(JSON.stringify(articulos.map(({ descripcion }) => descripcion).sort())),
  (error: unknown) => {
    throw error instanceof AlbaranError ? new Error(`${error.code} ${error.message}`) : error;
  },
);
