import { type Contract, fieldBounds } from '../api/contract.ts';
import type { NounName } from '../api/operations.ts';
import { wrongValueError } from '../config/setting-values.ts';
import { FieldError } from '../process/errors.ts';
import { inForm, wordOf } from './parse-values.ts';
import { type Body, flagOf, type RecordNoun } from './record-nouns.ts';

// The values of a field are the description's: the words of its enumeration, and a day or an instant.

/** Returns the words of a status in the order of the service. Undefined if the service lists none: then any word is one. */
export function statusWords(contract: Contract, noun: NounName): readonly string[] | undefined {
  return fieldBounds(contract, noun, 'status')?.enum;
}

/** Returns the service's spelling of words that people typed. @throws UsageError for a word that the service does not have. */
export function toStatusWords<Words extends readonly string[] | undefined>(
  contract: Contract,
  noun: NounName,
  words: Words,
): Words {
  const choices = statusWords(contract, noun);
  return words?.map((word) => {
    const { value = word, problem } = wordOf(word, choices);
    if (problem !== undefined) throw wrongValueError('--status', word, problem);
    return value;
  }) as Words;
}

/**
 * Writes the values of our fields as the service has them.
 *
 * @param isFlags whether the values are those of flags, which the error then names.
 * @throws UsageError, or FieldError for the fields of a file: a word or a date that the service does not have.
 */
export function toServiceValues(contract: Contract, noun: RecordNoun, body: Body, isFlags = false): Body {
  const values: Record<string, unknown> = { ...body };
  for (const field of noun.fields) {
    const { name, kind } = field;
    const text = values[name];
    if (typeof text !== 'string' || (kind !== 'status' && kind !== 'date')) continue;
    const bounds = fieldBounds(contract, noun.name, name);
    const { value = text, problem } = kind === 'status' ? wordOf(text, bounds?.enum) : inForm(text, bounds);
    if (problem === undefined) values[name] = value;
    else if (isFlags) throw wrongValueError(flagOf(field), text, problem);
    else throw new FieldError(`${name} ${problem}`, name);
  }
  return values;
}
