import { type NounName, type OperationId, operationIds, operations } from '../../api/operations.ts';
import { bind, type Maps } from '../../binding/bound-contract.ts';
import { formatRoute, type Route } from '../../binding/document.ts';
import type { Match, Matches } from '../../binding/match.ts';
import { recordFieldsOf } from '../../binding/record-format.ts';
import { type BindingKey, removeContract, writeContract } from '../../config/contract-file.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/columns.ts';
import { CliError, UsageError } from '../../process/errors.ts';
import { addressOf, credentialNote, noBaseUrl } from './binding-target.ts';
import { findOperation } from './list-operations.ts';
import { readDescriptionAt } from './read-description.ts';

/** Binds the active profile, or an origin, to a description. If any part of it is not valid, nothing is stored. */
export async function bindDescription(
  context: Context,
  location: string | undefined,
  map: readonly string[],
  withToken: boolean,
): Promise<void> {
  await checkOnline(context, 'api bind');
  const maps = readMaps(map);
  const printer = await context.printer();
  await printer.check(view);
  const description = await readDescriptionAt(context, location, withToken);
  if (description.convertedFrom !== undefined)
    await context.warn(`the description is Swagger ${description.convertedFrom}: converted to OpenAPI 3.1`);
  const { matches, contract } = bind(description, maps);
  const show = () => printer.records([toMatchRecords(matches)], view);
  if (contract.operations.size === 0) {
    await show();
    throw new UsageError(
      `api bind ${location === '-' ? 'stdin' : description.url}: it has none of the operations that this program knows; the previous binding is unchanged`,
      "name them with --map, as in --map listPets='GET /animals'",
    );
  }
  const { settings } = context;
  const { origin, basePath, note } = addressOf(settings, description);
  if (note !== undefined) await context.warn(note);
  const key = await bindingKey(context, origin);
  const { dryRun } = context.flags;
  if (!dryRun) {
    const boundAt = context.now().toISOString();
    const bound = { ...contract, basePath };
    await writeContract(context.io, key, { contract: bound, origin, source: description.url, boundAt });
  }
  // After the binding is kept, because a reader that leaves early ends the command.
  await show();
  const outcome = dryRun ? 'nothing stored (--dry-run)' : `stored for ${nameOfKey(key)}`;
  await context.warn(`${summary(matches)}; ${outcome}`);
  const tokenNote = credentialNote(settings, contract.credentialPlaces);
  if (tokenNote !== undefined) await context.warn(tokenNote);
  checkTies(matches);
}

/** Removes the contract that applies to the base URL: that of the profile, or if it has none that of the origin. */
export async function unbind(context: Context): Promise<void> {
  await checkOnline(context, 'api unbind');
  const baseUrl = context.settings.get('base-url');
  if (baseUrl === undefined) throw noBaseUrl('api unbind');
  const { origin } = new URL(baseUrl);
  const active = await bindingKey(context, origin);
  for (const key of [active, { origin }])
    if (await removeContract(context.io, key))
      return context.print(`${nameOfKey(key)} has the built-in contract again`);
  await context.print(`${nameOfKey(active)} was not bound`);
}

/** @throws UsageError for the embedded store, which always has the built-in contract. */
async function checkOnline(context: Context, what: string): Promise<void> {
  if (context.settings.offline)
    throw new UsageError(
      `${what}: the embedded store has the built-in contract`,
      'leave out --offline, or name another profile with --profile <name>',
    );
}

/** The binding belongs to the active profile, or to the origin if there is none. */
async function bindingKey(context: Context, origin: string): Promise<BindingKey> {
  const { profile } = context.settings;
  return profile ? { profile: profile.value } : { origin };
}

function nameOfKey(key: BindingKey): string {
  return 'profile' in key ? `profile ${key.profile}` : key.origin;
}

/**
 * The values of `--map`, such as `updateInventory=PATCH /stock/{petId}` and `pets.name=title`.
 *
 * @throws UsageError for another form, an unknown operation or field, or one that is given twice.
 */
function readMaps(values: readonly string[]): Maps {
  const routes = new Map<OperationId, Route>();
  const fields = new Map<NounName, Map<string, string>>();
  for (const value of values) {
    const [, name = '', method = '', path = ''] =
      /^\s*(\w+)\s*=\s*([A-Za-z]+)\s+(\/\S*)\s*$/.exec(value) ?? [];
    const [, noun = '', field = '', written = ''] = /^\s*(\w+)\.(\w+)\s*=\s*(\S.*?)\s*$/.exec(value) ?? [];
    if (name !== '') {
      const id = findOperation(name, '--map');
      if (routes.has(id)) throw new UsageError(`--map ${id}: given twice`);
      routes.set(id, { method: method.toUpperCase(), path });
    } else if (written !== '') {
      const names = fields.get(nounCalled(noun)) ?? new Map<string, string>();
      checkFieldName(nounCalled(noun), field);
      if (names.has(field)) throw new UsageError(`--map ${noun}.${field}: given twice`);
      fields.set(nounCalled(noun), names.set(field, written));
    } else
      throw new UsageError(
        `--map ${value}: must be <operation>=<METHOD> <path>, or <noun>.<field>=<name>`,
        "as in --map updateInventory='PATCH /stock/{petId}' or --map pets.name=title",
      );
  }
  return { operations: routes, fields };
}

/** @throws UsageError if there is no such noun. */
function nounCalled(name: string): NounName {
  const nouns = [...new Set(operationIds.map((id) => operations[id].noun))];
  const noun = nouns.find((each) => each === name);
  if (noun !== undefined) return noun;
  throw new UsageError(`--map ${name}: there is no such noun`, `one of ${nouns.join(', ')}`);
}

/** @throws UsageError if the records of a noun have no such field. */
function checkFieldName(noun: NounName, field: string): void {
  if (recordFieldsOf(noun).includes(field)) return;
  throw new UsageError(
    `--map ${noun}.${field}: ${noun} have no such field`,
    `one of ${recordFieldsOf(noun).join(', ')}`,
  );
}

function checkTies(matches: Matches): void {
  const ties = [...matches].flatMap(([id, match]) =>
    match.state === 'ambiguous' ? [{ id, among: match.among }] : [],
  );
  const [first] = ties;
  if (!first) return;
  const [route] = first.among.map(formatRoute);
  const ids = ties.map(({ id }) => id).join(', ');
  throw new CliError('partial', `api bind: several operations fit ${ids}; the rest is bound`, {
    hint: `choose with --map ${first.id}='${route}'${ties.length > 1 ? ', and so on' : ''}`,
  });
}

/** `9 of 20 operations bound`, and which ones the description lacks. */
function summary(matches: Matches): string {
  const idsOf = (state: Match['state']) =>
    [...matches].flatMap(([id, match]) => (match.state === state ? id : []));
  const missing = idsOf('missing');
  const lacks = missing.length > 0 ? `; the description lacks ${missing.join(', ')}` : '';
  return `${idsOf('bound').length} of ${matches.size} operations bound${lacks}`;
}

/** The match of one operation of the table, as it is printed. */
type MatchRecord = ReturnType<typeof toMatchRecords>[number];

const view: View<MatchRecord> = {
  noun: 'operations',
  columns: [
    { name: 'operation', value: ({ operation }) => operation },
    { name: 'state', value: ({ state }) => state },
    { name: 'method', value: ({ method }) => method },
    { name: 'path', value: ({ path }) => path },
    { name: 'why', value: ({ why }) => why },
  ],
};

/** The operations that the description has, bound or not. One that nearly fits is shown with its path. */
function toMatchRecords(matches: Matches) {
  return [...matches].flatMap(([operation, match]) => {
    if (match.state === 'missing') return [];
    const { method = null, path = null } = 'operation' in match ? match.operation : {};
    return [{ operation, state: match.state, method, path, why: match.why }];
  });
}
