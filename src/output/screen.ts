import type { Io } from '../process/io.ts';

/** A part of the terminal that is redrawn in place, for `--watch`. */
export interface Screen {
  /** Returns how many lines it shows. */
  height(): number;
  /**
   * Draws these lines over the previous ones. Lines beyond the terminal's height become one line `… n more lines`; the
   * terminal cuts a line that is too long. Colour sequences are kept.
   */
  draw(lines: readonly string[]): Promise<void>;
  /** Shows the cursor again, below the last drawing. Safe to call twice. */
  close(): Promise<void>;
}

const hideCursor = '\x1b[?25l';
const showCursor = '\x1b[?25h';
/** Makes the terminal cut a line that is too long, instead of wrapping it. */
const cutLines = '\x1b[?7l';
const foldLines = '\x1b[?7h';
const home = '\x1b[H';
const eraseRestOfLine = '\x1b[K';
const eraseBelow = '\x1b[J';

/** Whether stdout is a terminal that can move its cursor. */
export function canRedraw({ stdout, env }: Io): boolean {
  return stdout.isTerminal && env.TERM !== 'dumb';
}

/**
 * Opens a screen on stdout. The first drawing scrolls the terminal's content up, so that none of it is lost. Each
 * drawing is one write that erases only what it does not overwrite, so that nothing flickers.
 */
export function openScreen({ stdout }: Io): Screen {
  let isOpen = false;
  // The last line of the terminal is reserved for the live line.
  const height = () => (stdout.height ?? 24) - 1;
  return {
    height,
    async draw(lines) {
      const begin = isOpen ? home : `${hideCursor}${'\n'.repeat(height())}${home}`;
      isOpen = true;
      const body = fitHeight(lines, height()).map((line) => `${line}${eraseRestOfLine}\n`);
      await stdout.write(`${begin}${cutLines}${body.join('')}${foldLines}${eraseBelow}`);
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await stdout.write(`\r${eraseRestOfLine}${showCursor}`).catch(() => {});
    },
  };
}

function fitHeight(lines: readonly string[], height: number): readonly string[] {
  if (lines.length <= height) return lines;
  const visibleLines = lines.slice(0, Math.max(0, height - 1));
  return [...visibleLines, `… ${lines.length - visibleLines.length} more lines`];
}
