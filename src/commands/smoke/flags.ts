import type { Contract } from '../../api/contract.ts';
import { parseCondition } from '../../checks/conditions.ts';
import { type SmokeOptions, type SoftState, softStates, statistics } from '../../checks/options.ts';
import { parseSetting } from '../../config/keys.ts';
import type { Settings } from '../../config/settings.ts';
import { credentialPlace } from '../../config/token.ts';
import { parseInteger, ValueError } from '../../config/values.ts';
import { UsageError } from '../../errors.ts';

/** The values of the flags of `smoke`. */
export interface SmokeFlags {
  readonly only?: readonly string[] | undefined;
  readonly skip?: readonly string[] | undefined;
  readonly failOn?: readonly string[] | undefined;
  readonly stability?: 'stable' | 'all' | undefined;
  readonly samples?: string | undefined;
  readonly maxLatency?: string | undefined;
  readonly tlsMinDays?: string | undefined;
  readonly wait?: string | undefined;
  readonly waitFor?: readonly string[] | undefined;
  readonly expect?: readonly string[] | undefined;
  readonly repeat?: string | undefined;
  readonly for?: string | undefined;
  readonly every?: string | undefined;
  readonly untilFailure?: boolean | undefined;
  readonly write?: boolean | undefined;
  readonly sweep?: string | undefined;
  readonly report?: readonly string[] | undefined;
  readonly brief?: boolean | undefined;
  readonly force?: boolean | undefined;
}

const defaults = { samples: 5, tlsMinDays: 7, waitForMs: 60_000, everyMs: 30_000, retries: 1 };

/** @throws UsageError that names the flag. */
export function toSmokeOptions(
  flags: SmokeFlags,
  settings: Settings,
  { credentialPlaces }: Contract,
): SmokeOptions {
  checkCombination(flags);
  const { samples, maxLatency, waitFor = [], wait } = flags;
  const measures = samples !== undefined || maxLatency !== undefined;
  const retries = settings.explain('retries');
  return {
    only: listOf(flags.only),
    skip: listOf(flags.skip),
    failOn: listOf(flags.failOn).map(toFailOn),
    stability: flags.stability ?? 'stable',
    samples: measures ? toCount('--samples', samples ?? String(defaults.samples), 1, 1000) : undefined,
    maxLatency: maxLatency === undefined ? undefined : toLatencyLimit(maxLatency),
    tlsMinDays: toCount('--tls-min-days', flags.tlsMinDays ?? String(defaults.tlsMinDays), 0, 3650),
    write: flags.write === true,
    sweepMs: flags.sweep === undefined ? undefined : toAge(flags.sweep),
    waitMs: durationOf('--wait', wait) ?? (waitFor.length > 0 ? defaults.waitForMs : 0),
    waitFor: waitFor.map((text) => parseCondition(text, '--wait-for')),
    expect: (flags.expect ?? []).map((text) => parseCondition(text, '--expect')),
    repeat: flags.repeat === undefined ? undefined : toCount('--repeat', flags.repeat, 1, 1_000_000),
    forMs: durationOf('--for', flags.for),
    everyMs: durationOf('--every', flags.every) ?? (flags.for === undefined ? 0 : defaults.everyMs),
    untilFailure: flags.untilFailure === true,
    timeoutMs: settings.get('timeout'),
    retries: retries.source === 'default' ? defaults.retries : retries.value,
    credentialPlace: credentialPlace(settings, credentialPlaces),
  };
}

/** A flag without effect is an error, so that it is not overlooked. */
function checkCombination(flags: SmokeFlags): void {
  const isRepeated = flags.repeat !== undefined || flags.for !== undefined;
  if (flags.repeat !== undefined && flags.for !== undefined)
    throw new UsageError('--repeat and --for: give only one of them');
  for (const [flag, value] of [
    ['--every', flags.every],
    ['--until-failure', flags.untilFailure],
  ])
    if (value && !isRepeated) throw new UsageError(`${flag}: needs --repeat <n> or --for <duration>`);
  if (flags.sweep !== undefined && !flags.write)
    throw new UsageError('--sweep: removes records of earlier runs, so it needs --write');
}

/** Reads `<duration>[,p50|p95|max]`; the default is p95. */
function toLatencyLimit(text: string): NonNullable<SmokeOptions['maxLatency']> {
  const [duration = '', name = 'p95', ...rest] = text.split(',');
  const statistic = statistics.find((each) => each === name.trim());
  if (!statistic || rest.length > 0)
    throw new UsageError(
      `--max-latency '${text}': must be a duration and one of ${statistics.join(', ')}, as 300ms,p95`,
    );
  return { ms: parseSetting('timeout', duration.trim(), '--max-latency'), statistic };
}

/** A duration that may also be in days. */
function toAge(text: string): number {
  const [, days] = /^(\d{1,4})d$/.exec(text) ?? [];
  return days !== undefined && Number(days) > 0
    ? Number(days) * 86_400_000
    : parseSetting('timeout', text, '--sweep');
}

function durationOf(flag: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseSetting('timeout', text, flag);
}

function toFailOn(text: string): SoftState {
  const known = softStates.find((each) => each === text);
  if (!known) throw new UsageError(`--fail-on '${text}': must be one of ${softStates.join(', ')}`);
  return known;
}

function toCount(flag: string, text: string, least: number, most: number): number {
  try {
    return parseInteger(text, least, most);
  } catch (error) {
    if (error instanceof ValueError) throw new UsageError(`${flag} '${text}': ${error.message}`);
    throw error;
  }
}

/** The values of a flag that can be repeated and can hold several values, separated by commas. */
function listOf(values: readonly string[] = []): string[] {
  const texts = values.flatMap((value) => value.split(','));
  return texts.map((text) => text.trim()).filter((text) => text !== '');
}
