import type { OperationId } from '../../api/operations.ts';
import { type Binding, bindContract, type Target } from '../../binding/bind.ts';
import { type Description, readDescription } from '../../binding/description.ts';
import { serversOf } from '../../binding/document.ts';
import type { Confidence, Match, Matches } from '../../binding/match.ts';
import {
  type BoundContract,
  contractPath,
  removeContract,
  writeContract,
} from '../../config/contract-file.ts';
import { resolvePaths } from '../../config/paths.ts';
import { credentialPlace, describePlace, isSamePlace } from '../../config/token.ts';
import type { Context } from '../../context.ts';
import { CliError, UsageError } from '../../errors.ts';
import type { Prompt } from '../../input/prompt.ts';
import type { View } from '../../output/columns.ts';
import { boundProfile, nameOfTarget, settleBaseUrl } from './bound-profile.ts';
import { findOperation } from './operations.ts';
import { openSource } from './source.ts';

const usualPlace = { in: 'header', name: 'authorization' } as const;

/** Binds the active profile to a description. Stores nothing until all of it has been read and understood. */
export async function bindDescription(
  context: Context,
  location: string | undefined,
  map: readonly string[],
  withToken: boolean,
): Promise<void> {
  const profile = await boundProfile(context, 'api bind');
  const targets = readTargets(map);
  await (await context.printer()).check(bindingView);
  const description = await read(context, location, withToken);
  if (description.convertedFrom !== undefined)
    await context.notice(`the description is Swagger ${description.convertedFrom}: converted to OpenAPI 3.0`);
  const binding = await bindAndAsk(context, description, targets);
  const isStored = binding.contract.operations.size > 0 && !context.flags.dryRun;
  if (isStored) await store(context, profile, { contract: binding.contract, source: description.url });
  await (await context.printer()).records([toRows(binding.matches)], bindingView);
  refuseNone(binding, location === '-' ? 'stdin' : description.url);
  const baseUrl = isStored ? await settleBaseUrl(context, profile, serversOf(description)) : undefined;
  refuseTies(binding);
  const outcome = isStored ? `stored with ${nameOfTarget(profile)}` : 'nothing stored (--dry-run)';
  await context.notice(`${summary(binding)}; ${outcome}`);
  if (baseUrl !== undefined) await context.notice(baseUrl);
  await noteCredential(context, binding);
}

async function store(
  { io, now }: Context,
  profile: string | undefined,
  bound: Omit<BoundContract, 'boundAt'>,
): Promise<void> {
  const path = contractPath(resolvePaths(io).configFile, profile);
  await writeContract(path, { ...bound, boundAt: now().toISOString() });
}

/**
 * Notes where the token will go: a service that expects it in another place than the config says would refuse every
 * request.
 */
async function noteCredential(context: Context, { contract }: Binding): Promise<void> {
  const place = credentialPlace(await context.settings(), contract.credentialPlaces);
  const [first] = contract.credentialPlaces;
  if (first === undefined) return;
  if (!contract.credentialPlaces.some((each) => isSamePlace(each, place)))
    return context.notice(
      `note: the service takes its credential in ${describePlace(first)}, and the config puts it in ${describePlace(place)}: \`petstore config unset auth-header\` and auth-scheme leave it to the description`,
    );
  if (place === first && !isSamePlace(place, usualPlace))
    await context.notice(`note: a token is sent in ${describePlace(place)}, as the description asks`);
}

async function read(
  context: Context,
  location: string | undefined,
  withToken: boolean,
): Promise<Description> {
  const source = await openSource(context, location, withToken);
  try {
    return await readDescription(source);
  } finally {
    await source.close();
  }
}

function refuseNone({ contract }: Binding, shown: string): void {
  if (contract.operations.size > 0) return;
  throw new UsageError(
    `api bind ${shown}: it has none of the operations that this program knows; what was bound before stays`,
    "name them with --map, as in --map listPets='GET /animals'",
  );
}

function refuseTies(binding: Binding): void {
  const ties = withState(binding, 'ambiguous');
  const [first] = ties;
  if (first === undefined) return;
  const match = binding.matches.get(first);
  const [target] = match?.state === 'ambiguous' ? match.among : [];
  throw new CliError(
    'partial',
    `api bind: ${ties.length === 1 ? 'a tie is' : `${ties.length} ties are`} left unbound: ${ties.join(', ')}; ${summary(binding)}`,
    {
      hint: `settle with --map ${first}='${target?.method} ${target?.path}', and so on`,
    },
  );
}

function summary(binding: Binding): string {
  const others = (['ambiguous', 'unbindable', 'missing'] as const)
    .map((state) => [withState(binding, state).length, state] as const)
    .filter(([count]) => count > 0);
  const bound = `${binding.contract.operations.size} of ${binding.matches.size} operations bound`;
  return [bound, ...others.map(([count, state]) => `${count} ${state}`)].join(', ');
}

function withState({ matches }: Binding, state: Match['state']): OperationId[] {
  return [...matches].flatMap(([id, match]) => (match.state === state ? [id] : []));
}

/** Removes the bound contract of the active profile. */
export async function unbindProfile(context: Context): Promise<void> {
  const profile = await boundProfile(context, 'api unbind');
  const removed = await removeContract(contractPath(resolvePaths(context.io).configFile, profile));
  const target = nameOfTarget(profile);
  await context.notice(removed ? `${target} has the built-in contract again` : `${target} was not bound`);
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
  const ties = tiesOf(binding);
  const prompt = ties.length > 0 ? await context.prompt() : undefined;
  if (!prompt) return binding;
  const targets = new Map(given);
  for (const [id, among] of ties) {
    const target = await ask(prompt, id, among);
    if (target) targets.set(id, target);
  }
  return bindContract(description, targets);
}

function tiesOf({ matches }: Binding): [OperationId, readonly Target[]][] {
  return [...matches].flatMap(([id, match]) => (match.state === 'ambiguous' ? [[id, match.among]] : []));
}

function ask(prompt: Prompt, id: OperationId, among: readonly Target[]): Promise<Target | undefined> {
  return prompt.select<Target | undefined>(`Which one is ${id}?`, [
    ...among.map((target) => ({ name: `${target.method} ${target.path}`, value: target })),
    { name: '(leave it unbound)', value: undefined },
  ]);
}

/** The result for one operation of the table. */
interface BindingRow {
  readonly operation: OperationId;
  readonly state: Match['state'];
  /** Of the bound operation, or of the closest match. */
  readonly method: string | null;
  readonly path: string | null;
  readonly confidence: Confidence | null;
  readonly why: string;
}

const bindingView: View<BindingRow> = {
  noun: 'operations',
  columns: [
    { name: 'operation', value: (row) => row.operation },
    { name: 'state', value: (row) => row.state },
    { name: 'method', value: (row) => row.method },
    { name: 'path', value: (row) => row.path },
    { name: 'confidence', value: (row) => row.confidence, spare: true },
    { name: 'why', value: (row) => row.why },
  ],
};

function toRows(matches: Matches): BindingRow[] {
  return [...matches].map(([operation, match]) => {
    const { state, why } = match;
    const { method = null, path = null } = 'operation' in match ? match.operation : {};
    return { operation, state, method, path, confidence: state === 'bound' ? match.confidence : null, why };
  });
}
