import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bareHost, isLoopbackHost } from '../api/http.ts';
import { monotonicMs, sleep } from '../process/deadline.ts';
import { CliError } from '../process/errors.ts';
import { writeFileAtomic } from '../process/files.ts';
import { holderOf, takeLock, withLock } from '../process/lock.ts';
import { areDisjoint, type Shard } from './run-header.ts';

/**
 * The name of a service for locks and journals: one service has one name, however its URL is written.
 *
 * @param baseUrl as the client sends it, the base path of a binding included.
 */
export function targetOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  // The parser has lower-cased the host and dropped a default port.
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const name = bareHost(hostname);
  // Some names reach this machine although no token may go there: the mapped and the unspecified addresses.
  const isHere =
    isLoopbackHost(name) || /^(0\.0\.0\.0|::|::ffff:(0:0|7f[\da-f]{2}:[\da-f]{1,4}))$/.test(name);
  const host = isHere ? 'localhost' : hostname.replace(/\.$/, '');
  const path = plainPath(pathname)
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '');
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}${path}`;
}

/** A path whose unreserved characters are not percent-encoded. @see RFC 3986, 6.2.2.2 */
function plainPath(path: string): string {
  return path.replace(/%([\da-f]{2})/gi, (encoded, digits) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
}

/** The file beside the lock of a target, in which the process at work describes itself. */
interface Claim {
  readonly target: string;
  readonly shard: Shard | null;
  /** The input as the user named it. */
  readonly name: string;
  /** The id of the run; undefined before it begins. */
  readonly run?: string | undefined;
}

/** A target that is held by this process. */
export interface TargetLock {
  /** Tells other processes which run is at work. */
  nameRun(run: string): Promise<void>;
  release(): Promise<void>;
}

/**
 * Holds a target: no other run works on it until it is released. Only different shards of one number work side by side.
 *
 * @param folder the folder of the journals; it must exist.
 * @param wait.ms the longest wait for another run.
 * @param wait.tell is called once, if there is a wait.
 * @throws CliError `unavailable`, retryable, if another run holds it and does not end in time.
 */
export async function holdTarget(
  folder: string,
  { target, shard, name }: Omit<Claim, 'run'>,
  wait: { readonly ms: number; readonly signal: AbortSignal; tell(line: string): Promise<void> },
): Promise<TargetLock> {
  const gate = join(folder, `target-${createHash('sha256').update(target).digest('hex').slice(0, 12)}`);
  const path = `${gate}.${shard ? `${shard.index}-of-${shard.count}` : 'whole'}`;
  const claim = (run?: string) =>
    writeFileAtomic(`${path}.json`, JSON.stringify({ target, shard, name, run } satisfies Claim));
  const endMs = monotonicMs() + wait.ms;
  for (let isWaiting = false; ; isWaiting = true) {
    // The gate makes looking at the others and taking the lock one step.
    const result = await withLock(gate, async () => {
      const claims = await liveClaims(folder);
      const other = claims.find((each) => each.target === target && !areDisjoint(shard, each.shard));
      if (other) return other;
      const unlock = await takeLock(path);
      await claim();
      return unlock;
    });
    if (typeof result === 'function')
      return {
        nameRun: claim,
        async release() {
          await rm(`${path}.json`, { force: true }).catch(() => {});
          result();
        },
      };
    if (monotonicMs() >= endMs) throw targetHeld(result, wait.ms);
    if (!isWaiting) await wait.tell(`waiting for ${describeClaim(result)}`);
    await sleep(Math.min(200, Math.max(1, endMs - monotonicMs())), wait.signal);
  }
}

type LiveClaim = Claim & { readonly process: string };

/** The claims of processes that are at work. */
export async function liveClaims(folder: string): Promise<LiveClaim[]> {
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

function targetHeld(holder: LiveClaim, waitMs: number): CliError {
  const waited = waitMs > 0 ? ` after a wait of ${waitMs / 1000} s` : '';
  return new CliError(
    'unavailable',
    `${holder.target}: another run is using this target${waited}: ${describeClaim(holder)}`,
    { code: 'locked', hint: 'wait for it to end, for example with --lock-wait 10m', retryable: true },
  );
}

/** `stock.csv, run r7, process 4711`. */
function describeClaim({ process, name, run }: LiveClaim): string {
  return [name, ...(run === undefined ? [] : [`run ${run}`]), `process ${process}`].join(', ');
}
