// Preloaded into a service process (`node --import`) by these proofs: reports its memory, sets its clock, and removes the
// conditions `account_id = ...` from its statements.
import pg from 'pg';

/** Requests to the service over its parent's channel. */
export type Question = 'memory' | 'statements';

export interface Memory {
  /** Bytes, after a garbage collection. */
  heap: number;
  rss: number;
}

export interface Statements {
  /** Statements on a company's table. */
  onCompanies: number;
  /** Conditions on the company that were made true. */
  opened: number;
  /** Texts of statements that read, change or remove rows, without such a condition. */
  withoutCondition: string[];
  /** Texts with a condition that was not recognised. */
  notOpened: string[];
}

const statements = { onCompanies: 0, opened: 0, withoutCondition: new Set<string>(), notOpened: new Set<string>() };

/** `l.account_id = $1`, `"p"."account_id" = "l"."account_id"`: conditions on the company. */
const CONDITION = /((?:"?\w+"?\.)?"?\baccount_id"?)\s*=\s*(\$\d+|(?:"?\w+"?\.)?"?account_id"?)/g;
/** A condition on the company in another form. */
const OTHER_FORM = /\baccount_id"?\)?\s*(?:=|<>|in\b|between\b)(?! \S+ or true\))/i;
/** The company's own row is found by its id. */
const OWN_ROW = /((?:"?\w+"?\.)?"id") = (\$\d+)/g;

/** The statement with every condition on the company made true; its parameters keep their types. */
export function withoutFilters(text: string, tables: ReadonlySet<string>): string {
  const named = [...text.matchAll(/\b(?:from|join|into|update)\s+(?:only\s+)?"?(\w+)"?/gi)].map(
    ([, name = '']) => name,
  );
  if (!named.some((name) => tables.has(name))) return text;
  statements.onCompanies++;
  const open = (_: string, one: string, other: string) => {
    statements.opened++;
    return `(${one} = ${other} or true)`;
  };
  const opened = text.replace(CONDITION, open);
  const result = named.every((name) => name === 'accounts') ? opened.replace(OWN_ROW, open) : opened;
  if (OTHER_FORM.test(result)) statements.notOpened.add(text);
  if (result === text && /^\s*(select|with|update|delete)/i.test(text)) statements.withoutCondition.add(text);
  return result;
}

type Query = (this: pg.Client, ...args: unknown[]) => unknown;

async function removeFilters(): Promise<void> {
  const { entities } = await import('../../entities/index.ts');
  const metas = entities.map(({ meta }) => meta).filter(({ rowLevelSecurity }) => rowLevelSecurity);
  const tables = new Set(metas.map(({ tableName }) => tableName));
  const { RoundTrip } = await import('../../platform/round-trip.ts');
  // `query` has many overloads: only the text changes.
  const query = pg.Client.prototype.query as Query;
  const changed: Query = function (first, ...rest) {
    if (typeof first === 'string') return query.call(this, withoutFilters(first, tables), ...rest);
    if (first instanceof RoundTrip) {
      for (const statement of first.statements) statement.text = withoutFilters(statement.text, tables);
      return query.call(this, first, ...rest);
    }
    const { text } = first as pg.QueryConfig;
    return query.call(this, { ...(first as pg.QueryConfig), text: withoutFilters(text, tables) }, ...rest);
  };
  pg.Client.prototype.query = changed as typeof pg.Client.prototype.query;
}

const memory = (): Memory => {
  // Twice: the second collection frees what finalizers kept.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed, rss };
};

if (process.send) {
  const { FAULTS_NOW, FAULTS_FILTERS } = process.env;
  if (FAULTS_NOW) {
    const started = Temporal.Instant.from(FAULTS_NOW);
    const instant = () => started.add({ milliseconds: Math.round(performance.now()) });
    Object.defineProperty(Temporal.Now, 'instant', { value: instant });
  }
  if (FAULTS_FILTERS === 'off') await removeFilters();
  process.on('message', (question: Question) => {
    const { onCompanies, opened, withoutCondition, notOpened } = statements;
    const told: Statements = {
      onCompanies,
      opened,
      withoutCondition: [...withoutCondition],
      notOpened: [...notOpened],
    };
    process.send?.(question === 'memory' ? memory() : told);
  });
  // The service ends when told to, not when its parent's channel closes.
  process.channel?.unref();
}
