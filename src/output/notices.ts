import { type LifecycleNotice, lifecycleLines } from '../api/lifecycle.ts';
import type { OperationId } from '../api/operations.ts';
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
  /**
   * Prints a notice that matters only if the command fails: once, on a terminal outside of CI or with -v. In a loop of a
   * script it would come each time. The error object of JSON carries it.
   */
  mention(line: string): Promise<void>;
  /** Life cycle notices (deprecation, stability) of the operations that this command used. */
  readonly lifecycle: Map<OperationId, LifecycleNotice>;
  /** Removes and returns the kept notices and the life cycle notices, one line each. The list is empty with --quiet. */
  take(): string[];
  /** Prints the kept notices, and those of the life cycle that the reader wants. */
  printAll(): Promise<void>;
}

interface NoticesOptions {
  readonly io: Io;
  readonly isQuiet: boolean;
  /** Whether an error is printed as JSON. */
  readonly hasJsonErrors: boolean;
  /**
   * Who reads stderr. With -v (`verbose`) mentions and all life cycle notices are shown; to a `person` at a terminal, outside
   * of CI, mentions and the notices about operations that end soon; in a `log` neither.
   */
  readonly reader: 'verbose' | 'person' | 'log';
  /** The words of the command, such as `pets get`. */
  readonly commandName: string;
}

export function createNotices(options: NoticesOptions): Notices {
  const { io, isQuiet, hasJsonErrors, reader, commandName } = options;
  const showsMentions = reader !== 'log';
  const keptNotices: string[] = [];
  const mentions = new Set<string>();
  const lifecycle = new Map<OperationId, LifecycleNotice>();
  const takeLifecycle = (wanted: NoticesOptions['reader']) => {
    const notices = [...lifecycle.values()];
    lifecycle.clear();
    if (wanted === 'verbose') return lifecycleLines(commandName, notices);
    const ending = wanted === 'person' ? notices.filter(({ isEnding }) => isEnding) : [];
    return lifecycleLines(
      commandName,
      ending.map((notice) => ({ ...notice, stability: undefined })),
    );
  };
  const tell = (line: string) => io.stderr.write(`${sanitize(line)}\n`).catch(() => {});
  const print = async (line: string) => {
    if (!isQuiet) await tell(line);
  };
  return {
    print,
    tell,
    async warn(line) {
      if (hasJsonErrors) keptNotices.push(line);
      else await print(line);
    },
    async mention(line) {
      if (mentions.has(line)) return;
      mentions.add(line);
      if (showsMentions && !hasJsonErrors) await print(line);
    },
    lifecycle,
    take() {
      const lines = [...mentions, ...keptNotices.splice(0), ...takeLifecycle('verbose')];
      return isQuiet ? [] : lines;
    },
    async printAll() {
      if (showsMentions && hasJsonErrors) for (const line of mentions) await print(line);
      for (const line of keptNotices.splice(0)) await print(line);
      for (const line of takeLifecycle(reader)) await print(line);
    },
  };
}
