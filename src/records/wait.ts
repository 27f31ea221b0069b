import type { Contract } from '../api/contract.ts';
import { toId, toQuantity } from '../api/values.ts';
import { attemptsOf } from '../client/attempt.ts';
import { readRecord } from '../client/read-record.ts';
import { findUnmet } from '../input/condition.ts';
import { CliError, UsageError, unansweredError } from '../process/errors.ts';
import type { JsonObject } from '../process/exact-json.ts';
import { type Look, poll } from '../process/poll.ts';
import { caseless, secondsText } from '../process/text.ts';
import type { Access } from './access.ts';
import type { FieldKind } from './field-kinds.ts';
import { statusWords } from './field-words.ts';
import type { IdOrName, WaitGoal } from './parse-values.ts';
import { findField, namedNoun, type RecordNoun } from './record-nouns.ts';

/** Says in a clause what the values of a kind of field are. Undefined if the text is one of them. */
const requirements: Readonly<Partial<Record<FieldKind, (text: string) => string | undefined>>> = {
  reference: (text) => (toId(text) === undefined ? 'is an id' : undefined),
  quantity: (text) => (toQuantity(text) === undefined ? 'is a whole number' : undefined),
  truth: (text) => (text === 'true' || text === 'false' ? undefined : 'is true or false'),
};

/**
 * Checks the fields and values of a condition. It writes a column such as `pet` as its field `petId`, and a status as the
 * service does.
 *
 * @throws UsageError for a field that the records do not have, and for a value that a field never has.
 */
export function checkWaitGoal(goal: WaitGoal, noun: RecordNoun, contract: Contract): WaitGoal {
  if (typeof goal === 'string') return goal;
  const { idField, fields, plural, operations } = noun;
  const reading = contract.operations.get(operations.get) ?? contract.operations.get(operations.list);
  const names = [idField, ...fields.map(({ name }) => name), ...(reading?.records.furtherFields ?? [])];
  return goal.map((comparison) => {
    const [, word = '', rest = ''] = /^\/([^/]*)(.*)$/.exec(comparison.pointer) ?? [];
    const field = findField(noun, word);
    const name = field?.name ?? word;
    if (!names.includes(name))
      throw new UsageError(`--until: no field '${word}'; ${plural} have ${names.join(', ')}`);
    const { value, operator } = comparison;
    const kind = name === idField ? 'reference' : field?.kind;
    const words = kind === 'status' ? statusWords(contract, noun.name) : undefined;
    const status = words?.find((candidate) => caseless(candidate) === caseless(value));
    const requirement =
      words && status === undefined ? `is one of ${words.join(', ')}` : kind && requirements[kind]?.(value);
    if (requirement !== undefined && rest === '' && (operator === '=' || operator === '!='))
      throw new UsageError(`--until ${word}${operator}${value}: ${name} of ${plural} ${requirement}`);
    return { ...comparison, value: status ?? value, pointer: `/${name}${rest}` };
  });
}

const pauseMs = 2000;
/** The least time for the last reading. */
const leastReadMs = 100;

/**
 * Reads a record again and again, until the condition holds or --timeout is over: every two seconds, and once more right
 * before the time is over. The last reading gets twice the time that the reading before it took.
 *
 * @returns the record; undefined if the command waited for its end.
 * @throws CliError `unavailable` if the condition did not hold in time.
 */
export async function waitFor(
  access: Access,
  idOrName: IdOrName,
  goal: WaitGoal,
): Promise<JsonObject | undefined> {
  const { context, noun } = access;
  const limitMs = context.settings.get('timeout');
  const look = (remainingMs: number) => lookAt(access, idOrName, goal, Math.max(remainingMs, 1));
  const state = await poll(look, {
    pauseMs: () => pauseMs,
    lastLookMs: (durationMs) => Math.max(leastReadMs, 2 * durationMs),
    limitMs,
    signal: context.interrupts.signal,
  });
  if (typeof state !== 'string') return state.record;
  const subject = `${noun.singular} ${idOrName}`;
  const failure =
    goal === 'exists'
      ? 'did not come'
      : goal === 'gone'
        ? 'was not gone'
        : `did not meet ${goal.map(({ pointer, operator, value }) => pointer.slice(1) + operator + value).join(' ')}`;
  throw unansweredError('timeout', `${subject} ${failure} within ${secondsText(limitMs)}: ${state}`, {
    retryable: true,
    hint: 'allow more time with --timeout',
  });
}

/** The end of the wait, or a clause that says why it goes on. */
type State = { readonly record: JsonObject | undefined } | string;

async function lookAt(
  { client, noun, names }: Access,
  idOrName: IdOrName,
  goal: WaitGoal,
  timeoutMs: number,
): Promise<Look<State>> {
  const goOn = (why: string) => ({ value: why, isFinal: false });
  try {
    if (goal === 'gone' && typeof idOrName === 'string') {
      names.forget();
      const isThere = await names.has(namedNoun(noun), idOrName);
      return isThere ? goOn('it is still there') : { value: { record: undefined }, isFinal: true };
    }
    if (goal === 'exists') names.forget();
    const id = await names.idOf(namedNoun(noun), idOrName);
    const { value: record } = await readRecord(client, noun.name, id, { timeoutMs });
    if (goal === 'gone') return goOn('it is still there');
    const unmet = goal === 'exists' ? undefined : findUnmet(goal, record);
    if (!unmet) return { value: { record }, isFinal: true };
    const field = unmet.comparison.pointer.slice(1);
    return goOn(unmet.actual === undefined ? `it has no ${field}` : `${field} is ${unmet.actual || 'empty'}`);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (error.kind === 'not-found' && goal === 'gone') return { value: { record: undefined }, isFinal: true };
    if (error.kind === 'not-found' && goal === 'exists') return goOn('it does not exist');
    if (error.kind !== 'unavailable') throw error;
    return { ...goOn(error.message), leastPauseMs: attemptsOf(error).at(-1)?.retryAfterMs };
  }
}
