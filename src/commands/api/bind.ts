import type { OperationId } from '../../api/operations.ts';
import { type Binding, bindContract, type Target } from '../../binding/bind.ts';
import type { Description } from '../../binding/description.ts';
import { serversOf } from '../../binding/document.ts';
import { type Confidence, type Match, type Matches, show } from '../../binding/match.ts';
import { removeContract, writeContract } from '../../config/contract-file.ts';
import { editConfig, setValue, toStoredValue } from '../../config/edit.ts';
import { valueProblem } from '../../config/keys.ts';
import { unsetLine } from '../../config/settings.ts';
import { credentialPlace, describePlace, isSamePlace } from '../../config/token.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/columns.ts';
import { CliError, UsageError } from '../../process/errors.ts';
import { findOperation } from './operations.ts';
import { readDescriptionAt } from './source.ts';

/** Binds the active profile to a description. Stores nothing until all of it has been read and understood. */
export async function bindDescription(
  context: Context,
  location: string | undefined,
  map: readonly string[],
  withToken: boolean,
): Promise<void> {
  const profile = await boundProfile(context, 'api bind');
  const targets = readTargets(map);
  const printer = await context.printer();
  await printer.check(view);
  const description = await readDescriptionAt(context, location, withToken);
  if (description.convertedFrom !== undefined)
    await context.notice(`the description is Swagger ${description.convertedFrom}: converted to OpenAPI 3.0`);
  const { contract, matches } = await bindAndAsk(context, description, targets);
  const isEmpty = contract.operations.size === 0;
  const isStored = !isEmpty && !context.flags.dryRun;
  if (isStored) {
    const boundAt = context.now().toISOString();
    await writeContract(context.io, profile, { contract, source: description.url, boundAt });
  }
  await printer.records([toRecords(matches)], view);
  if (isEmpty)
    throw new UsageError(
      `api bind ${location === '-' ? 'stdin' : description.url}: it has none of the operations that this program knows; what was bound before stays`,
      "name them with --map, as in --map listPets='GET /animals'",
    );
  const baseUrl = isStored ? await settleBaseUrl(context, profile, serversOf(description)) : undefined;
  refuseTies(matches);
  const outcome = isStored ? `stored with ${nameOfTarget(profile)}` : 'nothing stored (--dry-run)';
  await context.notice(`${summary(matches)}; ${outcome}`);
  if (baseUrl !== undefined) await context.notice(baseUrl);
  await noteCredential(context, contract);
}

/** Removes the bound contract of the active profile. */
export async function unbindProfile(context: Context): Promise<void> {
  const profile = await boundProfile(context, 'api unbind');
  const removed = await removeContract(context.io, profile);
  const target = nameOfTarget(profile);
  await context.notice(removed ? `${target} has the built-in contract again` : `${target} was not bound`);
}

/**
 * The profile for which a contract is stored; undefined for the top level of the config.
 *
 * @throws UsageError for the embedded store, which always has its own contract, and for an address other than the
 *   active profile's, because its contract would apply to every profile without one.
 */
async function boundProfile(context: Context, what: string): Promise<string | undefined> {
  const settings = await context.settings();
  if (settings.offline)
    throw new UsageError(
      `${what}: the embedded store has the built-in contract`,
      'leave out --offline, or name another profile with --profile <name>',
    );
  if (settings.setAside)
    throw new UsageError(
      `${what}: the base URL is of another origin than that of the active profile, ${settings.setAside.value}`,
      `name the profile with --profile ${settings.setAside.value}, or create one for this service with \`petstore profile create <name> --base-url <url>\``,
    );
  return settings.profile?.value;
}

function nameOfTarget(profile: string | undefined): string {
  return profile === undefined ? 'the top level of the config' : `profile ${profile}`;
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
    if (targets.has(id)) throw new UsageError(`--map ${id}: is given twice`);
    targets.set(id, { method: method.toUpperCase(), path });
  }
  return targets;
}

/** Binds; if several operations match one of the table, asks which one to use. Without a terminal they stay unbound. */
async function bindAndAsk(
  context: Context,
  description: Description,
  given: ReadonlyMap<OperationId, Target>,
): Promise<Binding> {
  const binding = bindContract(description, given);
  const ties = tiesOf(binding.matches);
  const prompt = ties.length > 0 ? await context.prompt() : undefined;
  if (!prompt) return binding;
  const targets = new Map(given);
  for (const { id, among } of ties) {
    const target = await prompt.select<Target | undefined>(`Which one is ${id}?`, [
      ...among.map((operation) => ({ name: show(operation), value: operation })),
      { name: '(leave it unbound)', value: undefined },
    ]);
    if (target) targets.set(id, target);
  }
  return bindContract(description, targets);
}

function tiesOf(matches: Matches): { readonly id: OperationId; readonly among: readonly Target[] }[] {
  return [...matches].flatMap(([id, match]) =>
    match.state === 'ambiguous' ? { id, among: match.among } : [],
  );
}

function refuseTies(matches: Matches): void {
  const ties = tiesOf(matches);
  const [first] = ties;
  if (!first) return;
  const count = ties.length === 1 ? 'a tie is' : `${ties.length} ties are`;
  const ids = ties.map(({ id }) => id).join(', ');
  const [target] = first.among.map(show);
  throw new CliError('partial', `api bind: ${count} left unbound: ${ids}; ${summary(matches)}`, {
    hint: `settle with --map ${first.id}='${target}', and so on`,
  });
}

/** `9 of 20 operations bound, 1 ambiguous, 10 missing`. */
function summary(matches: Matches): string {
  const count = (state: Match['state']) =>
    [...matches.values()].filter((match) => match.state === state).length;
  const others = (['ambiguous', 'unbindable', 'missing'] as const)
    .filter((state) => count(state) > 0)
    .map((state) => `, ${count(state)} ${state}`);
  return `${count('bound')} of ${matches.size} operations bound${others.join('')}`;
}

/**
 * Stores one of the description's servers as the base URL if none is set: the user chooses, `--yes` takes the first. An
 * existing base URL stays. Returns a note for the user.
 */
async function settleBaseUrl(
  context: Context,
  profile: string | undefined,
  offered: readonly string[],
): Promise<string | undefined> {
  const servers = offered.filter((url) => valueProblem('base-url', url) === undefined);
  const [first] = servers;
  const current = (await context.settings()).get('base-url');
  if (current !== undefined)
    return servers.length === 0 || servers.includes(current)
      ? undefined
      : `note: the description is that of ${servers.join(', ')}; commands go to ${current}`;
  if (first === undefined) return 'note: no base URL is set: petstore config set base-url <url>';
  const taken = context.flags.yes ? first : await chooseServer(context, first, servers);
  if (taken === undefined)
    return `note: no base URL is set; the description offers ${servers.join(', ')}: petstore config set base-url ${first}`;
  const stored = toStoredValue('base-url', taken, 'base-url', context.io.cwd);
  await editConfig(context.io, (config) => setValue(config, { profile, key: 'base-url' }, stored));
  return `the base URL of ${nameOfTarget(profile)} is ${stored}`;
}

/** The server that the user chooses; undefined if there is no terminal. */
async function chooseServer(
  context: Context,
  first: string,
  servers: readonly string[],
): Promise<string | undefined> {
  const prompt = await context.prompt();
  if (!prompt) return undefined;
  if (servers.length === 1)
    return (await prompt.confirm(`No base URL is set. Use ${first}?`)) ? first : undefined;
  return prompt.select('No base URL is set. Which one?', [
    ...servers.map((url) => ({ name: url, value: url })),
    { name: 'none of them', value: undefined },
  ]);
}

/**
 * Notes where the token will go: a service that expects it in another place than the config says would refuse every
 * request.
 */
async function noteCredential(context: Context, { credentialPlaces }: Binding['contract']): Promise<void> {
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
    return context.notice(
      `note: the service takes its credential in ${describePlace(first)}, and the config puts it in ${describePlace(place)}; to leave it to the description: ${lines.join(' and ')}`,
    );
  }
  const isUsual = isSamePlace(place, { in: 'header', name: 'authorization' }) && !place.scheme;
  if (credentialPlaces.includes(place) && !isUsual)
    await context.notice(`note: a token is sent in ${describePlace(place)}, as the description asks`);
}

/** What was found for one operation of the table, as it is printed. */
interface MatchRecord {
  readonly operation: OperationId;
  readonly state: Match['state'];
  /** Of the bound operation, or of the closest match. */
  readonly method: string | null;
  readonly path: string | null;
  readonly confidence: Confidence | null;
  readonly why: string;
}

const view: View<MatchRecord> = {
  noun: 'operations',
  columns: [
    { name: 'operation', value: ({ operation }) => operation },
    { name: 'state', value: ({ state }) => state },
    { name: 'method', value: ({ method }) => method },
    { name: 'path', value: ({ path }) => path },
    { name: 'confidence', value: ({ confidence }) => confidence, spare: true },
    { name: 'why', value: ({ why }) => why },
  ],
};

function toRecords(matches: Matches): MatchRecord[] {
  return [...matches].map(([operation, match]) => {
    const { state, why } = match;
    const { method = null, path = null } = 'operation' in match ? match.operation : {};
    return { operation, state, method, path, confidence: state === 'bound' ? match.confidence : null, why };
  });
}
