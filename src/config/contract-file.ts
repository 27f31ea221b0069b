import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Contract, MissingReason } from '../api/contract.ts';
import type { Operation, OperationId } from '../api/operations.ts';
import { InputError } from '../process/errors.ts';
import { parseJson, printJson } from '../process/exact-json.ts';
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

/** A profile, whose key `contract` names the file of its contract, or an origin. */
export interface BindingScope {
  /** Undefined for an origin. */
  readonly profile: string | undefined;
  /** The words for it: `profile staging`, or the origin. */
  readonly name: string;
  /** The flags that name it in a command line. */
  readonly flags: string;
  /** The path of its contract, relative to the config file. */
  readonly path: string;
}

export function profileScope(profile: string): BindingScope {
  const path = join('contracts', `${encodeURIComponent(profile)}.json`);
  return { profile, name: `profile ${profile}`, flags: `--profile ${shellWord(profile)}`, path };
}

export function originScope(origin: string): BindingScope {
  const path = join('contracts', 'origins', `${encodeURIComponent(origin)}.json`);
  return { profile: undefined, name: origin, flags: `--base-url ${origin}`, path };
}

const version = 8;

/**
 * The variable that `serve` sets for its command, whose service has the built-in contract whatever is bound.
 */
export const builtInVariable = 'PETSTORE_BUILT_IN_CONTRACT';

/**
 * The contract for calls to an origin: the one that the settings name if it was bound to this origin, else
 * that of the origin; undefined if neither is bound.
 *
 * @throws UsageError if a file is missing that the settings name, cannot be read or does not hold a contract.
 *   A file of an earlier version of the program is an error too: without it a write could go to another path
 *   than the user expects.
 */
export function readBoundContract(
  io: Io,
  origin: string,
  { explain, profile }: Pick<Settings, 'explain' | 'profile'>,
): Contract | undefined {
  if (io.env[builtInVariable]) return undefined;
  const scope = profile ? profileScope(profile.value) : originScope(origin);
  const { value: path, givenBy } = explain('contract');
  if (path !== undefined) {
    const bound = readContractFile(path, scope);
    if (bound === undefined) throw unusable(path, `there is no such file, and ${givenBy} names it`, scope);
    if (bound.origin === origin) return bound.contract;
  } else if (profile && existsSync(contractPath(io, scope)))
    throw unusable(contractPath(io, scope), 'an earlier version of this program wrote it', scope);
  const formerFile = join(dirname(resolvePaths(io).configFile), 'contract.json');
  if (existsSync(formerFile))
    throw new InputError(
      `contract ${formerFile}: an earlier version of this program wrote it, for every address`,
      `bind again with \`petstore api bind <file or URL> ${scope.flags}\` if this service needs it, and remove the file`,
    );
  const ofOrigin = originScope(origin);
  return readContractFile(contractPath(io, ofOrigin), ofOrigin)?.contract;
}

function contractPath(io: Io, { path }: BindingScope): string {
  return join(dirname(resolvePaths(io).configFile), path);
}

/**
 * Undefined if there is no such file.
 *
 * @throws UsageError if it cannot be read or does not hold a contract.
 */
function readContractFile(path: string, scope: BindingScope): BoundContract | undefined {
  try {
    return fromStored(parseJson(readTrusted(path)) as object as StoredContract);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw unusable(path, systemReason(error), scope);
  }
}

function unusable(path: string, why: string, { flags }: BindingScope): InputError {
  return new InputError(
    `contract ${path}: ${why}`,
    `bind again with \`petstore api bind <file or URL> ${flags}\`, or go back to the built-in contract with \`petstore api unbind ${flags}\``,
  );
}

/** Replaces the stored contract, completely or not at all, and names it in its profile. */
export async function writeContract(io: Io, scope: BindingScope, bound: BoundContract): Promise<void> {
  const path = contractPath(io, scope);
  const { ensurePrivateFolder, writeFileAtomic } = await import('../process/files.ts');
  await ensurePrivateFolder(dirname(path));
  await writeFileAtomic(path, `${printJson(toStored(bound))}\n`);
  const { profile } = scope;
  if (profile === undefined) return;
  const { editConfig, setValue } = await import('./edit.ts');
  await editConfig(io, (config) => setValue(config, { profile, key: 'contract' }, scope.path));
}

/** Removes a contract and its name in the profile. Returns whether there was one. */
export async function removeContract(io: Io, scope: BindingScope): Promise<boolean> {
  const path = contractPath(io, scope);
  const { unlink } = await import('node:fs/promises');
  let wasNamed = false;
  const { profile } = scope;
  if (profile !== undefined) {
    const { editConfig, unsetValue } = await import('./edit.ts');
    wasNamed = await editConfig(io, (config) => unsetValue(config, { profile, key: 'contract' }));
  }
  return await unlink(path).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return wasNamed;
      throw fileError('remove', path, error);
    },
  );
}

/** A contract as it is stored: the maps as JSON can hold them. */
interface StoredContract extends Omit<BoundContract, 'contract'>, Omit<Contract, 'operations' | 'missing'> {
  readonly version: number;
  readonly operations: readonly Operation[];
  readonly missing: readonly (readonly [OperationId, MissingReason])[];
}

function toStored({ contract, ...binding }: BoundContract): StoredContract {
  const operations = [...contract.operations.values()];
  return { version, ...binding, ...contract, operations, missing: [...contract.missing] };
}

function fromStored(stored: StoredContract): BoundContract {
  if (stored?.version !== version) throw new Error('another version of this program wrote it');
  const { origin, source, boundAt, operations, missing, ...contract } = stored;
  return {
    origin,
    source,
    boundAt,
    contract: {
      ...contract,
      operations: new Map(operations.map((operation) => [operation.id, operation])),
      missing: new Map(missing),
    },
  };
}
