import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Contract } from '../api/contract.ts';
import { type Operation, operationIds } from '../api/operations.ts';
import { InputError } from '../process/errors.ts';
import { type JsonObject, type JsonValue, parseJson, printJson } from '../process/exact-json.ts';
import type { Io } from '../process/io.ts';
import { fileError, isMissing, systemReason } from '../process/system-error.ts';
import { shellWord } from '../process/text.ts';
import { readTrusted } from './file.ts';
import { resolvePaths } from './paths.ts';
import type { Settings } from './settings.ts';

/** A contract read from a service's own description. */
interface BoundContract {
  readonly contract: Contract;
  /** The origin that it is for; it applies to no other. */
  readonly origin: string;
  /** The source of the description: a URL or a path. */
  readonly source: string;
  /** RFC 3339. */
  readonly boundAt: string;
}

/**
 * What a contract is stored for: the profile that it was bound with, whose key `contract` names its file, or without one
 * its origin.
 */
export type BindingKey = { readonly profile: string } | { readonly origin: string };

const version = 6;

/** The variable that `serve` sets for its command, whose service has the built-in contract whatever is bound. */
export const builtInVariable = 'PETSTORE_BUILT_IN_CONTRACT';

/**
 * The contract for calls to an origin: the one that the settings name if it was bound to this origin, else that of the
 * origin; undefined if neither is bound.
 *
 * @throws UsageError if a file is missing that the settings name, cannot be read or does not hold a contract.
 */
export function readBoundContract(
  io: Io,
  origin: string,
  { explain, profile }: Pick<Settings, 'explain' | 'profile'>,
): Contract | undefined {
  if (io.env[builtInVariable]) return undefined;
  const repair = bindingFlags(profile ? { profile: profile.value } : { origin });
  const { value: path, givenBy } = explain('contract');
  if (path !== undefined) {
    const named = readContract(path, repair);
    if (named === undefined) throw unusable(path, `there is no such file, and ${givenBy} names it`, repair);
    if (named.origin === origin) return named.contract;
  } else if (profile) checkNotBoundBefore(contractPath(io, { profile: profile.value }), repair);
  const formerFile = join(dirname(resolvePaths(io).configFile), 'contract.json');
  if (existsSync(formerFile))
    throw new InputError(
      `contract ${formerFile}: an earlier version of this program wrote it, for every address`,
      `bind again with \`petstore api bind <file or URL>${repair}\` if this service needs it, and remove the file`,
    );
  const key = { origin };
  return readContract(contractPath(io, key), bindingFlags(key))?.contract;
}

/**
 * An earlier version of the program had a contract for each profile, which the profile did not name. Without it a write
 * would go to another path than the user expects, so it is not passed over.
 *
 * @throws UsageError if there is one.
 */
function checkNotBoundBefore(path: string, repair: string): void {
  if (existsSync(path)) throw unusable(path, 'an earlier version of this program wrote it', repair);
}

/** The path of a contract, next to the config file. */
function contractPath(io: Io, key: BindingKey): string {
  return join(dirname(resolvePaths(io).configFile), relativePath(key));
}

function relativePath(key: BindingKey): string {
  if ('profile' in key) return join('contracts', `${encodeURIComponent(key.profile)}.json`);
  return join('contracts', 'origins', `${encodeURIComponent(key.origin)}.json`);
}

/** The flags that name a binding in a command line. */
function bindingFlags(key: BindingKey): string {
  return 'profile' in key ? ` --profile ${shellWord(key.profile)}` : ` --base-url ${key.origin}`;
}

/** @throws UsageError if the file cannot be read or does not hold a contract. */
function readContract(path: string, repair: string): BoundContract | undefined {
  try {
    const text = readIfPresent(path);
    return text === undefined ? undefined : fromStored(parseJson(text) as object as StoredContract);
  } catch (error) {
    throw unusable(path, systemReason(error), repair);
  }
}

function unusable(path: string, why: string, repair: string): InputError {
  return new InputError(
    `contract ${path}: ${why}`,
    `bind again with \`petstore api bind <file or URL>${repair}\`, or go back to the built-in contract with \`petstore api unbind${repair}\``,
  );
}

function readIfPresent(path: string): string | undefined {
  try {
    return readTrusted(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Replaces the stored contract, completely or not at all, and names it in its profile. */
export async function writeContract(io: Io, key: BindingKey, bound: BoundContract): Promise<void> {
  const path = contractPath(io, key);
  const { ensurePrivateFolder, writeFileAtomic } = await import('../process/files.ts');
  await ensurePrivateFolder(dirname(path));
  await writeFileAtomic(path, `${printJson(toStored(bound))}\n`);
  if (!('profile' in key)) return;
  const { editConfig, setValue } = await import('./edit.ts');
  await editConfig(io, (config) => setValue(config, { ...key, key: 'contract' }, relativePath(key)));
}

/** Removes a contract and its name in the profile. Returns whether there was one. */
export async function removeContract(io: Io, key: BindingKey): Promise<boolean> {
  const path = contractPath(io, key);
  const { unlink } = await import('node:fs/promises');
  let wasNamed = false;
  if ('profile' in key) {
    const { editConfig, unsetValue } = await import('./edit.ts');
    wasNamed = await editConfig(io, (config) => unsetValue(config, { ...key, key: 'contract' }));
  }
  return await unlink(path).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return wasNamed;
      throw fileError('remove', path, error);
    },
  );
}

/** A contract as it is stored. All schemas of answers share one set of `$defs`, which is stored once. */
interface StoredContract extends Omit<BoundContract, 'contract'>, Omit<Contract, 'operations' | 'missing'> {
  readonly version: number;
  readonly missing: Readonly<Record<string, string>>;
  readonly operations: readonly Operation[];
  readonly definitions: JsonValue;
}

function toStored({ contract, ...binding }: BoundContract): StoredContract {
  let definitions: JsonValue = {};
  const operations = [...contract.operations.values()].map((operation) =>
    withSchemas(operation, ({ $defs = {}, ...schema }) => {
      definitions = $defs;
      return schema;
    }),
  );
  const missing = Object.fromEntries(contract.missing);
  return { version, ...binding, ...contract, missing, operations, definitions };
}

function fromStored(stored: StoredContract): BoundContract {
  if (stored?.version !== version) throw new Error('another version of this program wrote it');
  const { definitions, operations, missing, credentialPlaces, basePath, ...binding } = stored;
  const complete = operations.map((operation) =>
    withSchemas(operation, (schema) => ({ ...schema, $defs: definitions })),
  );
  const reasons = operationIds.flatMap((id) =>
    missing[id] === undefined ? [] : ([[id, missing[id]]] as const),
  );
  return {
    contract: {
      operations: new Map(complete.map((operation) => [operation.id, operation])),
      missing: new Map(reasons),
      credentialPlaces,
      basePath,
    },
    ...binding,
  };
}

function withSchemas(operation: Operation, change: (schema: JsonObject) => JsonObject): Operation {
  const answers = Object.entries(operation.answers ?? {}).map(([status, { schema, ...answer }]) => [
    status,
    { ...answer, schema: schema && change(schema) },
  ]);
  return { ...operation, answers: Object.fromEntries(answers) };
}
