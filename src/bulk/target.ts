import { createHash, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { bareHost } from '../api/http.ts';
import { resolvePaths, rethrowAsUnsent } from '../config/file.ts';
import { addressOf, type Context } from '../context.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import { ensureFolder, realFile } from '../process/files.ts';
import type { Io } from '../process/io.ts';
import { holderOf, takeLock, withLock } from '../process/lock.ts';
import { areDisjointShards, type RunHeader, type Target, targetName } from './run.ts';

/** The folder of the journals and locks of this user. It has a file for each run: `r7.jsonl`. */
export function runFolderOf(io: Io): string {
  return join(resolvePaths(io).stateDir, 'runs');
}

/** Returns the target of the command. @throws UsageError `no_target` if nothing says which service to call. */
export async function requireTarget(context: Context): Promise<Target> {
  const { settings, io } = context;
  if (!settings.offline)
    return {
      address: plainAddress(addressOf(settings, await context.contract())),
      unboundAddress: plainAddress(settings.baseUrl ?? ''),
      tenant: settings.get('tenant'),
    };
  const address = `offline:${await nameOfStore(resolvePaths(io).offlineStore)}`;
  return { address, unboundAddress: address };
}

async function nameOfStore(path: string): Promise<string> {
  // Each command has a new store.
  if (path === ':memory:') return path + randomUUID();
  const { readStoreId } = await import('../server/store-file.ts');
  return readStoreId(path) ?? realFile(path);
}

/** Returns the plain spelling of a base URL. All of its spellings give the same. */
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

/** The locks of a target: one for each shard, or one for all rows. */
const lockNamePattern = /^(target-[\da-f]+)\.(?:whole|(\d+)-of-(\d+))\.lock$/;

/**
 * Locks the target of a run, so that no other run writes to it. Only runs of disjoint shards can hold the same target.
 *
 * @returns the function that releases the lock, as the end of its scope.
 * @throws CliError `unavailable`, retryable, if another run holds the target and does not end in time.
 */
export async function lockTarget(
  { io, stop, notice }: Context,
  { target, name, flags: { shard } }: Pick<RunHeader, 'target' | 'name' | 'flags'>,
  { lockWaitMs = 0 }: { readonly lockWaitMs?: number | undefined },
): Promise<Disposable> {
  const folder = runFolderOf(io);
  ensureFolder(folder, 'PETSTORE_STATE_DIR names another folder for the journals of runs');
  const hash = createHash('sha256').update(targetName(target)).digest('hex');
  const gate = `target-${hash.slice(0, 12)}`;
  const path = join(folder, `${gate}.${shard ? `${shard.index}-of-${shard.count}` : 'whole'}`);
  // The lock of the gate lets one process at a time look for holders and take its lock.
  const lockOrFindHolder = () =>
    withLock(join(folder, gate), async () => {
      for (const file of await readdir(folder)) {
        const [, target, index, count] = lockNamePattern.exec(file) ?? [];
        const other = index === undefined ? undefined : { index: Number(index), count: Number(count) };
        if (target !== gate || areDisjointShards(shard, other)) continue;
        const holder = holderOf(join(folder, file.slice(0, -'.lock'.length)));
        if (holder) return holder;
      }
      return await takeLock(path, { work: name });
    });
  const endsAtMs = monotonicMs() + lockWaitMs;
  for (let isTold = false; ; isTold = true) {
    const result = await lockOrFindHolder().catch(rethrowAsUnsent);
    if (typeof result === 'function') return { [Symbol.dispose]: result };
    const remainingMs = endsAtMs - monotonicMs();
    const holder = [result.work, `process ${result.process}`].filter(Boolean).join(', ');
    if (remainingMs <= 0)
      throw new CliError('unavailable', `another run has locked this service: ${holder}`, {
        code: 'locked',
        hint: `give --lock-wait 10m, or ${result.remedy}`,
        retryable: true,
      });
    if (!isTold) await notice('status', `waiting for ${holder}`);
    await sleep(Math.min(200, remainingMs), stop.stopped);
  }
}
