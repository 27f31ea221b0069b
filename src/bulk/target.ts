import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bareHost, isLoopbackHost } from '../api/http.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import { writeFileAtomic } from '../process/files.ts';
import { holderOf, takeLock, withLock } from '../process/lock.ts';
import { areDisjoint, type Shard } from './run-flags.ts';

/** The name of a service for locks and journals: one service has one name, however its URL is written. */
export function targetOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  // The parser has lower-cased the host and dropped a default port.
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const name = bareHost(hostname);
  // Some names reach this machine although no token may go there: the mapped and the unspecified addresses.
  const isHere =
    isLoopbackHost(name) || /^(0\.0\.0\.0|::|::ffff:(0:0|7f[\da-f]{2}:[\da-f]{1,4}))$/.test(name);
  const host = isHere ? 'localhost' : hostname.replace(/\.$/, '');
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}${pathname.replace(/\/+$/, '')}`;
}

/** What a process that works on a target says of itself, in a file beside its lock. */
interface Claim {
  readonly target: string;
  readonly shard: Shard | null;
  /** The input as the user named it. */
  readonly name: string;
  /** Once it has one. */
  readonly run?: string | undefined;
}

interface HoldOptions extends Omit<Claim, 'run'> {
  /** Longest wait for another run, in milliseconds. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** To be called with the id of the run, once it has one. */
export type NameRun = (run: string) => Promise<void>;

/**
 * Does `work` while no other run works on the target. Only shards of one division work side by side.
 *
 * @param folder that of the journals; it must exist.
 * @throws CliError `unavailable`, retryable, if another run holds it and does not end in time; nothing was sent.
 */
export async function holdTarget<Value>(
  folder: string,
  { target, shard, name, waitMs, signal }: HoldOptions,
  work: (nameRun: NameRun) => Promise<Value>,
): Promise<Value> {
  const gate = join(folder, `target-${createHash('sha256').update(target).digest('hex').slice(0, 12)}`);
  const own = `${gate}.${shard ? `${shard.index}-of-${shard.count}` : 'whole'}`;
  const claim = (run?: string) =>
    writeFileAtomic(`${own}.json`, JSON.stringify({ target, shard, name, run } satisfies Claim));
  const endMs = monotonicMs() + waitMs;
  let unlock: () => void;
  for (;;) {
    // The gate makes looking at the others and taking the own lock one step.
    const found = await withLock(gate, async () => {
      const claims = await liveClaims(folder);
      const other = claims.find((each) => each.target === target && !areDisjoint(shard, each.shard));
      if (other) return other;
      const unlock = await takeLock(own);
      await claim();
      return unlock;
    });
    if (typeof found === 'function') {
      unlock = found;
      break;
    }
    if (monotonicMs() >= endMs) throw targetHeld(found, waitMs);
    await sleep(Math.min(200, Math.max(1, endMs - monotonicMs())), signal);
  }
  try {
    return await work(claim);
  } finally {
    await rm(`${own}.json`, { force: true }).catch(() => {});
    unlock();
  }
}

/** The claims of processes that are at work. */
export async function liveClaims(folder: string): Promise<(Claim & { readonly process: string })[]> {
  const names = await readdir(folder).catch(() => []);
  const paths = names.filter((name) => /^target-.*\.json$/.test(name)).map((name) => join(folder, name));
  return paths.flatMap((path) => {
    const process = holderOf(path.slice(0, -'.json'.length));
    const claim = process === undefined ? undefined : readClaim(path);
    return process !== undefined && claim ? [{ ...claim, process }] : [];
  });
}

/** Undefined if the process has ended meanwhile. */
function readClaim(path: string): Claim | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Claim;
  } catch {
    return undefined;
  }
}

function targetHeld({ target, process, name, run }: Claim & { process: string }, waitMs: number): CliError {
  const what = [name, ...(run === undefined ? [] : [`run ${run}`]), `process ${process}`];
  const waited = waitMs > 0 ? ` after a wait of ${waitMs / 1000} s` : '';
  return new CliError(
    'unavailable',
    `${target}: another run is using this target${waited}: ${what.join(', ')}; nothing was sent`,
    { code: 'locked', hint: 'wait for it to end, for example with --lock-wait 10m', retryable: true },
  );
}
