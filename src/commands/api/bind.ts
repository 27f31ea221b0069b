import type { Contract } from '../../api/contract.ts';
import type { OperationId } from '../../api/operations.ts';
import { matchContract, type Target, toContract } from '../../binding/bound-contract.ts';
import type { Description } from '../../binding/description.ts';
import { serversOf } from '../../binding/document.ts';
import { type Match, type Matches, show } from '../../binding/match.ts';
import { type BindingKey, removeContract, writeContract } from '../../config/contract-file.ts';
import { valueProblem } from '../../config/keys.ts';
import { unsetLine } from '../../config/settings.ts';
import { credentialPlace, describePlace, isSamePlace } from '../../config/token.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/columns.ts';
import { CliError, UsageError } from '../../process/errors.ts';
import { findOperation } from './list-operations.ts';
import { readDescriptionAt } from './read-description.ts';

/** Binds the active profile, or an origin, to a description. Stores nothing until all of it has been understood. */
export async function bindDescription(
  context: Context,
  location: string | undefined,
  map: readonly string[],
  withToken: boolean,
): Promise<void> {
  await checkOnline(context, 'api bind');
  const targets = readTargets(map);
  const printer = await context.printer();
  await printer.check(view);
  const description = await readDescriptionAt(context, location, withToken);
  if (description.convertedFrom !== undefined)
    await context.warn(`the description is Swagger ${description.convertedFrom}: converted to OpenAPI 3.1`);
  const matches = await matchAndAsk(context, description, targets);
  await printer.records([toRecords(matches)], view);
  const contract = toContract(description, matches);
  if (contract.operations.size === 0)
    throw new UsageError(
      `api bind ${location === '-' ? 'stdin' : description.url}: it has none of the operations that this program knows; the previous binding is unchanged`,
      "name them with --map, as in --map listPets='GET /animals'",
    );
  const { origin, basePath } = await settleAddress(context, description);
  const key = await bindingKey(context, origin);
  const { dryRun } = context.flags;
  if (!dryRun) {
    const boundAt = context.now().toISOString();
    const bound = { ...contract, basePath };
    await writeContract(context.io, key, { contract: bound, origin, source: description.url, boundAt });
  }
  const outcome = dryRun ? 'nothing stored (--dry-run)' : `stored for ${nameOfKey(key)}`;
  await context.warn(`${summary(matches)}; ${outcome}`);
  await noteCredential(context, contract);
  checkTies(matches);
}

/** Removes the contract that applies to the base URL: that of the profile, or if it has none that of the origin. */
export async function unbind(context: Context): Promise<void> {
  await checkOnline(context, 'api unbind');
  const baseUrl = (await context.settings()).get('base-url');
  if (baseUrl === undefined) throw noBaseUrl('api unbind');
  const { origin } = new URL(baseUrl);
  const own = await bindingKey(context, origin);
  for (const key of [own, { origin }])
    if (await removeContract(context.io, key))
      return context.print(`${nameOfKey(key)} has the built-in contract again`);
  await context.print(`${nameOfKey(own)} was not bound`);
}

/** @throws UsageError for the embedded store, which always has the built-in contract. */
async function checkOnline(context: Context, what: string): Promise<void> {
  if ((await context.settings()).offline)
    throw new UsageError(
      `${what}: the embedded store has the built-in contract`,
      'leave out --offline, or name another profile with --profile <name>',
    );
}

function noBaseUrl(what: string): UsageError {
  return new UsageError(
    `${what}: no base URL is set, and a binding belongs to an address`,
    'give --base-url <url>, or name a profile with --profile <name>',
  );
}

/** A profile takes the binding for its own address; any other address has one of its own. */
async function bindingKey(context: Context, origin: string): Promise<BindingKey> {
  const { profile } = await context.settings();
  return profile ? { profile: profile.value } : { origin };
}

function nameOfKey(key: BindingKey): string {
  return 'profile' in key ? `profile ${key.profile}` : key.origin;
}

/**
 * The values of `--map`, such as `updateInventory=PATCH /stock/{petId}`.
 *
 * @throws UsageError for another form, an unknown operation or one that is given twice.
 */
function readTargets(values: readonly string[]): ReadonlyMap<OperationId, Target> {
  const targets = new Map<OperationId, Target>();
  for (const value of values) {
    const [, name = '', method = '', path = ''] =
      /^\s*(\w+)\s*=\s*([A-Za-z]+)\s+(\/\S*)\s*$/.exec(value) ?? [];
    if (name === '')
      throw new UsageError(
        `--map ${value}: must be <operation>=<METHOD> <path>`,
        "as in --map updateInventory='PATCH /stock/{petId}'",
      );
    const id = findOperation(name, '--map');
    if (targets.has(id)) throw new UsageError(`--map ${id}: given twice`);
    targets.set(id, { method: method.toUpperCase(), path });
  }
  return targets;
}

/** Finds the operations; if several fit one of the table, asks which one to use. Without a terminal it stays unbound. */
async function matchAndAsk(
  context: Context,
  description: Description,
  given: ReadonlyMap<OperationId, Target>,
): Promise<Matches> {
  const matches = matchContract(description, given);
  const ties = tiesOf(matches);
  const prompt = ties.length > 0 ? await context.prompt() : undefined;
  if (!prompt) return matches;
  const targets = new Map(given);
  for (const { id, among } of ties) {
    const target = await prompt.select<Target | undefined>(`Which one is ${id}?`, [
      ...among.map((operation) => ({ name: show(operation), value: operation })),
      { name: '(leave it unbound)', value: undefined },
    ]);
    if (target) targets.set(id, target);
  }
  // What was chosen may be the path of others.
  return matchContract(description, targets);
}

function tiesOf(matches: Matches): { readonly id: OperationId; readonly among: readonly Target[] }[] {
  return [...matches].flatMap(([id, match]) =>
    match.state === 'ambiguous' ? { id, among: match.among } : [],
  );
}

function checkTies(matches: Matches): void {
  const ties = tiesOf(matches);
  const [first] = ties;
  if (!first) return;
  const [target] = first.among.map(show);
  const ids = ties.map(({ id }) => id).join(', ');
  throw new CliError('partial', `api bind: several operations fit ${ids}; the rest is bound`, {
    hint: `choose with --map ${first.id}='${target}'${ties.length > 1 ? ', and so on' : ''}`,
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

/** The address that a binding is for. */
interface Address {
  readonly origin: string;
  /** The path below which the operations lie, if the base URL has none: `/v1`; empty for none. */
  readonly basePath: string;
}

/**
 * The base URL that is set, below the path of the description's first server of that origin; else the first server of the
 * description, else the origin that the description came from.
 *
 * @throws UsageError if there is none: a binding belongs to an address.
 */
async function settleAddress(context: Context, description: Description): Promise<Address> {
  const current = (await context.settings()).get('base-url');
  const servers = serversOf(description, current).filter(
    (each) => valueProblem('base-url', each) === undefined,
  );
  if (current === undefined) {
    const { url } = description;
    const [first = /^https?:/.test(url) ? new URL(url).origin : undefined] = servers;
    if (first === undefined) throw noBaseUrl('api bind');
    await context.warn(`note: no base URL is set: petstore config set base-url ${first}`);
    return { origin: new URL(first).origin, basePath: pathOf(first) };
  }
  const { origin } = new URL(current);
  const own = servers.find((each) => new URL(each).origin === origin);
  const basePath = own !== undefined && pathOf(current) === '' ? pathOf(own) : '';
  if (basePath !== '')
    await context.warn(`its operations lie below ${origin}${basePath}, as the description says`);
  else if (servers.length > 0 && !servers.includes(current))
    await context.warn(`note: the description is that of ${servers.join(', ')}; commands go to ${current}`);
  return { origin, basePath };
}

/** The path of a URL without a trailing slash; empty for none. */
function pathOf(url: string): string {
  return new URL(url).pathname.replace(/\/$/, '');
}

/**
 * Notes where the token will go: a service that expects it in another place than the config says would refuse every
 * request.
 */
async function noteCredential(context: Context, { credentialPlaces }: Contract): Promise<void> {
  const settings = await context.settings();
  const place = credentialPlace(settings, credentialPlaces);
  const [first] = credentialPlaces;
  if (first === undefined) return;
  if (!credentialPlaces.some((each) => isSamePlace(each, place))) {
    const lines = (['auth-header', 'auth-scheme'] as const).flatMap((key) => {
      const { source } = settings.explain(key);
      const profile = source === 'profile' ? settings.profile?.value : undefined;
      return source === 'default' ? [] : [`\`${unsetLine(key, profile)}\``];
    });
    return context.warn(
      `note: the service takes its credential in ${describePlace(first)}, and the config puts it in ${describePlace(place)}; to leave it to the description: ${lines.join(' and ')}`,
    );
  }
  const isUsual = isSamePlace(place, { in: 'header', name: 'authorization' }) && !place.scheme;
  if (credentialPlaces.includes(place) && !isUsual)
    await context.warn(`note: a token is sent in ${describePlace(place)}, as the description asks`);
}

/** What was found for one operation of the table, as it is printed. */
type MatchRecord = ReturnType<typeof toRecords>[number];

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

/** Every operation for which the description has one, bound or not: its path is that of the one that nearly fits. */
function toRecords(matches: Matches) {
  return [...matches].flatMap(([operation, match]) => {
    if (match.state === 'missing') return [];
    const { method = null, path = null } = 'operation' in match ? match.operation : {};
    return [{ operation, state: match.state, method, path, why: match.why }];
  });
}
