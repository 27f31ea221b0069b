import type { Io, OutputStream } from '../io.ts';

/** One line at the foot of the terminal that says what goes on. */
export interface StatusLine {
  /** Draws the line, or draws it anew; the text fits the terminal. */
  show(text: string): void;
  clear(): void;
}

const eraseLine = '\r\x1b[K';

/** The line, and the streams by which everything else is written: a write to the terminal takes the line away first. */
export function createStatusLine(io: Io): { readonly io: Io; readonly line: StatusLine } {
  let isShown = false;
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
  };
  const stdout = writingAfter(io.stdout, () => {
    if (io.stdout.isTerminal) line.clear();
  });
  return { io: { ...io, stdout, stderr: writingAfter(io.stderr, line.clear) }, line };
}

/** The stream itself, asked nothing before it is used: a start pays for no terminal that it does not need. */
function writingAfter(output: OutputStream, prepare: () => void): OutputStream {
  return {
    get isTerminal() {
      return output.isTerminal;
    },
    get columns() {
      return output.columns;
    },
    get stream() {
      return output.stream;
    },
    write(data) {
      prepare();
      return output.write(data);
    },
  };
}
