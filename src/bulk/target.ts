import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bareHost } from '../api/http.ts';
import { resolvePaths } from '../config/file.ts';
import { addressOf, type Context } from '../context.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import { ensureFolder, realFile, writeFileAtomic } from '../process/files.ts';
import type { Io } from '../process/io.ts';
import { holderOf, type LockHolder, takeLock, withLock } from '../process/lock.ts';
import { areDisjoint, type Run, type RunHeader, type Shard, type Target, targetName } from './run.ts';

/** The folder of the journals and locks of this user. It has a file for each run: `r7.jsonl`. */
export function runFolderOf(io: Io): string {
  return join(resolvePaths(io).stateDir, 'runs');
}

/** Finds the target of the command. @throws UsageError `no_target` if nothing says which service to call. */
export async function findTarget(context: Context): Promise<Target> {
  const { settings, io } = context;
  if (!settings.offline)
    return {
      address: plainAddress(addressOf(settings, await context.contract())),
      unboundAddress: plainAddress(settings.baseUrl ?? ''),
      tenant: settings.get('tenant') ?? null,
    };
  const address = `offline:${await nameOfStore(resolvePaths(io).offlineStore)}`;
  return { address, unboundAddress: address, tenant: null };
}

async function nameOfStore(path: string): Promise<string> {
  if (path === ':memory:') return path;
  const { readStoreId } = await import('../server/store-file.ts');
  return readStoreId(path) ?? realFile(path);
}

/** Returns a base URL as all of its spellings give it. */
function plainAddress(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  // `URL` has already lower-cased the host and dropped a default port.
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  // Behind a proxy, other addresses of this machine and names below localhost may each be a different service.
  const isHere = /^(localhost|127\.0\.0\.1|0\.0\.0\.0|::1?|::ffff:(0:0|7f00:1))$/.test(bareHost(hostname));
  const host = isHere ? 'localhost' : hostname.replace(/\.$/, '');
  const path = plainPath(pathname)
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '');
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}${path}`;
}

/** Decodes the unreserved characters of a path. @see RFC 3986, 6.2.2.2 */
function plainPath(path: string): string {
  return path.replace(/%([\da-f]{2})/gi, (encoded, digits) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
}

/** The file beside the lock of a target. It describes the run of the process that holds the lock. */
interface Holder {
  /** The name of the target. */
  readonly target: string;
  readonly shard: Shard | null;
  /** The input as the user named it. */
  readonly name: string;
  /** The id of the run, once it has begun. */
  readonly run?: string | undefined;
}

/** The lock of this process on a target. It is released at the end of its scope. */
export interface TargetLock extends AsyncDisposable {
  /** Shows other processes which run holds the lock. A run without an id has not begun. */
  nameRun(run: Pick<Run, 'id' | 'header'>): void;
}

/**
 * Locks the target of a run, so that no other run writes to it. Only runs of disjoint shards can hold the same target.
 *
 * @throws CliError `unavailable`, retryable, if another run holds the target and does not end in time.
 */
export async function lockTarget(
  { io, interrupts, notice }: Context,
  { target: lockedTarget, name, flags: { shard } }: Pick<RunHeader, 'target' | 'name' | 'flags'>,
  { lockWaitMs = 0 }: { readonly lockWaitMs?: number | undefined },
): Promise<TargetLock> {
  const folder = runFolderOf(io);
  const target = targetName(lockedTarget);
  ensureFolder(folder, 'PETSTORE_STATE_DIR names another folder for the journals of runs');
  const gate = join(folder, `target-${createHash('sha256').update(target).digest('hex').slice(0, 12)}`);
  const path = `${gate}.${shard ? `${shard.index}-of-${shard.count}` : 'whole'}`;
  const writeHolder = (holder: Pick<Holder, 'name' | 'run'>) =>
    // Not synced: after a power cut nobody holds the lock.
    writeFileAtomic(`${path}.json`, JSON.stringify({ target, shard, ...holder } satisfies Holder), {
      isSynced: false,
    });
  // The lock of the gate lets one process at a time look for holders and take its lock.
  const lockOrFindHolder = () =>
    withLock(gate, async () => {
      const holders = await findHolders(folder);
      const holder = holders.find((each) => each.target === target && !areDisjoint(shard, each.shard));
      if (holder) return holder;
      const unlock = await takeLock(path);
      writeHolder({ name });
      return unlock;
    });
  const endsAt = monotonicMs() + lockWaitMs;
  for (let isTold = false; ; isTold = true) {
    const result = await lockOrFindHolder();
    if (typeof result === 'function') {
      let namedRun: string | undefined;
      return {
        nameRun({ id, header }) {
          if (id !== namedRun) writeHolder({ name: header.name, run: id });
          namedRun = id;
        },
        async [Symbol.asyncDispose]() {
          await rm(`${path}.json`, { force: true }).catch(() => {});
          result();
        },
      };
    }
    const remainingMs = endsAt - monotonicMs();
    if (remainingMs <= 0)
      throw new CliError('unavailable', `another run is using this service: ${describeHolder(result)}`, {
        code: 'locked',
        hint: `give --lock-wait 10m, or ${result.remedy}`,
        retryable: true,
      });
    if (!isTold) await notice('status', `waiting for ${describeHolder(result)}`);
    await sleep(Math.min(200, remainingMs), interrupts.signal);
  }
}

type LiveHolder = Holder & LockHolder;

/** Finds the holders of locks whose processes still run. */
export async function findHolders(folder: string): Promise<LiveHolder[]> {
  const names = await readdir(folder).catch(() => []);
  const paths = names.filter((name) => /^target-.*\.json$/.test(name)).map((name) => join(folder, name));
  return paths.flatMap((path) => {
    const lockHolder = holderOf(path.slice(0, -'.json'.length));
    const holder = lockHolder && readHolder(path);
    return lockHolder && holder ? [{ ...holder, ...lockHolder }] : [];
  });
}

/** Reads the file beside a lock. It is gone if its process has ended meanwhile. */
function readHolder(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

/** Describes a holder: `stock.csv, run r7, process 4711`. */
function describeHolder({ process, name, run }: LiveHolder): string {
  return [name, ...(run === undefined ? [] : [`run ${run}`]), `process ${process}`].join(', ');
}
