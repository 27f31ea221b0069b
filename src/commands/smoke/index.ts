import { choice, flag, value, values } from '../../cli/flag.ts';
import { writeFlags } from '../../cli/global-flags.ts';
import { action } from '../../cli/verb.ts';
import { softResults } from '../../smoke/options.ts';

export const smoke = action({
  description:
    'Checks that a deployment is reachable and does what its description says: one check after another, each with a stable id. Read-only unless --write is given. Exits 0 when every check that ran has passed, 7 when one failed, 6 when the service cannot be reached, 4 when the credential was refused, 2 when no check ran.',
  examples: [
    'petstore smoke',
    'petstore smoke --wait 60s --report junit=out/smoke.xml --report github',
    'petstore smoke --write --confirm staging',
    "petstore smoke --only 'op/*' --max-latency 300ms,p95",
    'petstore serve --port 0 -- petstore smoke --write',
  ],
  flags: {
    wait: value('--wait <duration>', 'first wait up to this long for the service to answer below 500'),
    write: flag('--write', 'also create, change and delete records of its own, and clean up'),
    only: values('--only <glob>', 'run only these checks, as op or op/get*; may be given again', {
      offers: 'check',
    }),
    skip: values('--skip <glob>', 'leave these checks out; may be given again', { offers: 'check' }),
    failOn: values('--fail-on <result>', 'fail on warn or flaky too; may be given again', {
      offers: softResults,
    }),
    stability: choice('--stability <which>', 'all: count failures of beta and experimental operations too', [
      'stable',
      'all',
    ]),
    samples: value('--samples <n>', 'time this many calls of each GET (default 5)'),
    maxLatency: value(
      '--max-latency <limit>',
      'fail above this, as 300ms or 300ms,max: p50, p95 (default) or max',
    ),
    tlsMinDays: value('--tls-min-days <n>', 'fail when the certificate expires sooner (default 7)'),
    report: values(
      '--report <report>',
      'junit=<file>, tap=<file>, json=<file> or github; may be given again',
    ),
    force: flag('--force', 'let a report replace a file that is not a report'),
    dryRun: flag('--dry-run', 'list the checks, send nothing'),
    confirm: writeFlags.confirm,
  },
  async run(context, flags) {
    const { smoke: check } = await import('./run.ts');
    await check(context, flags);
  },
});
