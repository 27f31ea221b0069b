import type { Contract } from '../api/contract.ts';
import { UsageError } from '../process/errors.ts';
import { type Check, groupOf, groups } from './check.ts';
import type { Condition } from './condition.ts';
import { checkHttp, expectChecks } from './first-answer.ts';
import { latencyChecks } from './latency-check.ts';
import { lifecycleChecks } from './lifecycle-checks.ts';
import { operationChecks } from './operation-checks.ts';
import type { PossibleRecord } from './own-records.ts';
import { checkConnection, checkDns, tlsChecks } from './reach.ts';
import { authChecks, errorChecks } from './refusal-checks.ts';
import { readsOf } from './round.ts';
import { type VersionOptions, versionCheck } from './version-check.ts';
import { writeChecks } from './write-checks.ts';

/** What to check, and how often. */
export interface SmokeOptions extends VersionOptions {
  readonly contract: Contract;
  /** Whether the service's own socket is reached over TLS. */
  readonly hasTls: boolean;
  /** Whether requests carry a credential. */
  readonly hasToken: boolean;
  /** Globs of check ids. An empty `only` selects all checks. */
  readonly only: readonly string[];
  readonly skip: readonly string[];
  /** Whether warnings, flaky passes, and failures of beta and experimental operations are failures. */
  readonly strict: boolean;
  /** The most that the median of the latency of an operation may be; undefined if it is not measured. */
  readonly maxLatencyMs?: number | undefined;
  readonly write: boolean;
  /** The user's own checks. */
  readonly expect: readonly Condition[];
  /** How often to run, or for how long. At most one of the two is set. */
  readonly repeat?: number | undefined;
  readonly forMs?: number | undefined;
  /** The time from the start of one run to the start of the next. */
  readonly everyMs: number;
  /** The longest time of the whole run; undefined if it has no limit. */
  readonly maxTimeMs?: number | undefined;
}

/** All other checks need these, because without them no request is answered. */
export const prerequisites: readonly string[] = [
  'reach/dns',
  'reach/connect',
  'tls/valid',
  'tls/protocol',
  'reach/http',
  'reach/version',
];

/** The checks that only read, in order: those of reach, which always run, and the selected ones. */
export function readChecks(options: SmokeOptions): Check[] {
  const { contract, hasTls, hasToken, maxLatencyMs, expect, waitFor } = options;
  const reads = readsOf(contract);
  const fallback = expect.find(({ path }) => path !== undefined);
  const checks: Check[] = [
    { id: 'reach/dns', run: checkDns },
    { id: 'reach/connect', run: checkConnection },
    ...(hasTls ? tlsChecks : []),
    { id: 'reach/http', run: (context) => checkHttp(context, fallback) },
    ...(waitFor.length > 0 ? [versionCheck(options)] : []),
    ...operationChecks(contract),
    ...errorChecks(reads),
    ...lifecycleChecks(reads),
    ...authChecks(contract, hasToken),
    ...(maxLatencyMs === undefined ? [] : latencyChecks(reads, maxLatencyMs)),
    ...expectChecks(expect),
  ];
  return checks.filter(({ id }) => groupOf(id) === 'reach' || isSelected(id, options));
}

/** The selected checks of `--write`. @param records gets what they create. */
export function selectedWriteChecks(options: SmokeOptions, records: Set<PossibleRecord>): Check[] {
  const checks = options.write ? writeChecks(options.contract, records) : [];
  return checks.filter(({ id }) => isSelected(id, options));
}

/**
 * Checks that the patterns of `--only` and `--skip` match groups and leave a check to run.
 *
 * @param checks the checks that are left.
 * @throws UsageError if a pattern matches no group, or if no check beside reach is left, or none of `--max-latency`.
 */
export function checkSelection({ only, skip, maxLatencyMs }: SmokeOptions, checks: readonly Check[]): void {
  const groupList = `the groups are ${groups.filter((group) => group !== 'run').join(', ')}`;
  for (const pattern of [...only, ...skip])
    if (!namesGroup(pattern)) throw new UsageError(`no check has an id like '${pattern}'`, groupList);
  const ids = checks.map(({ id }) => id);
  if (!namesReach({ only }) && ids.every((id) => groupOf(id) === 'reach'))
    throw new UsageError(
      'no check is left to run beside reach',
      `${groupList}; write needs --write, latency --max-latency, expect --expect, tls an https service`,
    );
  if (maxLatencyMs !== undefined && !ids.some((id) => groupOf(id) === 'latency'))
    throw new UsageError('--max-latency: --only and --skip leave no latency to measure');
}

/** Whether `--only` names reach, so that it is enough. */
export function namesReach({ only }: Pick<SmokeOptions, 'only'>): boolean {
  return only.some((pattern) => pattern.split('/', 1)[0] === 'reach');
}

/**
 * Whether a check is selected. `*` matches any text without a slash, `**` any text, `?` one character; a pattern
 * without a slash names groups. The checks of `--expect` are always selected.
 */
function isSelected(id: string, { only, skip }: Pick<SmokeOptions, 'only' | 'skip'>): boolean {
  // `op/getPet` selects the latency of getPet too, which is measured only if a flag asks for it.
  const ids = [id, ...(groupOf(id) === 'latency' ? [id.replace(/^latency/, 'op')] : [])];
  const isWanted = only.some((pattern) => ids.some((candidate) => matches(candidate, pattern)));
  const isIncluded = only.length === 0 || groupOf(id) === 'expect' || isWanted;
  return isIncluded && !skip.some((pattern) => matches(id, pattern));
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
