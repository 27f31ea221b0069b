import { type Command, type ListedRun, namedCommand, Violation } from './simulator-command.ts';

const right = ['applied', 'unchanged', 'booked', 'skipped'] as const;
const wrong = ['failed', 'unknown', 'invalid', 'unprocessed', 'unsettled'] as const;

/**
 * The sums, the exit code and the way on that a command reports.
 *
 * @param run the run as it is listed afterwards. @param wrote whether the command sent a write.
 */
export function checkReport(command: Command, run: ListedRun | undefined, wrote: boolean): void {
  const { number, words, code, summary, error, stderr, step } = command;
  const place = `command ${number}, exit ${code}`;
  if (/internal:|TypeError|RangeError/.test(stderr)) throw new Violation(`${place}: ${stderr}`);
  if (wrote && (words.includes('--dry-run') || !words.includes('--yes')))
    throw new Violation(`${place}: it wrote, although nobody confirmed it`);
  // Guards are those of the command that is typed.
  const isAgain = words[0] === 'undo' || words[0] === 'resume';
  const isAdding = String(error?.message).includes('adds what it is told');
  if (error?.code === 'guard' && isAgain && !isAdding)
    throw new Violation(`${place}: a guard that nobody has typed`);
  if (code === 2 && wrote) throw new Violation(`${place}: it wrote`);
  if (step.kind === 'single') return;
  if (!summary || typeof summary.rows !== 'number') {
    if (wrote) throw new Violation(`${place}: it wrote, and reports nothing`);
    if (code === 0 && error) throw new Violation(`${place}: ${stderr}`);
    return;
  }
  const count = (name: string) => Number(summary[name] ?? 0);
  const total = (names: readonly string[]) => names.reduce((sum, name) => sum + count(name), 0);
  if (total([...right, ...wrong]) !== summary.rows)
    throw new Violation(`${place}: ${summary.rows} rows, and the states make ${total([...right, ...wrong])}`);
  for (const name of ['rows', ...right, ...wrong])
    if (run && run.id === summary.id && Number(run[name] ?? 0) !== count(name))
      throw new Violation(`${place}: ${name} is ${summary[name]} in the summary and ${run[name]} in runs`);
  checkExit(command, count, total, place);
  const isInWords = /look|wait|by hand/.test(String(error?.hint));
  if (count('unprocessed') > 0 && summary.id !== undefined && !namedCommand(command) && !isInWords)
    throw new Violation(`${place}: rows are left, and no way on is named: ${stderr}`);
}

function checkExit(
  { code, error, wasSignalled, summary }: Command,
  count: (name: string) => number,
  total: (names: readonly string[]) => number,
  place: string,
): void {
  if (wasSignalled && code === 130) return;
  const wrongs = total(wrong);
  if (wrongs === 0 && code === 0) return;
  const isNoneRight = count('applied') + count('unchanged') + count('booked') === 0;
  const isAllUnknown = count('unknown') === wrongs;
  const expected = wrongs === 0 ? 0 : !isNoneRight ? 3 : isAllUnknown ? 6 : count('unknown') > 0 ? 3 : 1;
  // A stop outranks the rows.
  const isStopped =
    count('unprocessed') > 0 || summary?.stopped !== undefined || String(error?.message).includes('stopped');
  const isStop = isStopped && [1, 4, 6].includes(code);
  // An undo that leaves rows alone has done its work.
  const isUndone = (summary?.session as { rows?: number } | undefined)?.rows === 0 && code === 0;
  const isUndo = summary?.kind === 'undo' && wrongs > 0 && (code === 3 || isUndone);
  if (code !== expected && !isStop && !isUndo)
    throw new Violation(
      `${place}: it must be ${expected}: ${JSON.stringify(summary)} ${JSON.stringify(error)}`,
    );
}
