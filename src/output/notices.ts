import type { Io } from '../process/io.ts';
import { sanitize } from '../process/text.ts';

/** The lines for people that a command prints on stderr, besides progress and errors. */
export interface Notices {
  /**
   * Prints a line with control characters made visible; prints nothing with --quiet. It never rejects, because a closed
   * stderr must not change what the command does.
   */
  print(line: string): Promise<void>;
  /** Prints a line that --quiet does not hide: a plan, a summary, a danger. It never rejects. */
  tell(line: string): Promise<void>;
  /**
   * Prints a notice about what the command does. If errors are printed as JSON, stderr may hold only the error object: the
   * notice is then kept, and the error object carries it.
   */
  warn(line: string): Promise<void>;
  /** Prints a notice on a terminal outside of CI or with -v: in a loop of a script it would come each time. */
  mention(line: string): Promise<void>;
  /** Removes and returns the kept notices. The list is empty with --quiet. */
  take(): string[];
}

interface NoticesOptions {
  readonly io: Io;
  readonly isQuiet: boolean;
  readonly hasJsonErrors: boolean;
  /** True if mentions are shown: with -v, and on a terminal outside of CI. */
  readonly showsMentions: boolean;
}

export function createNotices(options: NoticesOptions): Notices {
  const { io, isQuiet, hasJsonErrors, showsMentions } = options;
  const keptNotices: string[] = [];
  const tell = (line: string) => io.stderr.write(`${sanitize(line)}\n`).catch(() => {});
  const print = async (line: string) => {
    if (!isQuiet) await tell(line);
  };
  const warn = async (line: string) => {
    if (!hasJsonErrors) await print(line);
    else if (!isQuiet) keptNotices.push(line);
  };
  return {
    print,
    tell,
    warn,
    async mention(line) {
      if (showsMentions) await warn(line);
    },
    take: () => keptNotices.splice(0),
  };
}
