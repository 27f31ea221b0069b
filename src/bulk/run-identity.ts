import { createHash } from 'node:crypto';
import type { RunFlags } from './run-flags.ts';

/** The identity of a run: the same rows, written in the same way, to the same target. */
export interface RunIdentity {
  readonly kind: 'apply' | 'undo';
  /** Of the input's bytes; for an undo, of the id of the run that it undoes. */
  readonly sha256: string;
  /** The base URL, or the file of the embedded store. */
  readonly target: string;
  readonly flags: RunFlags;
}

export function isSameRun(one: RunIdentity, other: RunIdentity): boolean {
  return identityText(one) === identityText(other);
}

/** The id of a run, such as `20271121-021530123-3f2a9c`: UTC to the millisecond, so that ids sort by time, and a key. */
export function toRunId(identity: RunIdentity, startedMs: number): string {
  const [date = '', time = ''] = new Date(startedMs).toISOString().split('T');
  return `${date.replaceAll('-', '')}-${time.replace(/\D/g, '')}-${keyOf(identity)}`;
}

/** Whether a run with this id may have this identity. */
export function isIdOf(run: string, identity: RunIdentity): boolean {
  return run.endsWith(`-${keyOf(identity)}`);
}

/** When the run with this id began, in milliseconds since the epoch. */
export function startOf(run: string): number {
  const [, ...parts] = /^(....)(..)(..)-(..)(..)(..)(...)-/.exec(run) ?? [];
  const [year = 0, month = 1, day, hour, minute, second, ms] = parts.map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second, ms);
}

/** Without the flags: if the header of a journal cannot be read, its delivery must be recognised under any of them. */
function keyOf({ kind, sha256, target }: RunIdentity): string {
  const text = JSON.stringify([kind, sha256, target]);
  return createHash('sha256').update(text).digest('hex').slice(0, 6);
}

function identityText({ kind, sha256, target, flags }: RunIdentity): string {
  const { map, shard, key } = flags;
  return JSON.stringify([
    ...[kind, sha256, target, flags.format, flags.delimiter, flags.columns, flags.thousands],
    ...[map.petId ?? null, map.quantity ?? null, map.expected ?? null, key && [key.column, key.sha256]],
    ...[flags.onDuplicate, flags.skipInvalid, shard && [shard.index, shard.count]],
    ...[flags.blind, flags.relative, flags.createMissing],
  ]);
}
