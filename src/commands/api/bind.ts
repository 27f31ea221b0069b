import { builtInContract } from '../../api/contract.ts';
import { type NounName, nouns, type OperationId } from '../../api/nouns.ts';
import { operationIds, operations } from '../../api/operations.ts';
import { bind, type Maps, withoutPrefix } from '../../binding/binding.ts';
import { type Description, objectOf, serverOf } from '../../binding/description.ts';
import { type Route, routeText } from '../../binding/document.ts';
import type { Matches } from '../../binding/match.ts';
import { recordFieldsOf } from '../../binding/record-form.ts';
import { remarksOf } from '../../binding/remarks.ts';
import { bindingScope, removeContract, writeContract } from '../../config/contract-file.ts';
import type { Settings } from '../../config/settings.ts';
import { addressOf, type Context, withBasePath } from '../../context.ts';
import type { Notice } from '../../output/messages.ts';
import type { Output } from '../../output/printer.ts';
import { CliError, parseAt, UsageError, ValueError } from '../../process/errors.ts';
import { joinFirst } from '../../process/text.ts';
import { readDescriptionAt } from './read-description.ts';

/** The values of the arguments and flags of `api bind`. */
interface BindValues {
  readonly location: string | undefined;
  readonly map: readonly string[] | undefined;
  readonly basePath: string | undefined;
  readonly withToken: boolean | undefined;
}

/** Binds the active profile or an origin to a description. Stores nothing if a part of the description or of `--map` is invalid. */
export async function bindDescription(context: Context, values: BindValues): Promise<Output> {
  requireOnline(context, 'api bind');
  const { settings, io } = context;
  const maps = parseMaps(values.map ?? []);
  const { location, withToken = false } = values;
  const description = await readDescriptionAt(context, location, withToken);
  const { origin, address, basePath, prefix } = chooseAddress(settings, description, values.basePath);
  const { matches, contract: described, routes } = bind(description, maps);
  const contract = withoutPrefix(described, prefix);
  const rows = operationIds.map((operation) => {
    const bound = contract.operations.get(operation);
    const { method = null, path = null, why = contract.missing.get(operation) } = bound ?? {};
    return { operation, method, path, why };
  });
  const pages = [rows];
  const isText = context.printer.content === 'text';
  if (contract.operations.size === 0) {
    const error = new UsageError(
      `api bind ${description.label}: none of its operations is bound; nothing is stored`,
      hintOfMatches(matches, routes),
      'unbound',
    );
    const isShort = isText && [...matches.values()].every(({ operation }) => !operation);
    return isShort ? { kind: 'nothing', error } : { kind: 'list', pages, error };
  }
  const scope = bindingScope(settings.profile?.value, origin);
  const { dryRun } = context.flags;
  if (!dryRun) await writeContract(io, scope, { ...contract, origin, basePath });
  const outcome = dryRun ? 'nothing stored (--dry-run)' : `stored for ${scope.name}`;
  const isAsBuiltIn = rows.every(({ operation, method, path }) => {
    const builtIn = operations[operation];
    return method === builtIn.method && path === builtIn.path;
  });
  const summary = isAsBuiltIn
    ? `all ${operationIds.length} operations bound as built in`
    : `${contract.operations.size} of ${operationIds.length} operations bound`;
  const status: Notice = ['status', `${summary}, below ${address}; ${outcome}`];
  const remarks = remarksOf(matches, contract).map((remark): Notice => ['note', remark]);
  const notices = [status, ...remarks, ...warningsOfVariable(context)];
  const ending = { notices, error: tieError(matches) };
  // A table would only repeat the built-in contract.
  return isAsBuiltIn && isText ? { kind: 'nothing', ...ending } : { kind: 'list', pages, ...ending };
}

/** Returns the hint for a description in which no operation is bound: flags that bind one, or else the routes to choose from. */
function hintOfMatches(matches: Matches, routes: readonly Route[]): string {
  const flags = [...matches.values()].find((match) => match.flags !== undefined)?.flags;
  if (flags !== undefined) return `to bind an operation, add ${flags}`;
  const gets = routes.filter(({ method }) => method === 'GET').map(routeText);
  if (gets.length === 0) return 'it has no GET operation';
  return `it has ${joinFirst(gets, 8)}: name its operations with --map <operation>='<METHOD> <path>'`;
}

/** Warns if a variable names a binding, which comes before the stored ones. */
function warningsOfVariable({ settings }: Context): Notice[] {
  const { source, givenBy } = settings.explain('contract');
  if (source !== 'environment') return [];
  return [['warning', `${givenBy} is set: the binding that it names comes before what is stored; unset it`]];
}

/** Removes the bindings for the base URL: that of the profile, and that of the origin. */
export async function unbind(context: Context): Promise<Output> {
  requireOnline(context, 'api unbind');
  const { settings, io } = context;
  const baseUrl = addressOf(settings, builtInContract);
  const { origin } = new URL(baseUrl);
  const removed: string[] = [];
  for (const scope of [bindingScope(settings.profile?.value, origin), bindingScope(undefined, origin)])
    if (await removeContract(io, scope)) removed.push(scope.name);
  const outcome =
    removed.length === 0 ? 'no binding is stored' : `removed the binding of ${removed.join(' and ')}`;
  const warnings = warningsOfVariable(context);
  const status = warnings.length > 0 ? outcome : `${outcome}; ${baseUrl} has the built-in contract`;
  return { kind: 'nothing', notices: [['status', status], ...warnings] };
}

/** @throws UsageError for the embedded store, which cannot be bound. */
function requireOnline({ settings }: Context, command: string): void {
  if (settings.offline)
    throw new UsageError(
      `${command}: the embedded store has the built-in contract`,
      'leave out --offline, or name another profile with --profile <name>',
    );
}

/**
 * Reads the values of `--map`, such as `updateInventory=PATCH /stock/{petId}` and `pets.name=title`.
 *
 * @throws UsageError for a value of another form, and for an unknown operation or field.
 */
function parseMaps(values: readonly string[]): Maps {
  const operations = new Map<OperationId, Route>();
  const fields = new Map<NounName, Map<string, string>>();
  for (const value of values) {
    const {
      name,
      method = '',
      path = '',
      noun = '',
      field = '',
      wireName = '',
    } = parseAt('--map', value, () => splitMap(value));
    if (name !== undefined) {
      const id = operationIds.find((each) => each === name);
      if (!id)
        throw new UsageError(`--map ${name}: there is no such operation`, 'see `petstore api operations`');
      operations.set(id, { method: method.toUpperCase(), path });
    } else {
      const nounName = requireNounOfField(noun, field);
      fields.set(nounName, new Map([...(fields.get(nounName) ?? []), [field, wireName]]));
    }
  }
  return { operations, fields };
}

/** Splits a value of `--map` into its parts: an operation and its route, or a field and its name. @throws ValueError for any other text. */
function splitMap(text: string): Partial<Record<string, string>> {
  const operation = /^\s*(?<name>\w+)\s*=\s*(?<method>[A-Za-z]+)\s+(?<path>\/\S*)\s*$/.exec(text);
  const field = /^\s*(?<noun>\w+)\.(?<field>\w+)\s*=\s*(?<wireName>\S.*?)\s*$/.exec(text);
  const { groups } = operation ?? field ?? {};
  if (groups) return groups;
  throw new ValueError('must be <operation>=<METHOD> <path>, or <noun>.<field>=<name>', {
    hint: "as in --map updateInventory='PATCH /stock/{petId}' or --map pets.name=title",
  });
}

/** Returns the noun of a field. @throws UsageError if the noun does not exist, or its records lack the field. */
function requireNounOfField(noun: string, field: string): NounName {
  const match = Object.values(nouns).find(
    ({ name }) => name === noun && recordFieldsOf(name).includes(field),
  );
  if (match) return match.name;
  const fields = Object.values(nouns).flatMap(({ name }) =>
    recordFieldsOf(name).map((each) => `${name}.${each}`),
  );
  throw new UsageError(
    `--map ${noun}.${field}: there is no such field`,
    `the fields are ${fields.join(', ')}`,
  );
}

/**
 * Chooses the address of a binding: the base URL, or else the origin of the description. The base path is that of --base-path, or else of
 * the description's server at the same origin. A base URL with a path needs neither. If all paths of the description begin with its path,
 * that is their prefix.
 *
 * @throws UsageError if there is no address, or both it and --base-path have a path.
 */
function chooseAddress(settings: Settings, { url, document }: Description, basePathFlag: string | undefined) {
  const baseUrl = url && !settings.baseUrl ? new URL(url).origin : addressOf(settings, builtInContract);
  const { origin, pathname } = new URL(baseUrl);
  if (basePathFlag !== undefined && pathname !== '/')
    throw new UsageError(`--base-path: ${baseUrl} has a path already`, 'leave out one of them');
  const server = serverOf(document, origin, url);
  const isHere = server?.origin === origin;
  const paths = Object.keys(objectOf(document.paths)).filter((path) => path.startsWith('/'));
  const isPrefix = paths.every((path) => path.startsWith(`${pathname}/`));
  const prefix = isPrefix ? pathname : '';
  const basePath = (basePathFlag ?? (prefix || (isHere ? server.pathname : ''))).replace(/\/+$/, '');
  return { origin, address: withBasePath(baseUrl, basePath), basePath, prefix };
}

/** Returns the error for our operations that several operations of the description fit. */
function tieError(matches: Matches): CliError | undefined {
  const ties = [...matches].flatMap(([id, { state }]) => (state === 'ambiguous' ? [id] : []));
  if (ties.length === 0) return undefined;
  return new CliError('partial', `api bind: several operations fit ${ties.join(', ')}; the rest is bound`, {
    hint: 'bind again with the --map flag of one of them',
  });
}
