import type { MutableContext } from '../context.ts';
import { withDeadline } from '../process/deadline.ts';
import { exitCodes } from '../process/errors.ts';
import { sanitize } from '../process/text.ts';
import { type Found, findCommand, flagsOf } from './find.ts';
import { type Argument, isRepeated, nameOf } from './flag.ts';
import { firstFlags, writeFlags } from './global-flags.ts';
import { type Offer, type Program, topicNames } from './program.ts';
import { type Action, type Group, isGroup, type Named } from './verb.ts';
import { readWords } from './words.ts';

/** The longest wait for names that must be looked up, in milliseconds. */
const patienceMs = 300;

/**
 * Prints the possible completions of a command line, one a line: the word, and after a tab its description. A first
 * line `:file` asks the shell for file names.
 *
 * @param argv `-- <words> <current>`, as zsh, fish and PowerShell split them; or `bash <line> <word breaks>`, because bash
 *   splits words at `=` and `:` and leaves the quotes in.
 */
export async function complete(
  argv: readonly string[],
  context: MutableContext,
  program: Program,
): Promise<number> {
  const [kind, line = '', wordBreaks] = argv;
  const bash = kind === 'bash' ? (await import('./bash-line.ts')).readBashLine(line, wordBreaks) : undefined;
  const words = bash ? [...bash.words.slice(1), bash.current] : argv.slice(kind === '--' ? 1 : 0);
  const current = words.at(-1) ?? '';
  const { kept, offers } = await offersFor(words.slice(0, -1), current, context, program);
  if (offers === 'file') {
    await context.io.stdout.write(':file\n');
    return exitCodes.done;
  }
  const begun = current.slice(kept.length);
  const shown = offers
    // A name with unsafe characters can neither be shown nor typed.
    .filter(({ word }) => startsAlike(word, begun) && sanitize(word) === word)
    .map(({ word, summary }) => ({ word: kept + word, summary: summary && sanitize(summary) }));
  const lines = bash
    ? bash.quoted(shown.map(({ word }) => word))
    : shown.map(({ word, summary }) => (summary ? `${word}\t${summary}` : word));
  await context.io.stdout.write(lines.map((each) => `${each}\n`).join(''));
  return exitCodes.done;
}

interface Completions {
  /** The part of the current word that stays: `--status=`, or `sold,` of a list of values. */
  readonly kept: string;
  readonly offers: readonly Offer[] | 'file';
}

async function offersFor(
  before: readonly string[],
  current: string,
  context: MutableContext,
  program: Program,
): Promise<Completions> {
  const found = await findCommand(program, before);
  const { command } = found;
  const flags = Object.values({ ...flagsOf(command), ...(hasWrites(command) && writeFlags) });
  const { operands, given, pending, hasEnded } = readWords(found.rest, flags);
  context.useFlags(firstFlags(given));
  if (hasEnded) return { kept: '', offers: 'file' };
  const [attached = '', name] = pending ? [] : (/^(--[\w-]+)=/.exec(current) ?? []);
  const flag = pending ?? flags.find((each) => nameOf(each) === name);
  if (flag) {
    const kept = flag.isList
      ? current.slice(0, Math.max(attached.length, current.lastIndexOf(',') + 1))
      : attached;
    return { kept, offers: await valuesOf(flag, found, context, program) };
  }
  if (current.startsWith('-'))
    return { kept: '', offers: flags.map((each) => ({ word: nameOf(each), summary: each.summary })) };
  if (found.unknown !== undefined) return { kept: '', offers: [] };
  if (isGroup(command)) return { kept: '', offers: offersOf(command.verbs) };
  const argument = argumentAt(command, operands.length);
  return { kept: '', offers: argument ? await valuesOf(argument, found, context, program) : [] };
}

/** Whether a command contains others that take the flags of writes; those at the top level are not loaded to find out. */
function hasWrites(command: Action | Group): boolean {
  return isGroup(command) && command.verbs.some((verb) => 'load' in verb || ('write' in verb && verb.write));
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

/** An empty list if the values are not available in time: completion never reports an error. */
async function valuesOf(
  { choices, offers = [] }: Argument,
  found: Found,
  context: MutableContext,
  program: Program,
): Promise<readonly Offer[] | 'file'> {
  const known = choices ?? offers;
  if (known === 'file') return known;
  if (known === 'command') return [...offersOf(program.verbs), ...topicNames.map((word) => ({ word }))];
  if (typeof known !== 'string') return known.map((word) => ({ word }));
  const looked = Promise.resolve(program.lookUp(known, context, found)).catch(() => []);
  return withDeadline(looked, patienceMs, () => []);
}

/** Ignores case, as the commands do when they look up names. */
function startsAlike(word: string, begun: string): boolean {
  return word.toLowerCase().startsWith(begun.toLowerCase());
}
