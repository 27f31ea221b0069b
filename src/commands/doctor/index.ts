import { action } from '../../cli/verb.ts';
import { outputFormats } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { createPrinter, type Printer } from '../../output/print.ts';
import { plainStyle } from '../../output/style.ts';
import { examine } from './examine.ts';
import { checkNames, type Finding, findingsView } from './finding.ts';
import { findingLines } from './finding-lines.ts';

export const doctor = action({
  description:
    'Checks config, environment, permissions, token, DNS, connection, TLS, the answer of the service and the clock: a ' +
    'line each, ok, warn, fail or skip. Exits 0 where nothing failed, else with the code of the first failure: 2 for ' +
    'the config, 4 for the token, 6 where the service cannot be reached.',
  examples: ['petstore doctor', 'petstore doctor --profile staging', 'petstore doctor --offline -o json'],
  async run(context) {
    const printer = await context.printer().catch(() => plainPrinter(context));
    await printer.check(findingsView);
    if (readsLines(context, printer)) await collect(context, await createTeller(context));
    else await printer.records([await collect(context)], findingsView);
  },
});

/** A person at a terminal is told of each finding as it comes; the columns of a table exist where they are chosen. */
function readsLines({ io, flags }: Context, { format }: Printer): boolean {
  return format === 'table' && io.stdout.isTerminal && flags.fields === undefined && flags.sort === undefined;
}

type Teller = (finding: Finding) => Promise<void>;

async function createTeller({ io, style }: Context): Promise<Teller> {
  const ofStdout = await style('stdout').catch(() => plainStyle);
  return (finding) => io.stdout.write(findingLines(finding, ofStdout, io.stdout.columns));
}

/** All findings; the line says meanwhile which check takes so long. */
async function collect(context: Context, tell?: Teller): Promise<Finding[]> {
  const { io, statusLine } = context;
  const findings: Finding[] = [];
  const say = () => {
    const next = checkNames[findings.length];
    if (next && io.stderr.isTerminal && !context.quiet) statusLine.show(`checking ${next}`);
  };
  const release = statusLine.take();
  say();
  for await (const { finding, exitCode } of examine(context)) {
    context.exitCode ||= exitCode;
    findings.push(finding);
    await tell?.(finding);
    say();
  }
  release();
  return findings;
}

/** For settings that do not resolve: telling why is what this command is for. */
function plainPrinter({ io, flags }: Context): Printer {
  const { output, fields, sort, noHeader } = flags;
  return createPrinter(io, {
    format: outputFormats.find((format) => format === output) ?? 'table',
    fields: fields?.split(','),
    sort,
    header: !noHeader,
    color: 'auto',
    quiet: true,
  });
}
