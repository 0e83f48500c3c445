// How cost grows with a company's data and with the number of companies: the same requests to servers whose databases differ
// only in that, in turns.
import { newKey } from './caller.ts';
import type { Cluster } from './cluster.ts';
import { onDatabase } from './cluster.ts';
import { addCompany, copyOf, productTemplate } from './databases.ts';
import { type Bench, type Figures, inTurns, type Side, type Turns } from './measure.ts';
import { comparedOperations } from './operations.ts';
import { startProduct } from './processes.ts';

export interface GrowthOptions {
  /** Sizes of the one company; the first is the reference. */
  scales: number[];
  /** Numbers of companies in a database, one of them of full size. */
  companies: number[];
  turns: Turns;
  isWanted(id: string): boolean;
  tell(line: string): void;
}

export interface Grown {
  id: string;
  title: string;
  sides: ({ name: string } & Figures)[];
}

/** The size of the other companies, relative to the measured one. */
const NEIGHBOUR_SCALE = 0.003;

interface Variant {
  name: string;
  scale: number;
  companies: number;
}

/** The figures by company size, and by number of companies. */
export async function growth(cluster: Cluster, bench: Bench, options: GrowthOptions) {
  const { scales, companies, tell } = options;
  const full = Math.max(...scales.filter((scale) => scale <= 1));
  const bySize = await compare(
    cluster,
    bench,
    options,
    scales.map((scale) => ({ name: `${scale} of full size`, scale, companies: 1 })),
  );
  tell('Sizes are measured; companies follow');
  const byCompanies = await compare(
    cluster,
    bench,
    options,
    companies.map((count) => ({
      name: count === 1 ? '1 company' : `${count} companies`,
      scale: full,
      companies: count,
    })),
  );
  return { bySize, byCompanies };
}

async function compare(
  { url }: Cluster,
  bench: Bench,
  { turns, isWanted, tell }: GrowthOptions,
  variants: readonly Variant[],
): Promise<Grown[]> {
  await using stack = new AsyncDisposableStack();
  const grown = new Map<string, { title: string; sides: Side[] }>();
  for (const { name, scale, companies } of variants) {
    const data = stack.use(await copyOf(url, await productTemplate(url, scale, tell), `_${companies}`));
    for (let count = 1; count < companies; count++) {
      await addCompany(data.url, `vecina-${count}`, Math.min(scale, NEIGHBOUR_SCALE), () => {});
    }
    await onDatabase(data.url, (client) => client.query('vacuum analyze'));
    const headers = await newKey(data.url);
    const product = stack.use(await startProduct(data.url));
    for (const { id, title, sides } of await comparedOperations({ scale, product, headers })) {
      const own = sides.slice(0, 1).map((side) => ({ ...side, name }));
      const { sides: earlier } = grown.get(id) ?? { sides: [] };
      grown.set(id, { title, sides: [...earlier, ...own] });
    }
  }
  const measured: Grown[] = [];
  for (const [id, { title, sides }] of grown) {
    if (!isWanted(id)) continue;
    const figures = await inTurns(bench, sides, turns);
    tell(`${id}: ${figures.map(({ perSecond }) => `${perSecond.toFixed(1)} req/s`).join(', ')}`);
    measured.push({
      id,
      title,
      sides: sides.flatMap(({ name }, index) => {
        const figure = figures[index];
        return figure ? [{ name, ...figure }] : [];
      }),
    });
  }
  return measured;
}
