import type { CheckResult } from '../../checks/check.ts';
import type { SmokeOptions } from '../../checks/options.ts';
import { createHumanReport, type HumanReport } from '../../checks/report/human.ts';
import { toCheck, toJsonReport } from '../../checks/report/json.ts';
import { toAnnotations } from '../../checks/report/markdown.ts';
import { breakCommands } from '../../checks/report/text.ts';
import type { SmokeReport } from '../../checks/smoke.ts';
import { monotonicMs } from '../../clock.ts';
import type { Context } from '../../context.ts';
import { OutputClosedError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { View } from '../../output/columns.ts';
import type { Printer } from '../../output/print.ts';

/** The output of a run, during it and at its end. */
interface Display {
  begin(target: string, ids: readonly string[]): Promise<void>;
  result(result: CheckResult): Promise<void>;
  /** The results of one run of several. */
  run(results: readonly CheckResult[]): Promise<void>;
  end(report: SmokeReport): Promise<void>;
  /** The error, if the output could not be written completely. */
  readonly failure: Error | undefined;
}

interface DisplayOptions extends Pick<SmokeOptions, 'write'> {
  readonly isRepeated: boolean;
  /** Failures and the total only. */
  readonly brief: boolean;
  /** GitHub's annotations after the report for people. */
  readonly annotations: boolean;
}

/**
 * Shows the report for people on stdout, or on stderr if stdout carries a structured format. A reader that goes away,
 * or a full disk, does not end a run.
 */
export async function createDisplay(context: Context, options: DisplayOptions): Promise<Display> {
  const { io } = context;
  const printer = await context.printer();
  const carries = dataFormat(context, printer);
  if (carries === 'records') await printer.check(checksView);
  const name = carries === 'people' ? 'stdout' : 'stderr';
  const style = await context.style(name);
  const isSilent = name === 'stderr' && context.quiet;
  let human: HumanReport | undefined;
  let silence: Silence | undefined;
  let failure: Error | undefined;
  let runs = 0;
  const attempt = async (write: () => Promise<void>) => {
    await write().catch((error: Error) => {
      if (!(error instanceof OutputClosedError)) failure ??= error;
    });
  };
  const say = async (text = '') => {
    if (!isSilent && text !== '') await attempt(() => io[name].write(text));
  };
  return {
    async begin(target, ids) {
      human = createHumanReport({ style, ids, columns: io[name].columns, brief: options.brief });
      await say(human.head({ target, write: options.write }));
      silence = watchSilence(context, options.isRepeated ? 'run' : 'check');
    },
    async result(result) {
      await say(human?.result(result));
      silence?.end();
    },
    async run(results) {
      runs += 1;
      await say(human?.run(runs, results));
      silence?.end();
    },
    async end(report) {
      silence?.close();
      await say(human?.end(report));
      if (options.annotations) await attempt(() => io[name].write(toAnnotations(report), { commands: true }));
      if (carries === 'json')
        await attempt(() => io.stdout.write(toJsonReport(report, io.stdout.isTerminal ? 2 : 0)));
      if (carries === 'records')
        await attempt(() => printer.records([report.results.map(toRow)], checksView));
    },
    get failure() {
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

function toRow(result: CheckResult): JsonObject {
  const fields = Object.entries(toCheck(result));
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === 'string' ? breakCommands(value, '#\\x23') : value]),
  );
}

const columns = ['id', 'result', 'seconds', 'reason'] as const;
const more = [
  ...['group', 'name', 'flaky', 'first', 'operation', 'expected', 'got', 'pointer', 'method', 'url'],
  ...['status', 'requestId', 'hint', 'made', 'runs', 'failures', 'latency'],
];

/** Results of checks as records, for the formats that programs read. */
export const checksView: View<JsonObject> = {
  noun: 'checks',
  columns: [
    ...columns.map((name) => ({ name, value: (check: JsonObject) => check[name] })),
    ...more.map((name) => ({ name, value: (check: JsonObject) => check[name], extra: true as const })),
  ],
};

/** A live line that shows that a run continues, if nothing was printed for a second. */
interface Silence {
  /** A result was shown. */
  end(): void;
  close(): void;
}

/** @param noun the counted things, for `end`. */
export function watchSilence({ quiet, liveLine }: Context, noun: 'check' | 'run' = 'check'): Silence {
  if (quiet) return { end: () => {}, close: () => {} };
  let told = 0;
  let since = monotonicMs();
  const close = liveLine.show(() => {
    const seconds = Math.floor((monotonicMs() - since) / 1000);
    const done = `${told} ${told === 1 ? `${noun} is` : `${noun}s are`} done`;
    // Nothing is requested between two runs.
    const what = noun === 'check' ? 'for the service ' : '';
    return seconds === 0 ? undefined : `waiting ${what}${seconds} s, ${done}`;
  });
  return {
    end() {
      told += 1;
      since = monotonicMs();
    },
    close,
  };
}
