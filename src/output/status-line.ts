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

/** The line, and the streams by which everything else is written: a write to the terminal takes the line away first. */
export function createStatusLine(io: Io): { readonly io: Io; readonly line: StatusLine } {
  let isShown = false;
  let takers = 0;
  const draw = (text: string) => void io.stderr.write(text).catch(() => {});
  const line: StatusLine = {
    show(text) {
      isShown = true;
      draw(`${eraseLine}${text}`);
    },
    clear() {
      if (isShown) draw(eraseLine);
      isShown = false;
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
  const stdout = withWrite(io.stdout, (data) => {
    if (io.stdout.isTerminal) line.clear();
    return io.stdout.write(data);
  });
  const stderr = withWrite(io.stderr, (data) => {
    line.clear();
    return io.stderr.write(data);
  });
  return { io: { ...io, stdout, stderr }, line };
}
