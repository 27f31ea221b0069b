import type { Io, OutputStream } from '../process/io.ts';
import type { Mask, Secrets } from '../process/secrets.ts';
import { breakRunnerCommands } from '../process/text.ts';
import { withoutColor } from './style.ts';

/**
 * Opens a live line, and makes stdout and stderr safe to write to. They erase the live line first, and in a CI job break up text that
 * the runner would take for a command, except data (`isRaw`). stderr also masks the secrets; stdout has records, which are never
 * masked. See `Secrets.mask` for texts that are cut.
 */
export function openStreams(io: Io, { mask }: Secrets): { readonly io: Io; readonly liveLine: LiveLine } {
  const { env } = io;
  const isCiJob = Boolean(env.GITHUB_ACTIONS || env.GITLAB_CI || env.TF_BUILD);
  const liveLine = createLiveLine(io, mask);
  const toSafe = (output: OutputStream, maskText: Mask): OutputStream => {
    const write: OutputStream['write'] = (data, options) => {
      if (output.isTerminal) liveLine.clear();
      if (typeof data !== 'string') return output.write(data);
      const text = maskText(data);
      return output.write(isCiJob && !options?.isRaw ? breakRunnerCommands(text) : text);
    };
    // The other properties stay getters, because asking a terminal takes time.
    return Object.create(output, { write: { value: write } });
  };
  return {
    io: { ...io, stdout: toSafe(io.stdout, (text) => text), stderr: toSafe(io.stderr, mask) },
    liveLine,
  };
}

/** A line at the end of the terminal that is redrawn in place, such as a bar. */
export interface LiveLine {
  /** True if stderr is a terminal on which a line can be redrawn. */
  readonly canDraw: boolean;
  /** Draws the line ten times a second until it is closed. @param text returns the line for a width of the terminal. */
  show(text: (width: number) => string): void;
  /** Erases the line before other output. The next drawing restores it. */
  clear(): void;
  close(): void;
}

const eraseLine = '\r\x1b[K';
const redrawIntervalMs = 100;

function createLiveLine({ stderr, env }: Io, mask: Mask): LiveLine {
  let timer: NodeJS.Timeout | undefined;
  let visibleText: string | undefined;
  const write = (text: string) => void stderr.write(mask(text)).catch(() => {});
  const clear = () => {
    if (visibleText !== undefined) write(eraseLine);
    visibleText = undefined;
  };
  return {
    get canDraw() {
      return stderr.isTerminal && !env.CI && env.TERM !== 'dumb';
    },
    show(text) {
      const draw = () => {
        const width = stderr.width ?? 80;
        const line = text(width);
        const plain = withoutColor(line);
        // There must be room for the ^C that a terminal shows after the line.
        const fittingLine = plain.length < width - 2 ? line : plain.slice(0, width - 3);
        if (fittingLine !== visibleText) write(eraseLine + fittingLine);
        visibleText = fittingLine;
      };
      timer = setInterval(draw, redrawIntervalMs).unref();
    },
    clear,
    close() {
      clear();
      clearInterval(timer);
    },
  };
}
