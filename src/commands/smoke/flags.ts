import type { Contract } from '../../api/contract.ts';
import {
  parseCondition,
  type SmokeOptions,
  type SoftState,
  softStates,
  statistics,
} from '../../checks/options.ts';
import { choice, flag, type ValuesOf, value, values } from '../../cli/flag.ts';
import { writeFlags } from '../../cli/global-flags.ts';
import { valueProblem } from '../../config/keys.ts';
import type { Settings } from '../../config/settings.ts';
import { credentialPlace } from '../../config/token.ts';
import { parseInteger, ValueError } from '../../config/values.ts';
import { UsageError } from '../../process/errors.ts';
import { parseDuration } from '../arguments.ts';

export const smokeFlags = {
  wait: value('--wait <duration>', 'first wait up to this long for a JSON answer below 500', {
    parse: parseDuration,
  }),
  waitFor: values(
    '--wait-for <condition>',
    "wait for this deployment (60s without --wait): 'header x-commit=4f2a9c1', 'GET /version 200' or 'GET /version /commit=4f2a9c1'; may be given again",
    { parse: parseCondition },
  ),
  write: flag('--write', 'also create, change and delete records of its own, and clean up'),
  sweep: value(
    '--sweep <age>',
    'with --write: first remove what runs this long ago left behind, as 1h or 7d',
    { parse: parseAge },
  ),
  expect: values(
    '--expect <condition>',
    "a check of your own, as 'GET /health 200 /status=ok'; may be given again",
    { parse: parseCondition },
  ),
  only: values('--only <glob>', 'run only these checks, as op or op/get*; may be given again', {
    parse: wordsOf,
    offers: 'check',
    isList: true,
  }),
  skip: values('--skip <glob>', 'leave these checks out; may be given again', {
    parse: wordsOf,
    offers: 'check',
    isList: true,
  }),
  failOn: values('--fail-on <result>', 'fail on warn or flaky too; may be given again', {
    parse: (text, name) => wordsOf(text).map((word) => parseSoftState(word, name)),
    offers: softStates,
    isList: true,
  }),
  stability: choice('--stability <which>', 'all: count failures of beta and experimental operations too', [
    'stable',
    'all',
  ]),
  maxLatency: value(
    '--max-latency <limit>',
    'fail above this, as 300ms or 300ms,max: p50, p95 (default) or max',
    { parse: parseLatencyLimit },
  ),
  samples: value('--samples <n>', 'time this many calls of each GET (5 with --max-latency)', {
    parse: countFrom(1, 1000),
  }),
  tlsMinDays: value('--tls-min-days <n>', 'fail if the certificate expires sooner (default 7)', {
    parse: countFrom(0, 3650),
  }),
  repeat: value('--repeat <n>', 'run the checks this many times', { parse: countFrom(1, 1_000_000) }),
  for: value('--for <duration>', 'run the checks again and again for this long', {
    parse: parseDuration,
  }),
  every: value('--every <duration>', 'start a run this often (30s with --for)', { parse: parseDuration }),
  untilFailure: flag('--until-failure', 'with --repeat or --for: stop after the first run that fails'),
  report: values(
    '--report <report>',
    'junit, tap, json, markdown or html, each with =<file>, or github; may be given again',
  ),
  brief: flag('--brief', 'show failures and the total only'),
  force: flag('--force', 'let a report replace a file that is not a report'),
  dryRun: flag('--dry-run', 'list the checks, send nothing'),
  confirm: writeFlags.confirm,
};

export type SmokeFlags = ValuesOf<typeof smokeFlags>;

const defaults = { samples: 5, tlsMinDays: 7, waitForMs: 60_000, everyMs: 30_000, retries: 1 };

/** @throws UsageError if a flag has no effect, so that it is not overlooked. */
export function toSmokeOptions(
  flags: SmokeFlags,
  settings: Settings,
  { credentialPlaces }: Contract,
): SmokeOptions {
  const { repeat, for: forMs, every, untilFailure, samples, maxLatency, sweep, waitFor = [] } = flags;
  if (repeat !== undefined && forMs !== undefined)
    throw new UsageError('--repeat and --for: give only one of them');
  if (repeat === undefined && forMs === undefined && (every !== undefined || untilFailure))
    throw new UsageError(
      `${every === undefined ? '--until-failure' : '--every'}: needs --repeat <n> or --for <duration>`,
    );
  if (sweep !== undefined && !flags.write)
    throw new UsageError('--sweep: removes records of earlier runs, so it needs --write');
  const retries = settings.explain('retries');
  return {
    only: (flags.only ?? []).flat(),
    skip: (flags.skip ?? []).flat(),
    failOn: (flags.failOn ?? []).flat(),
    stability: flags.stability ?? 'stable',
    samples: samples ?? (maxLatency && defaults.samples),
    maxLatency,
    tlsMinDays: flags.tlsMinDays ?? defaults.tlsMinDays,
    write: flags.write === true,
    sweepMs: sweep,
    waitMs: flags.wait ?? (waitFor.length > 0 ? defaults.waitForMs : 0),
    waitFor,
    expect: flags.expect ?? [],
    repeat,
    forMs,
    everyMs: every ?? (forMs === undefined ? 0 : defaults.everyMs),
    untilFailure: untilFailure === true,
    timeoutMs: settings.get('timeout'),
    retries: retries.source === 'default' ? defaults.retries : retries.value,
    credentialPlace: credentialPlace(settings, credentialPlaces),
  };
}

/** Reads `<duration>[,p50|p95|max]`; the default is p95. */
function parseLatencyLimit(text: string, name: string): SmokeOptions['maxLatency'] {
  const [duration = '', word = 'p95', ...rest] = text.split(',');
  const statistic = statistics.find((each) => each === word.trim());
  if (!statistic || rest.length > 0)
    throw new UsageError(
      `${name} '${text}': must be a duration and one of ${statistics.join(', ')}, as 300ms,p95`,
    );
  return { ms: parseDuration(duration.trim(), name), statistic };
}

/** A duration that may also be in days. */
function parseAge(text: string, name: string): number {
  const [, days] = /^(\d{1,4})d$/.exec(text) ?? [];
  if (Number(days) > 0) return Number(days) * 86_400_000;
  if (valueProblem('timeout', text) === undefined) return parseDuration(text, name);
  throw new UsageError(
    `${name} '${text}': must be a duration of at most 24h, such as 90m, or days, such as 7d`,
  );
}

function parseSoftState(text: string, name: string): SoftState {
  const known = softStates.find((each) => each === text);
  if (!known) throw new UsageError(`${name} '${text}': must be one of ${softStates.join(', ')}`);
  return known;
}

function countFrom(least: number, most: number): (text: string, name: string) => number {
  return (text, name) => {
    try {
      return parseInteger(text, least, most);
    } catch (error) {
      if (error instanceof ValueError) throw new UsageError(`${name} '${text}': ${error.message}`);
      throw error;
    }
  };
}

/** The words in a text, separated by commas. */
function wordsOf(text: string): string[] {
  const words = text.split(',').map((word) => word.trim());
  return words.filter((word) => word !== '');
}
