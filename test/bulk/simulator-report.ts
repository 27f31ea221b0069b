import {
  type Command,
  type ListedRun,
  namedCommand,
  rightStates,
  Violation,
  wrongStates,
} from './simulator-command.ts';

interface Facts {
  /** The run as it is listed afterwards. */
  readonly listed: ListedRun | undefined;
  /** Whether the command sent a write. */
  readonly hasSent: boolean;
  /** How many rows of the run were written. */
  readonly written: number;
  /** Whether nothing keeps the command from settling all rows. */
  readonly isCalm: boolean;
}

/** Checks the sums, the exit code and the way on that a command reports. */
export function checkReport(command: Command, { listed, hasSent, written, isCalm }: Facts): void {
  const { number, words, code, summary, error, stderr, isFull } = command;
  const place = `command ${number}, exit ${code}`;
  if (/internal:|TypeError|RangeError/.test(stderr)) throw new Violation(`${place}: ${stderr}`);
  if (hasSent && (words.includes('--dry-run') || !words.includes('--yes')))
    throw new Violation(`${place}: it wrote, although nobody confirmed it`);
  // Guards are those of the command that is typed.
  const isAgain = words[0] === 'undo' || words[0] === 'resume';
  if (error?.code === 'guard' && isAgain && !String(error.message).includes('adds what it is told'))
    throw new Violation(`${place}: a guard that nobody has typed`);
  if (code === 2 && hasSent) throw new Violation(`${place}: it wrote`);
  if (!summary || typeof summary.rows !== 'number') {
    if (hasSent) throw new Violation(`${place}: it wrote, and reports nothing: ${stderr}`);
    if (code === 0 && error) throw new Violation(`${place}: ${stderr}`);
    return;
  }
  const count = (name: string) => Number(summary[name] ?? 0);
  const total = (names: readonly string[]) => names.reduce((sum, name) => sum + count(name), 0);
  const sum = total([...rightStates, ...wrongStates]);
  if (sum !== summary.rows) throw new Violation(`${place}: ${summary.rows} rows, and the states make ${sum}`);
  for (const name of ['rows', ...rightStates, ...wrongStates])
    if (listed?.id === summary.id && Number(listed?.[name] ?? 0) !== count(name) && !isFull)
      throw new Violation(
        `${place}: ${name} is ${summary[name]} in the summary and ${listed?.[name]} in runs`,
      );
  const others = total(['failed', 'invalid', 'unprocessed', 'booked', 'skipped']);
  if (others > summary.rows - written)
    throw new Violation(`${place}: ${others} of ${summary.rows} rows were not written, and ${written} were`);
  const open = total(['unprocessed', 'unsettled']);
  if (isCalm && open > 0) throw new Violation(`${place}: ${open} rows are left in a healthy service`);
  checkExit(command, count, total, place);
  const isInWords = /look|wait|by hand/.test(String(error?.hint));
  if (count('unprocessed') > 0 && summary.id !== undefined && !namedCommand(command) && !isInWords)
    throw new Violation(`${place}: rows are left, and no way on is named: ${stderr}`);
}

function checkExit(
  { code, error, wasSignalled, isFull, summary }: Command,
  count: (name: string) => number,
  total: (names: readonly string[]) => number,
  place: string,
): void {
  if (wasSignalled && code === 130) return;
  const wrong = total(wrongStates);
  if (wrong === 0 && code === 0) return;
  const isNoneRight = total(['applied', 'unchanged', 'booked']) === 0;
  const noneRight = count('unknown') === wrong ? 6 : count('unknown') > 0 ? 3 : 1;
  const expected = wrong === 0 ? 0 : isNoneRight ? noneRight : 3;
  // A stop outranks the rows.
  const isStopped =
    isFull ||
    count('unprocessed') > 0 ||
    summary?.stopped !== undefined ||
    /stopped/.test(String(error?.message));
  const isStop = isStopped && [1, 3, 4, 6].includes(code);
  const isUndo = summary?.kind === 'undo' && wrong > 0 && code === 3;
  if (code !== expected && !isStop && !isUndo)
    throw new Violation(
      `${place}: it must be ${expected}: ${JSON.stringify(summary)} ${JSON.stringify(error)}`,
    );
}
