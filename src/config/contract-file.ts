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

/** What a contract is stored for: the profile that it was bound with, or without one its origin. */
export type BindingKey = { readonly profile: string } | { readonly origin: string };

const version = 5;

/** The variable that `serve` sets for its command, whose service has the built-in contract whatever is bound. */
export const builtInVariable = 'PETSTORE_BUILT_IN_CONTRACT';

/**
 * The contract for calls to an origin: that of the profile if it was bound to this origin, else that of the origin;
 * undefined if neither is bound.
 *
 * @throws UsageError if a file cannot be read or does not hold a contract.
 */
export function readBoundContract(io: Io, origin: string, profile: string | undefined): Contract | undefined {
  if (io.env[builtInVariable]) return undefined;
  const own = profile === undefined ? undefined : readContract(io, { profile });
  if (own?.origin === origin) return own.contract;
  checkNoEarlier(io, origin);
  return readContract(io, { origin })?.contract;
}

/**
 * A binding without a profile of version 1 of the program applied to every address. Without it a write would go to
 * another path than the user expects, so it is not passed over.
 *
 * @throws UsageError if there is one.
 */
function checkNoEarlier(io: Io, origin: string): void {
  const path = join(dirname(resolvePaths(io).configFile), 'contract.json');
  if (readText(path) === undefined) return;
  throw new InputError(
    `contract ${path}: an earlier version of this program wrote it`,
    `bind again with \`petstore api bind <file or URL> --base-url ${origin}\` if this service needs it, and remove the file`,
  );
}

/** The path of a contract, next to the config file. */
function contractPath(io: Io, key: BindingKey): string {
  const folder = dirname(resolvePaths(io).configFile);
  if ('profile' in key) return join(folder, 'contracts', `${encodeURIComponent(key.profile)}.json`);
  return join(folder, 'contracts', 'origins', `${encodeURIComponent(key.origin)}.json`);
}

/** @throws UsageError if the file cannot be read or does not hold a contract. */
function readContract(io: Io, key: BindingKey): BoundContract | undefined {
  const path = contractPath(io, key);
  try {
    const text = readText(path);
    return text === undefined ? undefined : fromStored(parseJson(text) as object as Stored);
  } catch (error) {
    const words = 'profile' in key ? ` --profile ${shellWord(key.profile)}` : ` --base-url ${key.origin}`;
    throw new InputError(
      `contract ${path}: ${systemReason(error)}`,
      `bind again with \`petstore api bind <file or URL>${words}\`, or go back to the built-in contract with \`petstore api unbind${words}\``,
    );
  }
}

function readText(path: string): string | undefined {
  try {
    return readTrusted(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Replaces the stored contract, completely or not at all. */
export async function writeContract(io: Io, key: BindingKey, bound: BoundContract): Promise<void> {
  const path = contractPath(io, key);
  const { ensurePrivateFolder, writeFileAtomic } = await import('../process/files.ts');
  await ensurePrivateFolder(dirname(path));
  await writeFileAtomic(path, `${printJson(toStored(bound))}\n`);
}

/** Returns whether one was stored. */
export async function removeContract(io: Io, key: BindingKey): Promise<boolean> {
  const path = contractPath(io, key);
  const { unlink } = await import('node:fs/promises');
  return await unlink(path).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw fileError('remove', path, error);
    },
  );
}

/** A contract as it is stored. All schemas of answers share one set of `$defs`, which is stored once. */
interface Stored extends Omit<BoundContract, 'contract'>, Omit<Contract, 'operations' | 'missing'> {
  readonly version: number;
  readonly missing: Readonly<Record<string, string>>;
  readonly operations: readonly Operation[];
  readonly definitions: JsonValue;
}

function toStored({ contract, ...binding }: BoundContract): Stored {
  let definitions: JsonValue = {};
  const operations = [...contract.operations.values()].map((each) =>
    withSchemas(each, ({ $defs = {}, ...schema }) => {
      definitions = $defs;
      return schema;
    }),
  );
  const missing = Object.fromEntries(contract.missing);
  return { version, ...binding, ...contract, missing, operations, definitions };
}

function fromStored(stored: Stored): BoundContract {
  if (stored?.version !== version) throw new Error('another version of this program wrote it');
  const { definitions, operations, missing, credentialPlaces, basePath, ...binding } = stored;
  const bound = operations.map((each) => withSchemas(each, (schema) => ({ ...schema, $defs: definitions })));
  const reasons = operationIds.flatMap((id) =>
    missing[id] === undefined ? [] : ([[id, missing[id]]] as const),
  );
  return {
    contract: {
      operations: new Map(bound.map((each) => [each.id, each])),
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
