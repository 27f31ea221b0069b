import { existsSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Contract } from '../api/contract.ts';
import type { OperationId } from '../api/nouns.ts';
import type { Operation } from '../api/operations.ts';
import { fileError, InputError, systemReason } from '../process/errors.ts';
import { parseJson, printJson } from '../process/exact-json.ts';
import type { Io } from '../process/io.ts';
import { shellWord } from '../process/text.ts';
import { ownServerVariable, readTrusted, resolvePaths } from './file.ts';
import type { Settings } from './settings.ts';

/** The profile or the origin to which a binding applies. */
type BindingScope = ReturnType<typeof bindingScope>;

/**
 * Returns the scope of a profile, or of an origin if there is no profile.
 *
 * @returns its name in messages, the flags that select it in a command line, and the path of its contract, relative to the config
 *   file. The setting `contract` of a profile is that path.
 */
export function bindingScope(profile: string | undefined, origin: string) {
  const file = `${encodeURIComponent(profile ?? origin)}.json`;
  return profile === undefined
    ? { profile, name: origin, flags: `--base-url ${origin}`, path: join('contracts', 'origins', file) }
    : {
        profile,
        name: `profile ${profile}`,
        flags: `--profile ${shellWord(profile)}`,
        path: join('contracts', file),
      };
}

const contractVersion = 14;

/**
 * Reads the contract for calls to an origin: the contract that the settings name, if it was bound to this origin, else the contract
 * of the origin.
 *
 * @throws InputError if a file is missing, cannot be read, is not a contract, or is of another version of the program. Otherwise a
 *   write could go to another path than the user expects.
 */
export function readBoundContract(
  io: Io,
  origin: string,
  { explain, profile }: Pick<Settings, 'explain' | 'profile'>,
): Contract | undefined {
  if (io.env[ownServerVariable]) return undefined;
  const scope = bindingScope(profile?.value, origin);
  const { value: path, givenBy, source } = explain('contract');
  if (path !== undefined) {
    const named = { ...scope, variable: source === 'environment' ? givenBy : undefined };
    const bound = readContractFile(path, named);
    if (bound === undefined) throw unusable(path, `there is no such file, and ${givenBy} names it`, named);
    if (bound.origin === origin) return bound;
  }
  const ofOrigin = bindingScope(undefined, origin);
  return readContractFile(contractPath(io, ofOrigin), ofOrigin);
}

function contractPath(io: Io, { path }: BindingScope): string {
  return join(dirname(resolvePaths(io).configFile), path);
}

/** Reads a contract, if the file exists. @throws InputError if it cannot be read or is not a contract. */
function readContractFile(path: string, scope: HintScope): Contract | undefined {
  try {
    // Most users have none, and an error takes time to make.
    if (!statSync(path, { throwIfNoEntry: false })) return undefined;
    const stored = parseJson(readTrusted(path)) as object as StoredContract;
    if (typeof stored?.version !== 'number')
      throw new Error(
        `it is not a binding; if it is a description, \`petstore api bind ${shellWord(path)}\` makes one`,
      );
    if (stored.version !== contractVersion) throw new Error('another version of this program wrote it');
    const operations = new Map(stored.operations.map((operation) => [operation.id, operation]));
    return { ...stored, operations, missing: new Map(stored.missing) };
  } catch (error) {
    throw unusable(path, systemReason(error), scope);
  }
}

/** What a hint names: the flags of a binding, or the variable that names its file and comes before what `api bind` stores. */
type HintScope = Pick<BindingScope, 'flags'> & { readonly variable?: string | undefined };

function unusable(path: string, why: string, { flags, variable }: HintScope): InputError {
  return new InputError(
    `contract ${path}: ${why}`,
    variable
      ? `unset ${variable}, or let it name a binding of this version of petstore: see \`petstore help ci\``
      : `bind again with \`petstore api bind <file or URL> ${flags}\`, or use the built-in contract with \`petstore api unbind ${flags}\``,
  );
}

/** Replaces the stored contract atomically, and names it in its profile. */
export async function writeContract(io: Io, scope: BindingScope, contract: Contract): Promise<void> {
  const path = contractPath(io, scope);
  const { ensureFolder, writeFileAtomic } = await import('../process/files.ts');
  ensureFolder(dirname(path));
  const operations = [...contract.operations.values()];
  const stored: StoredContract = {
    version: contractVersion,
    ...contract,
    operations,
    missing: [...contract.missing],
  };
  writeFileAtomic(path, `${printJson(stored)}\n`);
  const { profile } = scope;
  if (profile === undefined) return;
  const { editConfig, sectionOf } = await import('./edit.ts');
  await editConfig(io, (config) => {
    sectionOf(config, profile).contract = scope.path;
  });
}

/** Removes a contract and its name in the profile. Returns true if there was either. */
export async function removeContract(io: Io, scope: BindingScope): Promise<boolean> {
  const path = contractPath(io, scope);
  const { profile } = scope;
  let isNamed = false;
  if (profile !== undefined) {
    const { editConfig, unsetValue } = await import('./edit.ts');
    isNamed = await editConfig(io, (config) => unsetValue(config, profile, 'contract'));
  }
  const isStored = existsSync(path);
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw fileError('remove', path, error);
  }
  return isNamed || isStored;
}

/** A contract as JSON. Maps are arrays. */
interface StoredContract extends Omit<Contract, 'operations' | 'missing'> {
  readonly version: number;
  readonly operations: readonly Operation[];
  readonly missing: readonly (readonly [OperationId, string])[];
}
