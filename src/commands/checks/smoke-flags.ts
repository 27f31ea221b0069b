import { parseCondition } from '../../checks/condition.ts';
import { flag, type ValuesOf, value, values } from '../../cli/flag.ts';
import { writeFlags } from '../../cli/global-flags.ts';
import { parseDuration } from '../../config/setting-values.ts';

export const smokeFlags = {
  wait: value('--wait <duration>', 'run the read checks again for up to this long, until they pass', {
    parse: parseDuration,
  }),
  waitFor: values(
    '--wait-for <condition>',
    "wait for this deployment (60s without --wait), such as 'header x-commit=4f2a9c1' or 'GET /version text*=4f2a9c1'; can be repeated",
    { parse: parseCondition },
  ),
  expect: values(
    '--expect <condition>',
    "a check of your own, such as 'GET /healthz 200 /status=ok'; can be repeated",
    { parse: parseCondition },
  ),
  write: flag('--write', 'also create, change and delete records of its own, and clean up'),
  only: values('--only <glob>', 'run only these checks, such as op or op/get*; can be repeated', {
    parse: splitPatterns,
    offers: 'check',
    isList: true,
  }),
  skip: values('--skip <glob>', 'leave these checks out; can be repeated', {
    parse: splitPatterns,
    offers: 'check',
    isList: true,
  }),
  strict: flag('--strict', 'fail also on warnings, flaky passes, and beta and experimental operations'),
  maxTime: value('--max-time <duration>', 'end the run, as failed, after this time (10m without --wait)', {
    parse: parseDuration,
  }),
  report: values('--report <report>', 'junit=<file>, json=<file>, or github; can be repeated'),
  brief: flag('--brief', 'show failures and the total only'),
  dryRun: flag('--dry-run', 'list the checks, send nothing'),
  confirm: writeFlags.confirm,
};

export type SmokeFlags = ValuesOf<typeof smokeFlags>;

/** Splits a text into patterns at its commas. */
function splitPatterns(text: string): string[] {
  const patterns = text.split(',').map((pattern) => pattern.trim());
  return patterns.filter((pattern) => pattern !== '');
}
