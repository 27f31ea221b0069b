import { nouns } from '../api/nouns.ts';
import { type NounName, operations } from '../api/operations.ts';

// The words that decide what an operation is. A word that is in none of these lists decides nothing, and an operation that
// needs it stays unbound: a wrong binding is worse than a missing one.

const nounNames = Object.keys(nouns) as NounName[];

/** The words of a path behind the noun, and of an operationId, that say that a list has all records of the noun. */
export const listWords = ['get', 'list', 'find', 'fetch', 'search', 'query', 'all', 'by'];

/** The words of a path behind the noun, and of an operationId, that say that an operation makes a record. */
export const createWords = ['create', 'add', 'new', 'insert', 'post', 'save'];

/** The words of an operationId that say that a PATCH sets a count. */
export const settingWords =
  'set update replace put patch edit modify upsert save by id pet item stock count level quantity'.split(' ');

/** Words that say that an operation adds to a count, or takes from it. Their endings vary: `added`, `adding`. */
const addingStems =
  'add|more|delta|differen|restock|replenish|receiv|reserv|deduct|consum|releas|adjust|increment|decrement|increas|decreas|subtract|remov|transfer';
const addingWord = new RegExp(`^(${addingStems})(e|s|d|ed|es|er|ing|ce|ment|ition|itional|ion|ation)?$`);

/** Returns the word in a text that says that a count changes by a quantity, and is not set to it. */
export function addingWordIn(text: string): string | undefined {
  return singularWords(text).find((word) => addingWord.test(word));
}

/** Words that may mean one of our nouns. They never bind an operation, but make it a near miss, which is reported. */
export const synonyms: Readonly<Record<string, NounName>> = { animal: 'pets', stock: 'inventory' };

/** Returns the noun of a word in a path or a field: `pets` for `pets` and `pet`. */
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

/** Whether a path parameter can be the id of a record by its name: `id`, `petId` and `pet_id` can be that of a pet. */
export function isIdName(name: string, noun: NounName): boolean {
  return ['id', compactName(nouns[noun].idName)].includes(compactName(name));
}

/** Whether a name consists of the words of a noun and of other allowed words. */
export function consistsOf(name: string, noun: NounName, allowed: readonly string[]): boolean {
  const nounWords = singularWords(noun);
  return singularWords(name).every((word) => nounWords.includes(word) || allowed.includes(word));
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
