import type { Contract } from '../api/contract.ts';
import { UsageError } from '../process/errors.ts';
import type { CheckRun, SmokeOptions } from './ask.ts';
import { type Check, groupOf, groups } from './check.ts';
import { deprecationChecks } from './deprecation.ts';
import { latencyChecks } from './latency-check.ts';
import { operationChecks } from './operation-checks.ts';
import { Ownership } from './ownership.ts';
import { gates, reachChecks } from './reach.ts';
import { expectChecks } from './reach-http.ts';
import { authChecks, errorChecks } from './refusal-checks.ts';
import type { Waited } from './wait.ts';
import { writeChecks } from './write-checks.ts';

/** What decides which checks there are. */
export interface Selection {
  readonly contract: Contract;
  readonly options: SmokeOptions;
  /** Whether the service is reached over TLS. */
  readonly hasTls: boolean;
}

/**
 * The checks of one run, in order: reach, without which nothing else can pass, and those that are selected.
 *
 * @param ownership gets the records that the run creates.
 * @param waited what the wait came to, if this is the first run.
 */
export function selectChecks(
  { contract, options, hasTls }: Selection,
  ownership = new Ownership(),
  waited?: Waited,
): Check<CheckRun>[] {
  const { maxLatency, expect, write, waitFor } = options;
  const others = [
    ...operationChecks(contract),
    ...errorChecks(contract),
    ...deprecationChecks(contract),
    ...authChecks(contract),
    ...(maxLatency ? latencyChecks(contract, maxLatency) : []),
    ...expectChecks(expect),
    ...(write ? writeChecks(contract, ownership) : []),
  ];
  return [
    ...reachChecks(hasTls, waitFor.length > 0, waited).filter(
      ({ id }) => groupOf(id) === 'reach' || isSelected(id, options),
    ),
    ...others
      .filter(({ id }) => isSelected(id, options))
      .map((check) => ({ ...check, needs: [...gates, ...(check.needs ?? [])] })),
  ];
}

/**
 * @throws UsageError if a pattern of `--only` or `--skip` matches no group, if together they leave no check beside
 *   reach, or none of a flag's own.
 */
export function checkSelection(selection: Selection): void {
  const { only, skip, maxLatency } = selection.options;
  const known = `the groups are ${groups.filter((group) => group !== 'run').join(', ')}`;
  for (const pattern of [...only, ...skip])
    if (!namesGroup(pattern)) throw new UsageError(`no check has an id like '${pattern}'`, known);
  const ids = selectChecks(selection).map(({ id }) => id);
  if (!asksForReach(selection.options) && ids.every((id) => groupOf(id) === 'reach'))
    throw new UsageError(
      'no check is left to run beside reach',
      `${known}; write needs --write, latency --max-latency, expect --expect, tls an https service`,
    );
  if (maxLatency && !ids.some((id) => groupOf(id) === 'latency'))
    throw new UsageError('--max-latency: --only and --skip leave no latency to measure');
}

/** Whether `--only` names reach, so that it is enough. */
export function asksForReach({ only }: Pick<SmokeOptions, 'only'>): boolean {
  return only.some((pattern) => pattern.split('/', 1)[0] === 'reach');
}

/**
 * Whether a check is selected. `*` matches any text without a slash, `**` any text, `?` one character; a pattern
 * without a slash names groups. The checks of `--expect` are always selected.
 */
function isSelected(id: string, { only, skip }: Pick<SmokeOptions, 'only' | 'skip'>): boolean {
  const isWanted =
    only.length === 0 || groupOf(id) === 'expect' || only.some((pattern) => namesCheck(id, pattern));
  return isWanted && !skip.some((pattern) => matches(id, pattern));
}

/** `op/getPet` matches the latency of getPet too, which is measured only if a flag asks for it. */
function namesCheck(id: string, pattern: string): boolean {
  return (
    matches(id, pattern) || (groupOf(id) === 'latency' && matches(id.replace(/^latency/, 'op'), pattern))
  );
}

function matches(id: string, pattern: string): boolean {
  return toRegExp(pattern.includes('/') ? pattern : `${pattern}/**`).test(id);
}

function namesGroup(pattern: string): boolean {
  const [group = ''] = pattern.split('/');
  return group.includes('**') || groups.some((name) => toRegExp(group).test(name));
}

function toRegExp(pattern: string): RegExp {
  const source = pattern.replace(/\*\*|[*?]|[.+^${}()|[\]\\]/g, (token) => {
    if (token === '**') return '.*';
    if (token === '*') return '[^/]*';
    return token === '?' ? '[^/]' : `\\${token}`;
  });
  return new RegExp(`^${source}$`);
}
