import { type Io, withWrite } from '../io.ts';

/** One line at the foot of the terminal that says what goes on. */
export interface StatusLine {
  /** Draws the line, or draws it anew; the text fits the terminal. */
  show(text: string): void;
  clear(): void;
  /** Keeps the line for one work until the returned function is called; what only waits stays silent. */
  take(): () => void;
  readonly isTaken: boolean;
}

const eraseLine = '\r\x1b[K';

/**
 * Takes away a line of so many columns. A terminal that was narrowed meanwhile has folded it over several; only xterm cuts
 * it off, and what stands above there is another's.
 */
function erase(width: number, { stderr, env }: Io): string {
  const columns = stderr.columns ?? width;
  const folds = env.XTERM_VERSION || width === 0 ? 0 : Math.ceil(width / columns) - 1;
  return folds > 0 ? `\r\x1b[${folds}A\x1b[J` : eraseLine;
}

/** Every character of the line takes one column, but those that colour it. */
function widthOf(text: string): number {
  return Array.from(text.replace(/\x1b\[[\d;]*m/g, '')).length;
}

/** The line, and the streams by which everything else is written: a write to the terminal takes the line away first. */
export function createStatusLine(io: Io): { readonly io: Io; readonly line: StatusLine } {
  let width: number | undefined;
  let takers = 0;
  const draw = (text: string) => void io.stderr.write(text).catch(() => {});
  const line: StatusLine = {
    show(text) {
      draw(`${erase(width ?? 0, io)}${text}`);
      width = widthOf(text);
    },
    clear() {
      if (width !== undefined) draw(erase(width, io));
      width = undefined;
    },
    take() {
      takers += 1;
      return () => {
        takers -= 1;
        line.clear();
      };
    },
    get isTaken() {
      return takers > 0;
    },
  };
  const stdout = withWrite(io.stdout, (...written) => {
    if (io.stdout.isTerminal) line.clear();
    return io.stdout.write(...written);
  });
  const stderr = withWrite(io.stderr, (...written) => {
    line.clear();
    return io.stderr.write(...written);
  });
  return { io: { ...io, stdout, stderr }, line };
}
