import type { Io } from '../process/io.ts';
import { withoutColor } from './style.ts';

/** A line at the end of the terminal that shows the current activity, and is redrawn in place. */
export interface LiveLine {
  /** Whether stderr is a terminal on which a line can be redrawn. If not, nothing is drawn. */
  readonly canDraw: boolean;
  /**
   * Shows an activity until the returned function is called. An activity that begins while another one is shown is not shown.
   *
   * @param text called ten times a second with the columns of the terminal. It returns undefined while there is nothing to
   *   show.
   */
  show(text: (width: number) => string | undefined): () => void;
  /** Erases the line before other output; the next drawing restores it. */
  clear(): void;
  /** Erases the line and ends the activity. */
  close(): void;
}

export const eraseLine = '\r\x1b[K';
const redrawIntervalMs = 100;

export function createLiveLine({ stderr, env, mask }: Pick<Io, 'stderr' | 'env' | 'mask'>): LiveLine {
  let timer: NodeJS.Timeout | undefined;
  let visibleText: string | undefined;
  const write = (text: string) => void stderr.write(mask(text)).catch(() => {});
  const clear = () => {
    if (visibleText !== undefined) write(eraseLine);
    visibleText = undefined;
  };
  const close = () => {
    clear();
    clearInterval(timer);
    timer = undefined;
  };
  return {
    get canDraw() {
      return stderr.isTerminal && !env.CI && env.TERM !== 'dumb';
    },
    show(text) {
      if (!this.canDraw || timer) return () => {};
      const draw = () => {
        const width = stderr.width ?? 80;
        const line = text(width);
        if (line === undefined) return clear();
        const plain = withoutColor(line);
        // The ^C that a terminal shows after the line must not wrap it.
        const fitting = plain.length < width - 2 ? line : plain.slice(0, width - 3);
        if (fitting === visibleText) return;
        write(eraseLine + fitting);
        visibleText = fitting;
      };
      timer = setInterval(draw, redrawIntervalMs).unref();
      return close;
    },
    clear,
    close,
  };
}
