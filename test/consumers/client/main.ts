// `main.js <base url> <key> <secret> <funnel> <stage>` prints the sample's outcome as JSON.
import { run } from './sample.js';

declare const process: { argv: string[] };

const [baseUrl = '', apiKey = '', apiSecret = '', funnelId, etapaId] = process.argv.slice(2);
const funnel = { funnelId: Number(funnelId), etapaId: Number(etapaId) };
console.log(JSON.stringify(await run({ baseUrl, apiKey, apiSecret }, funnel)));
