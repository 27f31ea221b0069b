import type { HttpFields } from '../api/http.ts';
import type { Operation, Parameter } from '../api/operations.ts';
import type { Bounds } from '../api/schemas.ts';
import { UsageError } from '../process/errors.ts';
import { isJsonObject } from '../process/exact-json.ts';
import { shorten } from '../process/text.ts';
import { withinTime } from '../process/within-time.ts';
import { type CallInput, parameterValue } from './request.ts';

/**
 * Checks an input against the contract before anything is sent: required parameters and fields, and the bounds of a
 * bound description. A PATCH carries only changes, so it may leave out required fields.
 *
 * @param input with its body as the service takes it.
 * @param fields those of every request, so that a header that the user gave counts.
 * @throws UsageError that names every field that breaks its bounds.
 */
export function checkInput(operation: Operation, input: CallInput, fields: HttpFields = {}): void {
  const problems: string[] = [];
  addParameterProblems(problems, operation, input, fields);
  addBodyProblems(problems, operation, input);
  if (problems.length === 0) return;
  throw new UsageError(`${problems.join('; ')} (${operation.id})`);
}

const patternLimitMs = 1000;
/** How much of a bound a message shows: a description may hold a text of any length. */
const longestBound = 200;

/** The bound that a value breaks, a clause; undefined if it keeps all. */
function brokenBound(value: unknown, bounds: Bounds): string | undefined {
  if (bounds.type !== undefined && !hasType(value, bounds.type)) return `must be ${typePhrases[bounds.type]}`;
  if (bounds.enum && !bounds.enum.includes(String(value)))
    return `must be one of ${shorten(bounds.enum.join(', '), longestBound)}`;
  if (typeof value === 'string') return brokenTextBound(value, bounds);
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  if (bounds.minimum !== undefined && value < bounds.minimum) return `must be at least ${bounds.minimum}`;
  if (bounds.maximum !== undefined && value > bounds.maximum) return `must be at most ${bounds.maximum}`;
  return undefined;
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

function brokenTextBound(value: string, { minLength, maxLength, pattern }: Bounds): string | undefined {
  const length = [...value].length;
  if (minLength !== undefined && length < minLength) return `must have at least ${minLength} characters`;
  if (maxLength !== undefined && length > maxLength) return `must have at most ${maxLength} characters`;
  if (pattern !== undefined && !matchesPattern(pattern, value))
    return `must match ${shorten(pattern, longestBound)}`;
  return undefined;
}

/** Also true if the pattern takes too long: the service then decides. */
function matchesPattern(pattern: string, value: string): boolean {
  return withinTime(
    patternLimitMs,
    () => new RegExp(pattern, 'u').test(value),
    () => true,
  );
}

function addParameterProblems(
  problems: string[],
  { parameters }: Operation,
  input: CallInput,
  fields: HttpFields,
): void {
  for (const parameter of parameters) {
    const { name, wireName, required, bounds } = parameter;
    const value = parameterValue(input, parameter);
    const broken = value === undefined ? undefined : bounds && brokenBound(value, bounds);
    if (broken) problems.push(`${parameter.in === 'path' ? wireName : name} ${broken}`);
    const isInFields = parameter.in === 'header' && fields[wireName.toLowerCase()] !== undefined;
    if (value === undefined && required && !isInFields) problems.push(describeLack(parameter));
  }
}

function describeLack({ in: place, name, wireName }: Parameter): string {
  if (place === 'header') return `the header ${wireName} is required: give it with --header`;
  if (place === 'path') return `${wireName} is required`;
  const flag = filterFlags[name];
  return flag === undefined ? `${name} is required` : `${name} is required: give it with ${flag}`;
}

/** The flags for the filters that a list may require. */
const filterFlags: Readonly<Record<string, string>> = {
  status: '--status',
  categoryId: '--category',
  petId: '--pet',
  complete: '--complete',
  limit: '--limit',
};

function addBodyProblems(
  problems: string[],
  { body: requestBody, method }: Operation,
  { body }: CallInput,
): void {
  if (!requestBody || !isJsonObject(body)) return;
  for (const [name, { wireName, required, bounds }] of Object.entries(requestBody.fields)) {
    const value = body[wireName];
    const broken = bounds && value !== undefined && value !== null ? brokenBound(value, bounds) : undefined;
    if (broken) problems.push(`${name} ${broken}`);
    if (required && value === undefined && method !== 'PATCH') problems.push(`${name} is required`);
  }
}
