import type { HttpHeaders } from '../api/http.ts';
import type { Operation, Parameter } from '../api/operations.ts';
import { FieldError } from '../process/errors.ts';
import { isJsonObject } from '../process/exact-json.ts';
import { type CallInput, parameterValue } from './request.ts';

/**
 * Checks before anything is sent that an input has the required parameters and fields. A PATCH carries only changes, so it may
 * leave out required fields. The bounds of a description are the service's to check.
 *
 * @param input with its body as the service takes it.
 * @param headers the headers that every request carries: a required header that the user gave is among them.
 * @throws UsageError that names everything that is missing.
 */
export function checkRequired(operation: Operation, input: CallInput, headers: HttpHeaders = {}): void {
  const { id, method, parameters, body: requestBody } = operation;
  const missing: { readonly field: string; readonly clause: string }[] = [];
  for (const parameter of parameters) {
    const clause = missingClause(parameter, input, headers);
    if (clause !== undefined) missing.push({ field: parameter.name, clause });
  }
  const { body } = input;
  if (requestBody && isJsonObject(body) && method !== 'PATCH')
    for (const [field, { wireName, required }] of Object.entries(requestBody.fields))
      if (required && body[wireName] === undefined) missing.push({ field, clause: `${field} is required` });
  const [first] = missing;
  if (first) throw new FieldError(`${missing.map(({ clause }) => clause).join('; ')} (${id})`, first.field);
}

function missingClause(parameter: Parameter, input: CallInput, headers: HttpHeaders): string | undefined {
  const { name, wireName, required, in: place } = parameter;
  if (!required || parameterValue(input, parameter) !== undefined) return undefined;
  if (place === 'path') return `${wireName} is required`;
  // The flag of a filter by a category is --category.
  if (place === 'query') return `${name} is required: give it with --${name.replace(/Id$/, '')}`;
  const isGiven = headers[wireName.toLowerCase()] !== undefined;
  return isGiven ? undefined : `the header ${wireName} is required: give it with --header`;
}
