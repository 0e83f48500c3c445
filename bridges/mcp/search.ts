// Searches tools by the words of a question. The score counts the words shared with a tool's name, title, description and fields;
// rarer words count more. The result is deterministic.
import { searchable } from '../../platform/text.ts';
import { type Tool, tools } from './tools.ts';

/** The weight of a word by where it occurs. */
const WEIGHTS = { name: 3, title: 3, description: 2, field: 1 };
/** The score of a tool that the question names. */
const NAMED = 100;
/** The factor for words of which one is a prefix of the other: `vencen` and `vencimientos`. */
const PREFIX_FACTOR = 0.75;
const SHORTEST_PREFIX = 4;

// Words without meaning for the search, including the verbs of every read.
const STOP_WORDS = new Set(
  (
    'al algo alguien algun alguna cada como con consultar cual cuales cuando cuanta cuantas cuanto cuantos dame de del ' +
    'desde dime donde el ella ellos en entre era es esa ese eso esta estan estas este esto estos fue ha hace han has hasta ' +
    'hay he hoy id la las le les listar lo los mas me mi mis mostrar mucho muy nada ni no nos obtener otra otro para pero ' +
    'por porque puede puedo que queda quedan quien quienes quiero se ser si sin sobre solo son su sus tan te tenemos tengo ' +
    'tiene tienen toda todas todo todos tu tus un una unas uno unos usa ver viene ya yo'
  ).split(' '),
);

// The operations' words, with synonyms that people use.
const SYNONYMS = new Map(
  Object.entries({
    crear: 'alta anade apunta emite hacer haz hazle hazme nuevo prepara registra',
    pendiente: 'debe deuda impagado moroso',
    compras: 'gasto gastamos',
    resultado: 'beneficio ganancia',
    empleado: 'personal plantilla trabajador',
    email: 'correo mail',
    movil: 'telefono',
  }).flatMap(([word, said]) => said.split(' ').map((other) => [stem(other), stem(word)] as const)),
);

/** Each tool with the weights of its words. */
const index = tools.map((tool) => ({ tool, words: wordsOf(tool) }));
/** How rare each word is among the tools (inverse document frequency). */
const rarity = new Map<string, number>();
for (const { words } of index) {
  for (const [word, weight] of words) rarity.set(word, (rarity.get(word) ?? 0) + weight / WEIGHTS.name);
}
for (const [word, often] of rarity) rarity.set(word, Math.log(1 + tools.length / often));

/** The tools of `among` that share words with a Spanish question or are named in it, best first; equal ones in list order. */
export function toolsAbout(question: string, among: readonly Tool[]): Tool[] {
  const asked = new Set(stems(question).flatMap((word) => [word, SYNONYMS.get(word) ?? word]));
  const names = new Set(question.split(/\W+/));
  const allowed = new Set(among);
  return index
    .filter(({ tool }) => allowed.has(tool))
    .map(({ tool, words }) => {
      const named = names.has(tool.definition.name) ? NAMED : 0;
      return { tool, score: [...asked].reduce((sum, word) => sum + scoreOf(word, words), named) };
    })
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ tool }) => tool);
}

/** The best match of a question's word among a tool's words; a prefix match counts less, and no word more than the one that was asked for. */
function scoreOf(asked: string, words: ReadonlyMap<string, number>): number {
  const most = rarity.get(asked) ?? Number.POSITIVE_INFINITY;
  let best = 0;
  for (const [word, weight] of words) {
    const factor = word === asked ? 1 : sharePrefix(word, asked) ? PREFIX_FACTOR : 0;
    best = Math.max(best, factor * weight * Math.min(most, rarity.get(word) ?? 0));
  }
  return best;
}

const sharePrefix = (one: string, other: string) =>
  Math.min(one.length, other.length) >= SHORTEST_PREFIX && (one.startsWith(other) || other.startsWith(one));

function wordsOf({ definition: { name, title = '', description = '', inputSchema, outputSchema } }: Tool) {
  // Leave out fields and other tools named in the description: they are not its subject.
  const said = description.replace(/\w*(?:_|[a-z][A-Z])\w*/g, ' ');
  const words = new Map<string, number>();
  for (const [weight, text] of [
    [WEIGHTS.field, fieldsOf([inputSchema, outputSchema]).join(' ')],
    [WEIGHTS.description, said],
    [WEIGHTS.title, title],
    [WEIGHTS.name, name],
  ] as const) {
    for (const word of stems(text)) words.set(word, weight);
  }
  return words;
}

/** The names of all fields in a schema, nested ones too. */
function fieldsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const here = 'properties' in schema ? Object.keys(schema.properties ?? {}) : [];
  return [...here, ...Object.values(schema).flatMap(fieldsOf)];
}

/** The stems of a text's words, without case, accents and stop words. Names are split into their parts. */
function stems(text: string): string[] {
  return searchable(text.replace(/([a-z])([A-Z])/g, '$1 $2'))
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 1 && !STOP_WORDS.has(word))
    .map(stem);
}

/** A word without endings of number, gender and tense: `pagadas`, `pagar` and `pago` are the same. At least three letters stay. */
function stem(word: string): string {
  return word.replace(/(?<=...)e?s$/, '').replace(/(?<=...)(?:ad[ao]|id[ao]|ando|iendo|[aei]r|[ae]n|ae|[aeo])$/, '');
}
