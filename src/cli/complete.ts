import type { Context } from '../context.ts';
import { withinLimits } from '../process/deadline.ts';
import { sanitize } from '../process/text.ts';
import { type Argument, nameOf, takesMany } from './flag.ts';
import { type ParsedLine, parseLine } from './parse-line.ts';
import { topicNames } from './topics.ts';
import {
  type Action,
  type CommandEntry,
  type Cursor,
  flagsOf,
  isGroup,
  type Offer,
  type Program,
} from './verb.ts';

/** The longest time that a Tab waits for names from the service, in milliseconds. */
const patienceMs = 300;

/** Stands for the word at the cursor. Commander puts it into the flag or argument that the word belongs to. */
const cursorMark = '\0';

/** A command line that is being typed. */
interface UnfinishedLine {
  /** The words before the cursor. */
  readonly before: readonly string[];
  /** The word at the cursor, as far as it is typed. */
  readonly current: string;
  /** The flag in that word, such as `--status=`; empty if there is none. */
  readonly attached: string;
  /** All words, with the mark of the cursor in place of the current one. */
  readonly line: ParsedLine;
}

/** Reads a line that is not finished. @param argv `-- <words> <current>`; the shell has removed their quotes. */
export async function readUnfinished(argv: readonly string[], program: Program): Promise<UnfinishedLine> {
  const words = argv.slice(argv[0] === '--' ? 1 : 0);
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  const [attached = ''] = /^--[\w-]+=/.exec(current) ?? [];
  return { before, current, attached, line: await parseLine(program, [...before, attached + cursorMark]) };
}

/**
 * Prints the possible completions of a command line, one a line: the word, and after a tab its description. The line `:file`
 * asks the shell for file names. It offers only words that begin like the current word.
 */
export async function complete(
  unfinished: UnfinishedLine,
  context: Context,
  program: Program,
): Promise<void> {
  const { current } = unfinished;
  const { stem, offers } = await offersFor(unfinished, context, program);
  const prefix = current.slice(stem.length);
  const lines =
    offers === 'file'
      ? [':file']
      : offers
          .map((offer) => (typeof offer === 'string' ? { word: offer, summary: '' } : offer))
          // A name with unsafe characters can neither be shown nor typed.
          .filter(({ word }) => startsAlike(word, prefix) && sanitize(word) === word)
          .map(({ word, summary }) => (summary ? `${stem}${word}\t${sanitize(summary)}` : stem + word));
  await context.io.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

interface Completions {
  /** The part of the current word that stays: `--status=`, or `sold,` in a list of values. */
  readonly stem: string;
  readonly offers: readonly Offer[] | 'file';
}

async function offersFor(
  { before, current, attached, line }: UnfinishedLine,
  context: Context,
  program: Program,
): Promise<Completions> {
  const { command, flagUses, problem } = line;
  if (before.includes('--')) return { stem: '', offers: 'file' };
  const operands = line.operands.filter((word) => !word.startsWith('-')).slice(0, -1);
  const base = { command, values: { ...line.args, ...line.flags }, operands };
  const flag = flagUses.find(({ text }) => text === cursorMark)?.flag;
  if (flag) {
    const stem = flag.isList
      ? current.slice(0, Math.max(attached.length, current.lastIndexOf(',') + 1))
      : attached;
    const cursor = { ...base, prefix: current.slice(stem.length) };
    return { stem, offers: await valuesFor(flag, cursor, context, program) };
  }
  if (current.startsWith('-')) {
    const flags = Object.values(flagsOf(command));
    return { stem: '', offers: flags.map((each) => ({ word: nameOf(each), summary: each.summary })) };
  }
  if (isGroup(command))
    return { stem: '', offers: line.operands[0] === cursorMark || !problem ? offersOf(command.verbs) : [] };
  const argument = argumentAt(command, operands.length);
  const cursor = { ...base, prefix: current };
  return { stem: '', offers: argument ? await valuesFor(argument, cursor, context, program) : [] };
}

function offersOf(commands: readonly CommandEntry[]): Offer[] {
  return commands.map(({ name, summary }) => ({ word: name, summary }));
}

/** Returns the argument at an index. An argument such as `<id...>` also covers all later ones. */
function argumentAt({ args = {} }: Action, index: number): Argument | undefined {
  const all = Object.values(args);
  const last = all.at(-1);
  return all[index] ?? (last && takesMany(last) ? last : undefined);
}

/** Returns an empty list if the values are not available in time, because completion never reports an error. */
async function valuesFor(
  { choices, offers = [] }: Argument,
  cursor: Cursor,
  context: Context,
  program: Program,
): Promise<readonly Offer[] | 'file'> {
  const source = choices ?? offers;
  if (source === 'file') return source;
  if (source === 'command') return [...offersOf(program.verbs), ...topicNames];
  if (typeof source !== 'string') return source;
  return withinLimits({ limitMs: patienceMs }, async () => program.lookUp(source, context, cursor)).catch(
    () => [],
  );
}

/** Compares without regard to case, as the commands do when they look up names. */
function startsAlike(word: string, prefix: string): boolean {
  return word.toLowerCase().startsWith(prefix.toLowerCase());
}
