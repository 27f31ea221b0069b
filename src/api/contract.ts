import { UsageError } from '../process/errors.ts';
import type { JsonObject, JsonValue } from '../process/exact-json.ts';
import { dayOf, joinFirst } from '../process/text.ts';
import { type HttpHeaders, headerDate } from './http.ts';
import { type Field, type NounName, nouns, type OperationId } from './nouns.ts';
import { type Operation, operations, type StatedResponse, type TokenHeader } from './operations.ts';
import type { AbsentFields } from './same-values.ts';
import type { Bounds } from './schemas.ts';

/** The reason why a service lacks an operation that its description does not show. Another operation there may still do the same. */
export const whyNotDescribed = 'no operation of the description has a fitting method, path and schemas';

/** The operations of the table that a service offers, and the reasons why it lacks the rest. */
export interface Contract {
  readonly operations: ReadonlyMap<OperationId, Operation>;
  /** The reasons why operations are missing, clauses. They name the flag if `--map` can bind one. */
  readonly missing: ReadonlyMap<OperationId, string>;
  /** The header of the token, from the description's security schemes. Without it, the settings name the header. */
  readonly tokenHeader?: TokenHeader | undefined;
  /** The origin to which a binding applies. The built-in contract has none. */
  readonly origin?: string | undefined;
  /** The path, such as `/v1`, that is appended to a base URL without a path of its own. May be empty. */
  readonly basePath: string;
  /** The schemas that the schemas of answers refer to, by reference. */
  readonly definitions: JsonObject;
}

/** The contract of the table, which applies to a profile without a binding. */
export const builtInContract: Contract = {
  operations: new Map(Object.values(operations).map((operation) => [operation.id, operation])),
  missing: new Map(),
  basePath: '',
  definitions: {},
};

/** The service lacks an operation, a parameter or a field that the command needs. */
export class UnboundError extends UsageError {
  constructor(message: string, hint = 'see `petstore api operations --all`') {
    super(message, hint, 'unbound');
  }
}

/** Returns the error for a field that the body of an operation does not have. @param subject the flag that gives the field. */
export function unknownFieldError({ id, body }: Operation, name: string, subject = ''): UnboundError {
  const names = Object.keys(body?.fields ?? {});
  const hint = names.length === 0 ? 'its body has no fields' : `its fields are ${joinFirst(names, 12)}`;
  return new UnboundError(`${subject}${id} of the service has no field ${name}`, hint);
}

/**
 * Returns an operation of the contract. Commands call this before they send anything.
 *
 * @throws UnboundError if the contract lacks the operation.
 */
export function requireOperation(contract: Contract, id: OperationId): Operation {
  const operation = contract.operations.get(id);
  if (operation) return operation;
  const { summary } = operations[id];
  const action = summary.charAt(0).toLowerCase() + summary.slice(1);
  throw new UnboundError(
    `the service offers no way to ${action} (${id}): ${contract.missing.get(id) ?? whyNotDescribed}`,
    '`petstore api bind <file or URL> --dry-run` shows why, and which routes are not used',
  );
}

/** Returns true if the service offers a way to read a record: by itself, or in its list. */
export function canRead({ operations }: Contract, noun: NounName): boolean {
  const { get, list } = nouns[noun].operations;
  return operations.has(get) || operations.has(list);
}

/** Returns what the description of a service states about an answer with this status. */
export function statedResponse({ responses }: Operation, status: number): StatedResponse | undefined {
  return responses?.[status] ?? responses?.[`${String(status).charAt(0)}XX`] ?? responses?.default;
}

/** Returns what a service states about the values of a field: in its records, or else in its bodies or filters. */
export function fieldBounds(
  { operations: all }: Contract,
  noun: NounName,
  field: string,
): Bounds | undefined {
  const ofNoun = [...all.values()].filter((operation) => operation.noun === noun);
  const statements = [
    ...ofNoun.map(({ recordForm }) => recordForm.bounds[field]),
    ...ofNoun.map(({ body }) => body?.fields[field]?.bounds),
    ...ofNoun.flatMap(({ parameters }) => parameters.find(({ name }) => name === field)?.bounds),
  ];
  return statements.find((bounds) => bounds?.enum ?? bounds?.format);
}

/**
 * Returns the value that a field has in a record that leaves it out: an order is then not complete, and a pet has the default status
 * of the description. Undefined if there is no default.
 */
export function defaultOf({ noun, recordForm }: Operation, name: string): JsonValue | undefined {
  const fields: readonly Field[] = nouns[noun].fields;
  return fields.find((field) => field.name === name)?.default ?? recordForm.bounds[name]?.default;
}

export function takesField({ body }: Operation, name: string): boolean {
  return body !== undefined && Object.hasOwn(body.fields, name);
}

/** Lists the required fields that values lack, except the id of an update, because the client adds it to the body. */
export function lackingFields(
  { body, noun }: Operation,
  values: Readonly<Record<string, unknown>>,
): string[] {
  return Object.entries(body?.fields ?? {}).flatMap(([name, { required }]) => {
    const isAdded = body?.hasId && name === nouns[noun].idField;
    return required && !isAdded && values[name] === undefined ? [name] : [];
  });
}

/** Returns the fields of a noun that the records of a service need not have, by its description. */
export function absentFields({ operations: all }: Contract, noun: NounName): Required<AbsentFields> {
  const fields: readonly Field[] = nouns[noun].fields;
  const defaults: Record<string, JsonValue> = {};
  for (const { name, default: value } of fields) if (value !== undefined) defaults[name] = value;
  const writeOnly = new Set<string>();
  // Loops, because this runs for each answer to a write, and `map` and `filter` take five times as long.
  for (const id of Object.values(nouns[noun].operations)) {
    const { recordForm, body } = all.get(id) ?? {};
    for (const name in recordForm?.bounds) {
      const value = recordForm.bounds[name]?.default;
      if (value !== undefined) defaults[name] = value;
    }
    for (const name in body?.fields) if (body.fields[name]?.isWriteOnly) writeOnly.add(name);
  }
  return { defaults, writeOnly };
}

/**
 * Returns true if a description asks tools to show no form that sends an operation (`x-hideTryItPanel`).
 *
 * @param levels the document, the path item and the operation object.
 */
export function hidesTryIt(...levels: readonly object[]): boolean {
  return levels.some((level) => 'x-hideTryItPanel' in level && level['x-hideTryItPanel'] === true);
}

/**
 * Says that an operation is deprecated or may change, from its description and the headers of its answer: `getPet is deprecated
 * and ends on 2030-01-01`. Returns undefined for a stable operation that is not deprecated.
 *
 * @see RFC 9745 (Deprecation), RFC 8594 (Sunset)
 */
export function lifecycleText(operation: Operation, headers: HttpHeaders): string | undefined {
  const { stability } = operation;
  const until = sunsetOf(operation, headers);
  const isDeprecated = operation.isDeprecated || announcesEnd(headers);
  const clauses = [
    isDeprecated && `is deprecated${until ? ` and ends on ${dayOf(until)}` : ''}`,
    stability !== 'stable' && `is ${stability} and may change`,
  ].filter((clause) => typeof clause === 'string');
  return clauses.length === 0 ? undefined : `${operation.id} ${clauses.join(' and ')}`;
}

/** Returns true if the headers of an answer say that its operation is deprecated. */
export function announcesEnd(headers: HttpHeaders): boolean {
  return (headers.deprecation ?? headers.sunset) !== undefined;
}

/** Returns when an operation may be gone, by the header of an answer, or else by its description. */
export function sunsetOf({ sunset = '' }: Operation, headers: HttpHeaders): Date | undefined {
  const ms = headerDate(headers, 'sunset') ?? Date.parse(sunset);
  return Number.isNaN(ms) ? undefined : new Date(ms);
}
