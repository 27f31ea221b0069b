import type { Io } from '../process/io.ts';
import { withoutColor } from './style.ts';

/** A line at the end of the terminal that shows the current activity, and is redrawn in place. */
export interface LiveLine {
  /** Whether stderr is a terminal on which a line can be redrawn. If not, nothing is drawn. */
  readonly canDraw: boolean;
  /**
   * Shows an activity until the returned function is called. Of several activities it shows the one that began first.
   *
   * @param text called ten times a second with the columns of the terminal. It returns undefined while there is nothing to
   *   show.
   */
  show(text: (width: number) => string | undefined): () => void;
  /** Erases the line before other output; the next drawing restores it. */
  clear(): void;
  /** Erases the line and ends all activities. */
  close(): void;
}

export const eraseLine = '\r\x1b[K';
const redrawIntervalMs = 100;

export function createLiveLine({ stderr, env, mask }: Pick<Io, 'stderr' | 'env' | 'mask'>): LiveLine {
  const activities: ((width: number) => string | undefined)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let visibleText: string | undefined;
  const write = (text: string) => void stderr.write(mask(text)).catch(() => {});
  const clear = () => {
    if (visibleText !== undefined) write(eraseLine);
    visibleText = undefined;
  };
  const draw = () => {
    const width = stderr.width ?? 80;
    const text = activities[0]?.(width);
    if (text === undefined) return clear();
    const plain = withoutColor(text);
    const fitting = plain.length < width ? text : plain.slice(0, width - 1);
    if (fitting === visibleText) return;
    write(eraseLine + fitting);
    visibleText = fitting;
  };
  const line: LiveLine = {
    get canDraw() {
      return stderr.isTerminal && !env.CI && env.TERM !== 'dumb';
    },
    show(text) {
      if (!line.canDraw) return () => {};
      activities.push(text);
      timer ??= setInterval(draw, redrawIntervalMs).unref();
      return () => {
        const at = activities.indexOf(text);
        if (at !== -1) activities.splice(at, 1);
        if (at === 0) clear();
        if (activities.length === 0) line.close();
      };
    },
    clear,
    close() {
      activities.length = 0;
      clear();
      clearInterval(timer);
      timer = undefined;
    },
  };
  return line;
}
