import { type Noun, type NounName, nouns } from '../api/nouns.ts';

/** The words that are a noun, in lower case. */
const nounWords = new Map<string, NounName>([
  ...Object.values(nouns).flatMap(({ name, singular }) =>
    [name, singular].map((word) => [word, name] as const),
  ),
  ['inventories', 'inventory'],
]);

/** Returns the noun of a word in a path: `pets` for `Pet`. */
export function nounOf(word = ''): NounName | undefined {
  return nounWords.get(word.toLowerCase());
}

/** Returns the noun that has records or bodies with this name of a schema. */
export function nounOfSchema(name: string): NounName | undefined {
  const isOf = (noun: Noun) => [noun.schema, noun.body, noun.update?.body].some((each) => each === name);
  return Object.values(nouns).find(isOf)?.name;
}

/** Splits a name into words in lower case and in the singular. */
export function singularWords(name: string): string[] {
  const parts = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return parts.filter((part) => part !== '').map((part) => part.replace(/ies$/, 'y').replace(/(?<!s)s$/, ''));
}

/** The parts of a path: `/stores/{storeId}/pets/findByStatus`, `/v1/pets/{petId}`. */
export interface PathForm {
  /** The path up to the word of the collection. A noun is in the plural, so that `/v1/pet` and `/v1/pets` are the same. */
  readonly collection: string;
  readonly noun: NounName | undefined;
  /** A word after the word of a noun: `findByStatus`. */
  readonly tail: string | undefined;
  /** The name of the parameter at the end: `petId`. */
  readonly endParameter: string | undefined;
  /** The names of all parameters. */
  readonly parameters: readonly string[];
  /** True if nothing stands before the noun: `/pets`, `/pet/{petId}`. */
  readonly isAtRoot: boolean;
  /** True if the path leads through another noun: `/pets/{petId}/inventory`, `/pet/category`. */
  readonly isBelowNoun: boolean;
}

export function readPath(path: string): PathForm {
  const segments = path.split('/').filter((segment) => segment !== '');
  const parameters = segments.filter(isParameter).map((segment) => segment.slice(1, -1));
  const endParameter = isParameter(segments.at(-1)) ? segments.pop()?.slice(1, -1) : undefined;
  const hasTail = nounOf(segments.at(-1)) === undefined && nounOf(segments.at(-2)) !== undefined;
  const tail = hasTail && !isParameter(segments.at(-1)) ? segments.pop() : undefined;
  const word = segments.pop() ?? '';
  const noun = nounOf(word);
  return {
    collection: [...segments, noun ?? word].map((segment) => `/${segment}`).join(''),
    noun,
    tail,
    endParameter,
    parameters,
    isAtRoot: noun !== undefined && segments.length === 0,
    isBelowNoun: segments.some((segment) => nounOf(segment) !== undefined),
  };
}

export function isParameter(segment = ''): boolean {
  return /^\{[^{}]*\}$/.test(segment);
}
