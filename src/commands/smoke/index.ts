import { softStates } from '../../checks/options.ts';
import { choice, flag, value, values } from '../../cli/flag.ts';
import { writeFlags } from '../../cli/global-flags.ts';
import { action } from '../../cli/verb.ts';

export const smoke = action({
  description:
    'Checks that a deployment is reachable and does what its description says: one check after another, each with a stable id. Read-only unless --write is given. A request that got no answer is sent once more, unless --retries says otherwise. Exits 0 if every check that ran has passed, 7 if one failed, 6 if the service cannot be reached, 4 if the credential was refused, 2 if no check ran.',
  examples: [
    'petstore smoke',
    'petstore smoke --wait 60s --report junit=out/smoke.xml --report github',
    'petstore smoke --write --confirm staging',
    "petstore smoke --wait-for 'header x-commit=4f2a9c1' --expect 'GET /health 200 /status=ok'",
    'petstore smoke --for 10m --every 30s --until-failure --brief',
    'petstore serve --port 0 -- petstore smoke --write',
  ],
  flags: {
    wait: value('--wait <duration>', 'first wait up to this long for a JSON answer below 500'),
    waitFor: values(
      '--wait-for <condition>',
      "wait for this deployment (60s without --wait): 'header x-commit=4f2a9c1', 'GET /version 200' or 'GET /version /commit=4f2a9c1'; may be given again",
    ),
    write: flag('--write', 'also create, change and delete records of its own, and clean up'),
    sweep: value(
      '--sweep <age>',
      'with --write: first remove what runs this long ago left behind, as 1h or 7d',
    ),
    expect: values(
      '--expect <condition>',
      "a check of your own, as 'GET /health 200 /status=ok'; may be given again",
    ),
    only: values('--only <glob>', 'run only these checks, as op or op/get*; may be given again', {
      offers: 'check',
    }),
    skip: values('--skip <glob>', 'leave these checks out; may be given again', { offers: 'check' }),
    failOn: values('--fail-on <result>', 'fail on warn or flaky too; may be given again', {
      offers: softStates,
    }),
    stability: choice('--stability <which>', 'all: count failures of beta and experimental operations too', [
      'stable',
      'all',
    ]),
    maxLatency: value(
      '--max-latency <limit>',
      'fail above this, as 300ms or 300ms,max: p50, p95 (default) or max',
    ),
    samples: value('--samples <n>', 'time this many calls of each GET (5 with --max-latency)'),
    tlsMinDays: value('--tls-min-days <n>', 'fail if the certificate expires sooner (default 7)'),
    repeat: value('--repeat <n>', 'run the checks this many times'),
    for: value('--for <duration>', 'run the checks again and again for this long'),
    every: value('--every <duration>', 'start a run this often (30s with --for)'),
    untilFailure: flag('--until-failure', 'with --repeat or --for: stop after the first run that fails'),
    report: values(
      '--report <report>',
      'junit, tap, json, markdown or html, each with =<file>, or github; may be given again',
    ),
    brief: flag('--brief', 'show failures and the total only'),
    force: flag('--force', 'let a report replace a file that is not a report'),
    dryRun: flag('--dry-run', 'list the checks, send nothing'),
    confirm: writeFlags.confirm,
  },
  async run(context, flags) {
    const { smoke: check } = await import('./run.ts');
    await check(context, flags);
  },
});
