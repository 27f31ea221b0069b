import type { Contract } from '../../api/contract.ts';
import { parseSetting } from '../../config/keys.ts';
import type { Settings } from '../../config/settings.ts';
import { credentialPlace } from '../../config/token.ts';
import { parseInteger, ValueError } from '../../config/values.ts';
import { UsageError } from '../../errors.ts';
import {
  type LatencyLimit,
  type SmokeOptions,
  type SoftResult,
  softResults,
  statistics,
} from '../../smoke/options.ts';

/** The flags of `smoke` as commander gives them. */
export interface SmokeFlags {
  readonly only?: readonly string[] | undefined;
  readonly skip?: readonly string[] | undefined;
  readonly failOn?: readonly string[] | undefined;
  readonly stability?: 'stable' | 'all' | undefined;
  readonly samples?: string | undefined;
  readonly maxLatency?: string | undefined;
  readonly tlsMinDays?: string | undefined;
  readonly wait?: string | undefined;
  readonly write?: boolean | undefined;
  readonly report?: readonly string[] | undefined;
  readonly force?: boolean | undefined;
}

/** @throws UsageError that names the flag. */
export function toSmokeOptions(
  flags: SmokeFlags,
  settings: Settings,
  { credentialPlaces }: Contract,
): SmokeOptions {
  return {
    selection: { only: listOf(flags.only), skip: listOf(flags.skip) },
    failOn: listOf(flags.failOn).map(toFailOn),
    stability: flags.stability ?? 'stable',
    samples: toCount('--samples', flags.samples ?? '5', 1000),
    maxLatency: flags.maxLatency === undefined ? undefined : toLatencyLimit(flags.maxLatency),
    tlsMinDays: toCount('--tls-min-days', flags.tlsMinDays ?? '7', 3650),
    write: flags.write === true,
    waitMs: flags.wait === undefined ? 0 : parseSetting('timeout', flags.wait, '--wait'),
    timeoutMs: settings.get('timeout'),
    credentialPlace: credentialPlace(settings, credentialPlaces),
  };
}

/** Reads `<duration>[,p50|p95|max]`; p95 where nothing is said. */
function toLatencyLimit(text: string): LatencyLimit {
  const [duration = '', name = 'p95', ...rest] = text.split(',');
  const statistic = statistics.find((each) => each === name.trim());
  if (!statistic || rest.length > 0)
    throw new UsageError(
      `--max-latency '${text}': must be a duration and one of ${statistics.join(', ')}, as 300ms,p95`,
    );
  return { ms: parseSetting('timeout', duration.trim(), '--max-latency'), statistic };
}

function toFailOn(text: string): SoftResult {
  const known = softResults.find((each) => each === text);
  if (!known) throw new UsageError(`--fail-on '${text}': must be one of ${softResults.join(', ')}`);
  return known;
}

function toCount(flag: string, text: string, most: number): number {
  try {
    return parseInteger(text, flag === '--samples' ? 1 : 0, most);
  } catch (error) {
    if (error instanceof ValueError) throw new UsageError(`${flag} '${text}': ${error.message}`);
    throw error;
  }
}

/** The values of a flag that may come more than once and hold several, parted by commas. */
function listOf(values: readonly string[] = []): string[] {
  const texts = values.flatMap((value) => value.split(','));
  return texts.map((text) => text.trim()).filter((text) => text !== '');
}
