import type { CheckResult } from '../../checks/check.ts';
import type { SmokeOptions } from '../../checks/options.ts';
import { HumanReport } from '../../checks/report/human.ts';
import { toCheck, toJsonReport } from '../../checks/report/json.ts';
import { toAnnotations } from '../../checks/report/markdown.ts';
import type { SmokeReport } from '../../checks/report/report.ts';
import { isRepeated } from '../../checks/smoke.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/columns.ts';
import type { Printer } from '../../output/print.ts';
import { monotonicMs } from '../../process/deadline.ts';
import { OutputClosedError } from '../../process/errors.ts';

interface DisplayOptions {
  /** The name of the service. */
  readonly target: string;
  /** Of all checks that may come. */
  readonly ids: readonly string[];
  readonly options: SmokeOptions;
  /** Failures and the total only. */
  readonly brief: boolean;
  /** GitHub's annotations after the report for people. */
  readonly annotations: boolean;
}

/**
 * Shows the report for people on stdout, or on stderr if stdout carries a structured format. A reader that goes away,
 * or a full disk, does not end a run.
 */
export async function createDisplay(
  context: Context,
  { target, ids, options, brief, annotations }: DisplayOptions,
) {
  const { io } = context;
  const printer = await context.printer();
  const carries = dataFormat(context, printer);
  if (carries === 'records') await printer.check(checksView);
  const name = carries === 'people' ? 'stdout' : 'stderr';
  const style = await context.style(name);
  const isSilent = name === 'stderr' && context.quiet;
  const human = new HumanReport({ style, ids, width: io[name].width, brief });
  let failure: Error | undefined;
  const tryTo = async (write: () => Promise<void>) => {
    await write().catch((error: Error) => {
      if (!(error instanceof OutputClosedError)) failure ??= error;
    });
  };
  const say = async (text: string) => {
    if (!isSilent && text !== '') await tryTo(() => io[name].write(text));
  };
  await say(human.head({ target, write: options.write }));
  const silence = watchSilence(context, isRepeated(options) ? 'run' : 'check');
  return {
    async result(result: CheckResult) {
      await say(human.result(result));
      silence.end();
    },
    async run(results: readonly CheckResult[]) {
      await say(human.run(results));
      silence.end();
    },
    notice: context.print,
    /** @returns the error, if the output could not be written completely. */
    async end(report: SmokeReport): Promise<Error | undefined> {
      silence.close();
      await say(human.end(report));
      if (annotations) await tryTo(() => io[name].write(toAnnotations(report), { commands: true }));
      if (carries === 'json')
        await tryTo(() => io.stdout.write(toJsonReport(report, io.stdout.isTerminal ? 2 : 0)));
      if (carries === 'records')
        await tryTo(() => printer.records([report.results.map(toCheck)], checksView));
      return failure;
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
  ...(['group', 'name', 'flaky', 'first', 'operation', 'expected', 'got', 'pointer', 'method'] as const),
  ...(['url', 'status', 'requestId', 'hint', 'made', 'runs', 'failures', 'latency'] as const),
];

/** Results of checks as records, for the formats that programs read. */
const checksView: View<CheckRecord> = {
  noun: 'checks',
  columns: [
    ...columns.map((name) => ({ name, value: (check: CheckRecord) => check[name] })),
    ...more.map((name) => ({ name, value: (check: CheckRecord) => check[name], extra: true as const })),
  ],
};

/**
 * A live line that shows that a run continues, if nothing was printed for a second.
 *
 * @param noun the counted things.
 */
export function watchSilence({ quiet, liveLine }: Context, noun: 'check' | 'run' = 'check') {
  let told = 0;
  let since = monotonicMs();
  const text = () => {
    const seconds = Math.floor((monotonicMs() - since) / 1000);
    const done = `${told} ${told === 1 ? `${noun} is` : `${noun}s are`} done`;
    // Nothing is requested between two runs.
    const what = noun === 'check' ? 'for the service ' : '';
    return seconds === 0 ? undefined : `waiting ${what}${seconds} s, ${done}`;
  };
  return {
    /** A result was shown. */
    end() {
      told += 1;
      since = monotonicMs();
    },
    close: quiet ? () => {} : liveLine.show(text),
  };
}
