import type { SmokeOptions } from '../../checks/options.ts';
import { toAnnotations } from '../../checks/report/github-report.ts';
import { toHumanReport } from '../../checks/report/human-report.ts';
import { toCheck, toJsonReport } from '../../checks/report/json-report.ts';
import type { Reports } from '../../checks/report/report-files.ts';
import type { SmokeReport } from '../../checks/report/smoke-report.ts';
import { isRepeated, type Observer } from '../../checks/run-smoke.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/columns.ts';
import type { Printer } from '../../output/print.ts';
import { monotonicMs } from '../../process/deadline.ts';
import { OutputClosedError } from '../../process/errors.ts';

interface DisplayOptions {
  readonly options: SmokeOptions;
  /** Failures and the total only. */
  readonly brief: boolean;
  readonly reports: Reports;
}

interface SmokeDisplay extends Observer {
  /** Prints the report. @returns the error, if it could not be written completely. */
  end(report: SmokeReport): Promise<Error[]>;
}

/**
 * Shows the current check on the live line, and at the end the report for people: on stdout, or on stderr if stdout
 * carries a structured format. A reader that goes away, or a full disk, does not end a run.
 */
export async function createDisplay(
  context: Context,
  { options, brief, reports }: DisplayOptions,
): Promise<SmokeDisplay> {
  const { io, quiet, liveLine } = context;
  const printer = await context.printer();
  const carries = dataFormat(context, printer);
  if (carries === 'records') await printer.check(checksView);
  const name = carries === 'people' ? 'stdout' : 'stderr';
  const style = await context.style(name);
  let now = '';
  let runs = 0;
  let since = monotonicMs();
  const hide = quiet
    ? () => {}
    : liveLine.show(() => {
        const seconds = Math.floor((monotonicMs() - since) / 1000);
        return seconds === 0 ? now : `${now}, ${seconds} s`;
      });
  return {
    check(id, at, count) {
      if (at === 1) runs += 1;
      now = `${isRepeated(options) ? `run ${runs}: ` : ''}${id} (${at} of ${count})`;
      since = monotonicMs();
    },
    print: context.print,
    async end(report) {
      hide();
      const failures: Error[] = [];
      const tryTo = async (write: () => Promise<void>) => {
        await write().catch((error: Error) => {
          if (!(error instanceof OutputClosedError)) failures.push(error);
        });
      };
      const isSilent = name === 'stderr' && context.quiet;
      const text = isSilent ? '' : toHumanReport(report, { style, width: io[name].width, brief });
      if (text !== '') await tryTo(() => io[name].write(text));
      if (reports.github) await tryTo(() => io[name].write(toAnnotations(report), { commands: true }));
      if (carries === 'json')
        await tryTo(() => io.stdout.write(toJsonReport(report, io.stdout.isTerminal ? 2 : 0)));
      if (carries === 'records')
        await tryTo(() => printer.records([report.results.map(toCheck)], checksView));
      return failures.slice(0, 1);
    },
  };
}

/** The structured output on stdout. A table has columns only if they are chosen or sorted by. */
function dataFormat({ flags }: Context, { format }: Printer): 'people' | 'json' | 'records' {
  if (flags.fields !== undefined || flags.sort !== undefined) return 'records';
  if (format === 'table') return 'people';
  return format === 'json' ? 'json' : 'records';
}

type CheckRecord = ReturnType<typeof toCheck>;

const columns: readonly (keyof CheckRecord)[] = ['id', 'result', 'seconds', 'reason'];
const more: readonly (keyof CheckRecord)[] = [
  ...(['group', 'name', 'first', 'operation', 'expected', 'got', 'pointer', 'method', 'url'] as const),
  ...(['status', 'requestId', 'cache', 'hint', 'left', 'runs', 'failures', 'latency'] as const),
];

/** Results of checks as records, for the formats that programs read. */
const checksView: View<CheckRecord> = {
  noun: 'checks',
  columns: [
    ...columns.map((name) => ({ name, value: (check: CheckRecord) => check[name] })),
    ...more.map((name) => ({ name, value: (check: CheckRecord) => check[name], extra: true as const })),
  ],
};
