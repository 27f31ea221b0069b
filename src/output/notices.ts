import { type LifecycleNotice, lifecycleLines } from '../api/lifecycle.ts';
import type { OperationId } from '../api/operations.ts';
import type { Io } from '../process/io.ts';
import { toProse } from './fold.ts';

/** What a command prints for a person on stderr, beside progress and errors. */
export interface Notices {
  /**
   * Writes a line for people to stderr, with control characters made visible; writes nothing with --quiet. Never
   * rejects: a closed stderr must not change what the command does.
   */
  print(line: string): Promise<void>;
  /**
   * A notice about what the command does. If errors are printed as JSON, stderr holds nothing else: the note is kept
   * until the end, and the error object carries it.
   */
  warn(line: string): Promise<void>;
  /** Life cycle notices (deprecation, stability) of the operations that this command used. */
  readonly lifecycle: Map<OperationId, LifecycleNotice>;
  /** Removes and returns the kept notes and the life cycle notices, one line each; an empty list if quiet. */
  take(): string[];
  /** Writes them to stderr; the life cycle notices only if somebody may act on them. */
  printAll(): Promise<void>;
}

interface NoticesOptions {
  readonly io: Io;
  readonly isQuiet: boolean;
  /** Whether an error is printed as JSON. */
  readonly hasJsonErrors: boolean;
  /** Whether life cycle notices are shown: on a terminal outside of CI, or with -v. */
  readonly showsLifecycle: boolean;
  /** Such as `pets get`. */
  readonly commandName: string;
}

export function createNotices(options: NoticesOptions): Notices {
  const { io, isQuiet, hasJsonErrors, showsLifecycle, commandName } = options;
  const notes: string[] = [];
  const lifecycle = new Map<OperationId, LifecycleNotice>();
  const takeLifecycle = () => {
    const lines = lifecycleLines(commandName, lifecycle.values());
    lifecycle.clear();
    return lines;
  };
  const print = async (line: string) => {
    if (!isQuiet) await io.stderr.write(`${toProse(io, line)}\n`).catch(() => {});
  };
  return {
    print,
    async warn(line) {
      if (hasJsonErrors) notes.push(line);
      else await print(line);
    },
    lifecycle,
    take() {
      const lines = [...notes.splice(0), ...takeLifecycle()];
      return isQuiet ? [] : lines;
    },
    async printAll() {
      for (const line of notes.splice(0)) await print(line);
      const lines = takeLifecycle();
      if (showsLifecycle) for (const line of lines) await print(line);
    },
  };
}
