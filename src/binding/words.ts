import { type NounName, type Operation, operations } from '../api/operations.ts';

// How the paths and the names of a document show which noun of the program they are about.

const words: Readonly<Record<NounName, string>> = {
  pets: 'pet',
  categories: 'category',
  orders: 'order',
  inventory: 'inventory',
};

/** The noun of a path segment: `pets` or `pet` for pets. Undefined for every other segment. */
export function nounOf(segment: string | undefined): NounName | undefined {
  const name = wordsOf(segment ?? '').join(' ');
  return (Object.keys(words) as NounName[]).find((noun) => words[noun] === name);
}

/** Other words that services have for the nouns: they bind nothing, but show which operations may be meant. */
const synonyms: Readonly<Record<string, NounName>> = { animal: 'pets', stock: 'inventory' };

/** The noun that a path segment may be about. */
export function likelyNoun(segment: string): NounName | undefined {
  return nounOf(segment) ?? synonyms[wordsOf(segment).join(' ')];
}

/** The names of schemas that the service's specification uses for an operation's records, in lists, answers and bodies. */
export function schemaNames({ noun, method, body, result }: Operation): readonly string[] {
  const record = result ?? operationsOfNoun(noun).find((each) => each.result)?.result ?? '';
  if (method === 'GET') return [record];
  const bodies = operationsOfNoun(noun).flatMap((each) => (each.body ? [each.body.name] : []));
  return body ? [...new Set([body.name, ...bodies, record])] : [];
}

function operationsOfNoun(noun: NounName): Operation[] {
  return Object.values(operations).filter((each) => each.noun === noun);
}

/**
 * Whether a path parameter is the id of a noun's records by its name: `id`, `petId`, `pet_id`. An inventory entry has
 * the id of its pet.
 */
export function isIdName(name: string, noun: NounName): boolean {
  const word = noun === 'inventory' ? 'pet' : words[noun];
  return ['id', `${word}id`, word].includes(compactName(name));
}

/** Whether a parameter's name can only mean the id of a collection's records: `animal_id` or `number` of `animals`. */
export function isNameWithin(name: string, collection: string): boolean {
  const allowed = [...wordsOf(collection), 'id', 'no', 'nr', 'number', 'key', 'identifier'];
  return wordsOf(name).every((word) => allowed.includes(word));
}

/** The words of a name in lower case, each in the singular. */
export function wordsOf(name: string): string[] {
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
