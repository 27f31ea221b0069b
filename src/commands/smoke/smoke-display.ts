import type { SmokeOptions } from '../../checks/ask.ts';
import { toAnnotations, toHumanReport } from '../../checks/report/human-report.ts';
import { toJsonReport } from '../../checks/report/machine-reports.ts';
import type { Reports } from '../../checks/report/report-files.ts';
import type { SmokeReport } from '../../checks/report/smoke-report.ts';
import { isRepeated, type Observer } from '../../checks/run-smoke.ts';
import type { Context } from '../../context.ts';
import { monotonicMs } from '../../process/deadline.ts';
import { OutputClosedError, UsageError } from '../../process/errors.ts';

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
 * carries JSON. A reader that goes away, or a full disk, does not end a run.
 */
export async function createDisplay(
  context: Context,
  { options, brief, reports }: DisplayOptions,
): Promise<SmokeDisplay> {
  const { io, quiet, liveLine } = context;
  const { format } = await context.printer();
  // A format of the config or the environment is meant for records.
  const { output = 'table' } = context.flags;
  if (output !== 'table' && output !== 'json')
    throw new UsageError(`-o ${output}: smoke prints a report for people, or with -o json the JSON report`);
  const name = format === 'json' ? 'stderr' : 'stdout';
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
      if (format === 'json')
        await tryTo(() => io.stdout.write(toJsonReport(report, io.stdout.isTerminal ? 2 : 0)));
      return failures.slice(0, 1);
    },
  };
}
