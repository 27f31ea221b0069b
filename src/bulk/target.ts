import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
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

/** What a process that works on a target says of itself, in the file beside its lock. */
interface Claim {
  readonly shard: Shard | null;
  /** The input as the user named it. */
  readonly name: string;
  /** Once it has one. */
  readonly run?: string | undefined;
}

interface HoldOptions {
  readonly shard: Shard | null;
  readonly name: string;
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
  target: string,
  { shard, name, waitMs, signal }: HoldOptions,
  work: (nameRun: NameRun) => Promise<Value>,
): Promise<Value> {
  const gate = join(folder, `target-${createHash('sha256').update(target).digest('hex').slice(0, 12)}`);
  const own = `${gate}.${shard ? `${shard.index}-of-${shard.count}` : 'whole'}`;
  const endMs = monotonicMs() + waitMs;
  let unlock: () => void;
  for (;;) {
    // The gate makes looking at the others and taking the own lock one step.
    const taken = await withLock(gate, async () => (await otherHolder(gate, shard)) ?? takeLock(own));
    if (typeof taken === 'function') {
      unlock = taken;
      break;
    }
    if (monotonicMs() >= endMs) throw targetHeld(target, taken, waitMs);
    await sleep(Math.min(200, Math.max(1, endMs - monotonicMs())), signal);
  }
  const claim = (run?: string) => writeFileAtomic(`${own}.json`, JSON.stringify({ shard, name, run }));
  try {
    await claim();
    return await work(claim);
  } finally {
    await rm(`${own}.json`, { force: true }).catch(() => {});
    unlock();
  }
}

/** The process that excludes a run, and what it says of itself. */
interface Holder extends Partial<Claim> {
  readonly process: string;
}

async function otherHolder(gate: string, shard: Shard | null): Promise<Holder | undefined> {
  const prefix = `${basename(gate)}.`;
  for (const name of await readdir(join(gate, '..'))) {
    if (!name.startsWith(prefix) || !name.endsWith('.lock') || name.endsWith('.lock.lock')) continue;
    const part = name.slice(prefix.length, -'.lock'.length);
    const [, index, count] = /^(\d+)-of-(\d+)$/.exec(part) ?? [];
    const other = index === undefined ? null : { index: Number(index), count: Number(count) };
    // The lock of the gate itself.
    if (part !== 'whole' && other === null) continue;
    const process = areDisjoint(shard, other) ? undefined : holderOf(`${gate}.${part}`);
    if (process !== undefined) return { process, ...readClaim(`${gate}.${part}.json`) };
  }
  return undefined;
}

/** The runs that a process is working on. */
export async function runningRuns(folder: string): Promise<ReadonlySet<string>> {
  const running = new Set<string>();
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith('target-') || !name.endsWith('.json')) continue;
    const path = join(folder, name);
    const { run } = readClaim(path);
    if (run !== undefined && holderOf(path.slice(0, -'.json'.length)) !== undefined) running.add(run);
  }
  return running;
}

/** Empty if the process has not written it yet. */
function readClaim(path: string): Partial<Claim> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Claim;
  } catch {
    return {};
  }
}

function targetHeld(target: string, { process, name, run }: Holder, waitMs: number): CliError {
  const what = [name, ...(run === undefined ? [] : [`run ${run}`]), `process ${process}`].filter(Boolean);
  const waited = waitMs > 0 ? ` after a wait of ${waitMs / 1000} s` : '';
  return new CliError(
    'unavailable',
    `${target}: another run is using this target${waited}: ${what.join(', ')}; nothing was sent`,
    { code: 'locked', hint: 'wait for it to end, for example with --lock-wait 10m', retryable: true },
  );
}
