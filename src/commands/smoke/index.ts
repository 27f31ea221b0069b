import type { Context } from '../../context.ts';
import { collect, Option, verb } from '../command.ts';
import type { Entry } from '../entry.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description:
      'Checks that a deployment is reachable and does what its description says: one check after another, each with a stable id. Read-only unless --write is given. Exits 0 when every check that ran has passed, 7 when one failed, 6 when the service cannot be reached, 4 when the credential was refused, 2 when no check ran.',
    examples: [
      'petstore smoke',
      'petstore smoke --wait 60s --report junit=out/smoke.xml --report github',
      'petstore smoke --write --confirm staging',
      "petstore smoke --only 'op/*' --max-latency 300ms,p95",
      'petstore serve --port 0 -- petstore smoke --write',
    ],
  })
    .option('--wait <duration>', 'first wait up to this long for the service to answer below 500')
    .option('--write', 'also create, change and delete records of its own, and clean up')
    .option('--confirm <profile>', 'name of the profile, where it is protected and --write is given')
    .addOption(list('--only <glob>', 'run only these checks, as op or op/get*; may be given again'))
    .addOption(list('--skip <glob>', 'leave these checks out; may be given again'))
    .addOption(list('--fail-on <result>', 'fail on warn or flaky too; may be given again'))
    .addOption(
      new Option(
        '--stability <which>',
        'all: count failures of beta and experimental operations too',
      ).choices(['stable', 'all'] as const),
    )
    .option('--samples <n>', 'time this many calls of each GET (default 5)')
    .option('--max-latency <limit>', 'fail above this, as 300ms or 300ms,max: p50, p95 (default) or max')
    .option('--tls-min-days <n>', 'fail when the certificate expires sooner (default 7)')
    .addOption(
      list('--report <report>', 'junit=<file>, tap=<file>, json=<file> or github; may be given again'),
    )
    .option('--force', 'let a report replace a file that is not a report')
    .option('--dry-run', 'list the checks, send nothing')
    .action(async (flags) => {
      const { smoke } = await import('./run.ts');
      await smoke(context, flags);
    });
}

function list<Flags extends string>(flags: Flags, description: string) {
  return new Option(flags, description).argParser(collect);
}
