import type { Contract } from '../api/contract.ts';
import type { NounName } from '../api/nouns.ts';
import { operations } from '../api/operations.ts';
import { joinFirst } from '../process/text.ts';
import { mapFlag } from './document.ts';
import { boundIn, type Matches } from './match.ts';
import { isPagingName } from './parameters.ts';
import { singularWords } from './path-words.ts';

/** Returns what a person should know of a binding, each a sentence: lists that may lack records, and fields that may have other names. */
export function remarksOf(matches: Matches, contract: Contract): string[] {
  return [...remarksOfDefaults(matches, contract), ...remarksOfFields(matches)];
}

/** Words in the names of parameters that change the order or the form of a list, and not its records. */
const formWords =
  /^(sort|sorting|order|ordering|asc|desc|direction|format|view|lang|language|locale|field|expand|embed)$/;

/** Names the parameters that petstore does not send and whose defaults may leave out records of a list. */
function remarksOfDefaults(matches: Matches, { operations: bound }: Contract): string[] {
  return [...bound.values()].flatMap(({ id, isList, parameters }): string[] => {
    const route = isList ? boundIn(matches, id) : undefined;
    const hiding = (route?.parameters ?? []).filter(({ name, in: place, shape, fixedValue }) => {
      // A required parameter is sent with its default.
      const isSent = parameters.some(
        ({ wireName, constant }) => wireName === name && (constant === undefined || fixedValue !== undefined),
      );
      const isChoice = /^(boolean|integer|number)$/.test(shape.kind) || shape.bounds.enum !== undefined;
      const isCondition =
        isChoice && !isPagingName(name) && !singularWords(name).some((word) => formWords.test(word));
      return place === 'query' && shape.keyword('default') !== undefined && isCondition && !isSent;
    });
    const [first] = hiding;
    if (!route || !first) return [];
    const texts = hiding.map(({ name, shape }) => `${name}=${shape.keyword('default')}`);
    const other = first.shape.kind === 'boolean' ? !first.shape.keyword('default') : '<value>';
    const flag = mapFlag(id, { ...route, path: `${route.path}?${first.name}=${other}` });
    return [
      `${id} may lack records, because the service has the default ${joinFirst(texts, 12)}; to send another value, add a flag like ${flag}`,
    ];
  });
}

/** Says once for each noun which of its fields the description may call otherwise. */
function remarksOfFields(matches: Matches): string[] {
  const hintByNoun = new Map<NounName, string>();
  for (const [id, { state, hint }] of matches) {
    const { noun } = operations[id];
    if (state === 'unbound' && hint !== undefined && !hintByNoun.has(noun))
      hintByNoun.set(noun, `${id}: ${hint}`);
  }
  return [...hintByNoun.values()];
}
