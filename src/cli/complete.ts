import type { MutableContext } from '../context.ts';
import { withDeadline } from '../deadline.ts';
import { exitCodes } from '../errors.ts';
import { sanitize } from '../text.ts';
import { type Found, findCommand, flagsOf } from './find.ts';
import { type Argument, type Flag, isRepeated, nameOf } from './flag.ts';
import { writeFlags } from './global-flags.ts';
import { firstFlags, type Offer, type Program, root } from './program.ts';
import { type Action, isGroup, type Named } from './verb.ts';
import { readWords } from './words.ts';

/** The longest wait for names that must be looked up, in milliseconds. */
const patienceMs = 300;

/**
 * Prints the possible completions of a command line, one a line: the word, and after a tab its description. A first
 * line `:file` asks the shell for file names.
 *
 * @param argv `-- <words> <current>`, as zsh, fish and PowerShell split them; or `bash <line>`, because bash splits
 *   words at `=` and `:` and leaves the quotes in.
 */
export async function complete(
  argv: readonly string[],
  context: MutableContext,
  program: Program,
): Promise<number> {
  const [kind, line = ''] = argv;
  const bash = kind === 'bash' ? (await import('./bash-line.ts')).readBashLine(line) : undefined;
  const words = bash ? [...bash.words.slice(1), bash.current] : argv.slice(kind === '--' ? 1 : 0);
  const current = words.at(-1) ?? '';
  const { attached, isList, offers } = await offersFor(words.slice(0, -1), current, { context, program });
  const before = attached === undefined ? '' : `${attached}=`;
  const given = isList ? before + current.slice(before.length, current.lastIndexOf(',') + 1) : before;
  const begun = current.slice(given.length);
  if (offers === 'file') {
    await context.io.stdout.write(':file\n');
    return exitCodes.done;
  }
  const shown = offers
    // A name with unsafe characters can neither be shown nor typed.
    .filter(({ word }) => startsAlike(word, begun) && sanitize(word) === word)
    .map(({ word, summary }) => ({ word: given + word, summary: summary && sanitize(summary) }));
  const text = bash
    ? bash.quoted(shown.map(({ word }) => word))
    : shown.map(({ word, summary }) => (summary ? `${word}\t${summary}` : word));
  await context.io.stdout.write(text.map((each) => `${each}\n`).join(''));
  return exitCodes.done;
}

interface Place {
  /** The flag of `--flag=value`, if the current word has that form. */
  readonly attached?: string | undefined;
  /** Commas may stand between values, and the last one is asked for. */
  readonly isList?: boolean | undefined;
  readonly offers: readonly Offer[] | 'file';
}

async function offersFor(
  before: readonly string[],
  current: string,
  { context, program }: { readonly context: MutableContext; readonly program: Program },
): Promise<Place> {
  const found = await findCommand(root, program.entries, before);
  const { command, path } = found;
  const flags = { ...flagsOf(command), ...(isGroup(command) ? writeFlags : {}) };
  const all = Object.values(flags);
  const { operands, given, pending, hasEnded } = readWords(found.rest, all);
  context.useFlags(firstFlags(given));
  const lookUp = (place: Flag | Argument | undefined) => valuesOf(place, { context, program, found });
  if (hasEnded) return { offers: 'file' };
  if (pending) return { isList: pending.isList, offers: await lookUp(pending) };
  const [, attached] = /^(--[\w-]+)=/.exec(current) ?? [];
  if (attached !== undefined) {
    const flag = all.find((each) => nameOf(each) === attached);
    return { attached, isList: flag?.isList, offers: await lookUp(flag) };
  }
  if (current.startsWith('-'))
    return { offers: all.map((flag) => ({ word: nameOf(flag), summary: flag.summary })) };
  if (found.unknown !== undefined) return { offers: [] };
  if (isGroup(command)) {
    return { offers: offersOf(path.length === 0 ? program.entries : command.verbs) };
  }
  return { offers: await lookUp(argumentAt(command, operands.length)) };
}

function offersOf(commands: readonly Named[]): Offer[] {
  return commands.map(({ name, summary }) => ({ word: name, summary }));
}

/** The argument at an index; an argument such as `<id...>` also covers all later ones. */
function argumentAt({ args = {} }: Action, place: number): Argument | undefined {
  const all = Object.values(args);
  const last = all.at(-1);
  return all[place] ?? (last && isRepeated(last) ? last : undefined);
}

interface Asked {
  readonly context: MutableContext;
  readonly program: Program;
  readonly found: Found;
}

/** An empty list if the values are not available in time: completion never reports an error. */
async function valuesOf(
  place: Flag | Argument | undefined,
  { context, program, found }: Asked,
): Promise<readonly Offer[] | 'file'> {
  const offers = place?.choices ?? place?.offers ?? [];
  if (offers === 'file') return 'file';
  if (offers === 'command')
    return [...offersOf(program.entries), ...program.topics.map((word) => ({ word }))];
  if (typeof offers !== 'string') return offers.map((word) => ({ word }));
  const looked = Promise.resolve(program.lookUp(offers, context, found)).catch(() => []);
  return withDeadline(looked, patienceMs, () => []);
}

/** Ignores case, as the commands do when they look up names. */
function startsAlike(word: string, begun: string): boolean {
  return word.toLowerCase().startsWith(begun.toLowerCase());
}
