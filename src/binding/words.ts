import { nouns } from '../api/nouns.ts';
import { type NounName, operations } from '../api/operations.ts';

// How the names in a document show which noun of the program they are about.

const nounNames = Object.keys(nouns) as NounName[];

/** The noun of a word in a path or a field: `pets` or `pet` for pets. Undefined for every other word. */
export function nounOf(word: string | undefined): NounName | undefined {
  const words = singularWords(word ?? '').join(' ');
  return nounNames.find((noun) => singularWords(noun).join(' ') === words);
}

/** The noun whose records and bodies have a schema of this name in the service's specification. */
export function nounOfSchema(name: string): NounName | undefined {
  const match = Object.values(operations).find(
    ({ noun, body }) => nouns[noun].schema === name || body?.name === name,
  );
  return match?.noun;
}

/** Whether a path parameter is the id of a noun's records by its name: `id`, `petId`, `pet_id`, `pet`. */
export function isIdName(name: string, noun: NounName): boolean {
  const idName = compactName(nouns[noun].idName);
  return ['id', idName, idName.replace(/id$/, '')].includes(compactName(name));
}

/**
 * Whether a parameter's name can only mean the id of a collection's records: `animal_id` or `number` of
 * `animals`.
 */
export function isNameWithin(name: string, collection: string): boolean {
  const allowed = [...singularWords(collection), 'id', 'no', 'nr', 'number', 'key', 'identifier'];
  return singularWords(name).every((word) => allowed.includes(word));
}

/** The words of a name in lower case, each in the singular. */
export function singularWords(name: string): string[] {
  const parts = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return parts.filter((part) => part !== '').map((part) => part.replace(/ies$/, 'y').replace(/(?<!s)s$/, ''));
}

/** A name in lower case and without punctuation, to compare `pet_id`, `petId` and `Pet-ID`. */
export function compactName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}
