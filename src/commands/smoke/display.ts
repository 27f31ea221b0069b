import type { Context } from '../../context.ts';
import { OutputClosedError } from '../../errors.ts';
import type { Printer } from '../../output/print.ts';
import type { CheckResult } from '../../smoke/check.ts';
import { toAnnotation } from '../../smoke/report/github.ts';
import { createHumanReport, type HumanReport } from '../../smoke/report/human.ts';
import { toCheck, toJsonReport } from '../../smoke/report/json.ts';
import { breakCommands } from '../../smoke/report/text.ts';
import type { SmokeReport } from '../../smoke/smoke.ts';
import { type Silence, watchSilence } from './silence.ts';
import { checksView } from './view.ts';

/** What a run shows while it goes on and when it ends. */
interface Display {
  begin(target: string, ids: readonly string[]): Promise<void>;
  result(result: CheckResult): Promise<void>;
  end(report: SmokeReport): Promise<void>;
  /** Why not all of it could be shown. */
  readonly failure: Error | undefined;
}

interface DisplayOptions {
  readonly write: boolean;
  /** GitHub's annotations after the report for people. */
  readonly annotations: boolean;
}

/**
 * The report for people is what stdout carries, unless a format for programs was asked for: then stdout carries that, and
 * the report goes to stderr. A reader that goes away, or a disk that is full, does not end a run.
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
      human = createHumanReport(style, ids, io[name].columns);
      await say(human.head({ target, write: options.write }));
      silence = watchSilence(context);
    },
    async result(result) {
      await say(human?.result(result));
      silence?.end();
    },
    async end(report) {
      silence?.close();
      await say(human?.end(report));
      if (options.annotations)
        await attempt(() => io[name].write(report.results.map(toAnnotation).join(''), { commands: true }));
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

/** What stdout carries. The columns of a table exist where they are chosen or sorted by. */
function dataFormat({ flags }: Context, { format }: Printer): 'people' | 'json' | 'records' {
  if (flags.fields !== undefined || flags.sort !== undefined) return 'records';
  if (format === 'table') return 'people';
  return format === 'json' ? 'json' : 'records';
}

function toRow(result: CheckResult) {
  const fields = Object.entries(toCheck(result));
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === 'string' ? breakCommands(value, '#\\x23') : value]),
  );
}
