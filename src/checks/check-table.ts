import type { Contract } from '../api/contract.ts';
import { UsageError } from '../process/errors.ts';
import { type Check, groupOf, groups } from './check.ts';
import { expectChecks } from './first-answer.ts';
import { latencyChecks } from './latency-check.ts';
import { lifecycleChecks } from './lifecycle-checks.ts';
import { operationChecks } from './operation-checks.ts';
import { gates, reachChecks } from './reach.ts';
import { authChecks, errorChecks } from './refusal-checks.ts';
import type { CheckContext, SmokeOptions } from './round.ts';
import { type Writing, writeChecks } from './write-checks.ts';

/** The service and the options, which decide on the checks of a run. */
export interface Selection {
  readonly contract: Contract;
  readonly options: SmokeOptions;
  /** Whether the service is reached over TLS. */
  readonly hasTls: boolean;
  /** Whether requests carry a credential. */
  readonly hasToken: boolean;
}

/** The checks that only read, in order: those of reach, which always run, and the selected ones. */
export function readChecks({ contract, options, hasTls, hasToken }: Selection): Check<CheckContext>[] {
  const { maxLatencyMs, expect, waitFor } = options;
  return [
    ...reachChecks(hasTls, waitFor.length > 0).filter(
      ({ id }) => groupOf(id) === 'reach' || isSelected(id, options),
    ),
    ...selectChecks(options, [
      ...operationChecks(contract),
      ...errorChecks(contract),
      ...lifecycleChecks(contract),
      ...authChecks(contract, hasToken),
      ...(maxLatencyMs === undefined ? [] : latencyChecks(contract, maxLatencyMs)),
      ...expectChecks(expect),
    ]),
  ];
}

/** The selected checks of `--write`. */
export function selectedWriteChecks(
  { contract, options }: Selection,
  writing: Writing,
): Check<CheckContext>[] {
  return options.write ? selectChecks(options, writeChecks(contract, writing)) : [];
}

function selectChecks(options: SmokeOptions, checks: readonly Check<CheckContext>[]): Check<CheckContext>[] {
  return checks
    .filter(({ id }) => isSelected(id, options))
    .map((check) => ({ ...check, needs: [...gates, ...(check.needs ?? [])] }));
}

/**
 * Checks that the patterns of `--only` and `--skip` match groups and leave a check to run.
 *
 * @param checks the checks that are left.
 * @throws UsageError if a pattern matches no group, or if no check beside reach is left, or none of `--max-latency`.
 */
export function checkSelection(
  { only, skip, maxLatencyMs }: SmokeOptions,
  checks: readonly Check<CheckContext>[],
): void {
  const groupList = `the groups are ${groups.filter((group) => group !== 'run').join(', ')}`;
  for (const pattern of [...only, ...skip])
    if (!namesGroup(pattern)) throw new UsageError(`no check has an id like '${pattern}'`, groupList);
  const ids = checks.map(({ id }) => id);
  if (!asksForReach({ only }) && ids.every((id) => groupOf(id) === 'reach'))
    throw new UsageError(
      'no check is left to run beside reach',
      `${groupList}; write needs --write, latency --max-latency, expect --expect, tls an https service`,
    );
  if (maxLatencyMs !== undefined && !ids.some((id) => groupOf(id) === 'latency'))
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
