import { nouns } from '../api/nouns.ts';
import { type NounName, operations } from '../api/operations.ts';

// The names in a document show the noun that a path, a schema or a field is about.

const nounNames = Object.keys(nouns) as NounName[];

/**
 * Returns the noun of a word in a path or a field: `pets` for `pets` and `pet`. Returns undefined for any
 * other word.
 */
export function nounOf(word: string | undefined): NounName | undefined {
  const words = singularWords(word ?? '').join(' ');
  return nounNames.find((noun) => singularWords(noun).join(' ') === words);
}

/** Returns the noun whose records or bodies have a schema with this name in the service's specification. */
export function nounOfSchema(name: string): NounName | undefined {
  const match = Object.values(operations).find(
    ({ noun, body }) => nouns[noun].schema === name || body?.name === name,
  );
  return match?.noun;
}

/** Whether the name of a path parameter is that of an id of the noun: `id`, `petId`, `pet_id`, `pet`. */
export function isIdName(name: string, noun: NounName): boolean {
  const idName = compactName(nouns[noun].idName);
  return ['id', idName, idName.replace(/id$/, '')].includes(compactName(name));
}

/**
 * Whether the name of a parameter can only mean an id in a collection: `animal_id` or `number` in `animals`.
 */
export function isNameWithin(name: string, collection: string): boolean {
  const allowed = [...singularWords(collection), 'id', 'no', 'nr', 'number', 'key', 'identifier'];
  return singularWords(name).every((word) => allowed.includes(word));
}

/** Splits a name into words in lower case and in the singular. */
export function singularWords(name: string): string[] {
  const parts = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return parts.filter((part) => part !== '').map((part) => part.replace(/ies$/, 'y').replace(/(?<!s)s$/, ''));
}

/** Writes a name in lower case and without punctuation, to compare `pet_id`, `petId` and `Pet-ID`. */
export function compactName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}
