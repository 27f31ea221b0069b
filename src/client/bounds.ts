import type { HttpHeaders } from '../api/http.ts';
import type { Operation, Parameter } from '../api/operations.ts';
import type { Bounds } from '../api/schemas.ts';
import { FieldError } from '../process/errors.ts';
import { isJsonObject } from '../process/exact-json.ts';
import { shorten } from '../process/text.ts';
import { runWithinTime } from '../process/within-time.ts';
import { type CallInput, parameterValue } from './request.ts';

/**
 * Checks an input against the contract before anything is sent: required parameters and fields, and the bounds of a
 * bound description. A PATCH carries only changes, so it may leave out required fields.
 *
 * @param input with its body as the service takes it.
 * @param headers the headers that every request carries: a required header that the user gave is among them.
 * @throws UsageError that names every field that breaks its bounds.
 */
export function checkInput(operation: Operation, input: CallInput, headers: HttpHeaders = {}): void {
  const { id, method, parameters, body: requestBody } = operation;
  const problems: { readonly field: string; readonly clause: string | undefined }[] = [];
  for (const parameter of parameters)
    problems.push({ field: parameter.name, clause: parameterProblem(parameter, input, headers) });
  const { body } = input;
  if (requestBody && isJsonObject(body))
    for (const [name, { wireName, required, bounds }] of Object.entries(requestBody.fields)) {
      const value = body[wireName] ?? undefined;
      if (required && body[wireName] === undefined && method !== 'PATCH')
        problems.push({ field: name, clause: `${name} is required` });
      if (bounds && value !== undefined)
        problems.push({ field: name, clause: brokenBound(name, value, bounds) });
    }
  const broken = problems.filter(({ clause }) => clause !== undefined);
  const [first] = broken;
  if (first) throw new FieldError(`${broken.map(({ clause }) => clause).join('; ')} (${id})`, first.field);
}

function parameterProblem(parameter: Parameter, input: CallInput, headers: HttpHeaders): string | undefined {
  const { name, wireName, required, bounds } = parameter;
  const label = parameter.in === 'path' ? wireName : name;
  const value = parameterValue(input, parameter);
  if (value !== undefined) return bounds && brokenBound(label, value, bounds);
  if (!required) return undefined;
  if (parameter.in === 'path') return `${label} is required`;
  // The flag of a filter by a category is --category.
  if (parameter.in === 'query') return `${label} is required: give it with --${name.replace(/Id$/, '')}`;
  const isGiven = headers[wireName.toLowerCase()] !== undefined;
  return isGiven ? undefined : `the header ${wireName} is required: give it with --header`;
}

const patternLimitMs = 1000;
/** How many characters of a bound a message shows. A description may hold a text of any length. */
const longestBound = 200;

/** Returns how a value breaks its bounds, a clause. Undefined if the value keeps them. */
function brokenBound(name: string, value: unknown, bounds: Bounds): string | undefined {
  const { type, enum: choices, pattern } = bounds;
  const breach = (bound: string) => `${name} must ${shorten(bound, longestBound)}`;
  if (type !== undefined && !hasType(value, type)) return breach(`be ${typePhrases[type]}`);
  if (choices && !choices.includes(String(value))) return breach(`be one of ${choices.join(', ')}`);
  if (typeof value === 'string') {
    const { length } = [...value];
    const { minLength = 0, maxLength = length } = bounds;
    if (length < minLength) return breach(`have at least ${minLength} characters`);
    if (length > maxLength) return breach(`have at most ${maxLength} characters`);
    return pattern === undefined || matchesPattern(pattern, value) ? undefined : breach(`match ${pattern}`);
  }
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  const { minimum = value, maximum = value } = bounds;
  if (value < minimum) return breach(`be at least ${minimum}`);
  return value > maximum ? breach(`be at most ${maximum}`) : undefined;
}

const typePhrases = {
  integer: 'an integer',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
} as const;

function hasType(value: unknown, type: NonNullable<Bounds['type']>): boolean {
  if (type === 'integer') return typeof value === 'bigint' || Number.isInteger(value);
  if (type === 'number') return typeof value === 'bigint' || typeof value === 'number';
  return typeof value === type;
}

/** Also true if the pattern takes too long: the service then decides. */
function matchesPattern(pattern: string, value: string): boolean {
  const work = () => new RegExp(pattern, 'u').test(value);
  return runWithinTime(patternLimitMs, work, () => true);
}
