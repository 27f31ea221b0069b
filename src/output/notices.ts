import type { Io } from '../process/io.ts';
import { sanitize } from '../process/text.ts';

/** The lines for people that a command prints on stderr, besides progress and errors. None rejects: a closed stderr changes nothing. */
export interface Notices {
  /** Prints what the command is doing or has done, with control characters made visible. Prints nothing with --quiet. */
  printStatus(line: string): Promise<void>;
  /** Prints a line that --quiet does not hide: a plan, a summary, a danger. */
  printSummary(line: string): Promise<void>;
  /**
   * Prints a note or a warning. If errors are printed as JSON, stderr may hold only the error object: the line is then kept,
   * and the error object carries it.
   */
  printNotice(line: string): Promise<void>;
  /** Prints a notice on a terminal outside of CI or with -v: in a loop of a script it would come each time. */
  printRemark(line: string): Promise<void>;
  /** Removes and returns the kept notices. The list is empty with --quiet. */
  take(): string[];
}

interface NoticesOptions {
  readonly io: Io;
  readonly isQuiet: boolean;
  readonly hasJsonErrors: boolean;
  /** True with -v, and on a terminal outside of CI. */
  readonly showsRemarks: boolean;
}

export function createNotices(options: NoticesOptions): Notices {
  const { io, isQuiet, hasJsonErrors, showsRemarks } = options;
  const keptNotices: string[] = [];
  const printSummary = (line: string) => io.stderr.write(`${sanitize(line)}\n`).catch(() => {});
  const printStatus = async (line: string) => {
    if (!isQuiet) await printSummary(line);
  };
  const printNotice = async (line: string) => {
    if (!hasJsonErrors) await printStatus(line);
    else if (!isQuiet) keptNotices.push(line);
  };
  return {
    printStatus,
    printSummary,
    printNotice,
    async printRemark(line) {
      if (showsRemarks) await printNotice(line);
    },
    take: () => keptNotices.splice(0),
  };
}
