import { type LifecycleNotice, lifecycleLines } from '../api/lifecycle.ts';
import type { OperationId } from '../api/operations.ts';
import type { Io } from '../process/io.ts';
import { prose } from './fold.ts';

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
  takeNotices(): Promise<string[]>;
  /** Writes them to stderr; the life cycle notices only where somebody may act on them. */
  printNotices(): Promise<void>;
}

/** What notices depend on; only known when the first one is written. */
interface NoticesContext {
  readonly io: Io;
  isQuiet(): Promise<boolean>;
  hasJsonErrors(): Promise<boolean>;
  /** Whether life cycle notices are shown: on a terminal outside of CI, or with -v. */
  showsLifecycle(): boolean;
  /** As the user typed it, such as `pets get`. */
  commandName(): string;
}

export function createNotices(context: NoticesContext): Notices {
  const { io, isQuiet, hasJsonErrors, showsLifecycle, commandName } = context;
  const notes: string[] = [];
  const lifecycle = new Map<OperationId, LifecycleNotice>();
  const takeLifecycle = () => {
    const lines = lifecycleLines(commandName(), lifecycle.values());
    lifecycle.clear();
    return lines;
  };
  const print = async (line: string) => {
    if (!(await isQuiet())) await io.stderr.write(`${prose(io, line)}\n`).catch(() => {});
  };
  return {
    print,
    async warn(line) {
      if (await hasJsonErrors()) notes.push(line);
      else await print(line);
    },
    lifecycle,
    async takeNotices() {
      const lines = [...notes.splice(0), ...takeLifecycle()];
      return (await isQuiet()) ? [] : lines;
    },
    async printNotices() {
      for (const line of notes.splice(0)) await print(line);
      const lines = takeLifecycle();
      if (showsLifecycle()) for (const line of lines) await print(line);
    },
  };
}
