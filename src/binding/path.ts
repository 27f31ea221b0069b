import type { NounName } from '../api/operations.ts';
import { pathPattern, type Route } from './document.ts';
import { nounOf } from './words.ts';

/** The parts of a path: `/stores/{storeId}/pets/findByStatus`, `/v1/pets/{petId}`. */
export interface PathForm {
  /** The path up to the word of the collection, as a pattern: `/stores/{}/pets`, `/v1/pets`. */
  readonly collection: string;
  /** The word of the collection: `pets`. */
  readonly word: string;
  /** The noun of this word. */
  readonly noun: NounName | undefined;
  /** A word behind the word of a noun: `findByStatus`. */
  readonly tail: string | undefined;
  /** The name of the parameter at the end: `petId`. */
  readonly idName: string | undefined;
  /** The names of the parameters before the word: `storeId`. */
  readonly outerNames: readonly string[];
  /** The noun of which the path names another record: pets for `/pets/{petId}/inventory`. */
  readonly outerNoun: NounName | undefined;
  /** Whether the word is below the word of another noun: `/pet/category`. */
  readonly isBelowNoun: boolean;
}

/** Reads the parts of a path. */
export function readPath(path: string): PathForm {
  const segments = splitPath(path);
  const idName = isParameter(segments.at(-1) ?? '') ? segments.pop()?.slice(1, -1) : undefined;
  const last = segments.at(-1) ?? '';
  const hasTail = !isParameter(last) && nounIn(last) === undefined && nounIn(segments.at(-2)) !== undefined;
  const tail = hasTail ? segments.pop() : undefined;
  const word = segments.at(-1) ?? '';
  const outer = segments.slice(0, -1);
  const at = outer.findIndex(isParameter);
  return {
    collection: pathPattern(`/${segments.join('/')}`),
    word,
    noun: nounIn(word),
    tail,
    idName,
    outerNames: outer.filter(isParameter).map((segment) => segment.slice(1, -1)),
    outerNoun: at > 0 ? nounIn(outer[at - 1]) : undefined,
    isBelowNoun: at === -1 && outer.some((segment) => nounIn(segment) !== undefined),
  };
}

/** Whether two collections are the same or differ only in the number of the noun: `/v1/pet` is beside `/v1/pets`. */
export function isBeside(form: PathForm, collection: string): boolean {
  if (form.collection === collection) return true;
  const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/'));
  const other = nounIn(splitPath(collection).at(-1));
  return parentOf(form.collection) === parentOf(collection) && form.noun !== undefined && form.noun === other;
}

/** Puts a value in place of each parameter before the collection, so that `--map` can name the path. */
export function withOuterValues({ method, path }: Route, { outerNames }: PathForm): Route {
  return { method, path: outerNames.reduce((text, name) => text.replace(`{${name}}`, '7'), path) };
}

/** A parameter such as `{pet}` names no collection. */
function nounIn(segment: string | undefined): NounName | undefined {
  return isParameter(segment ?? '') ? undefined : nounOf(segment);
}

export function splitPath(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

export function isParameter(segment: string): boolean {
  return segment.startsWith('{') && segment.endsWith('}');
}
