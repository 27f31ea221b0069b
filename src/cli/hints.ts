import { UsageError } from '../process/errors.ts';
import { closest, shellWord } from '../process/text.ts';
import { nameOf } from './flag.ts';
import type { Line } from './tree.ts';
import {
  type CommandName,
  commandName,
  type Group,
  isGroup,
  loadCommand,
  ownFlags,
  type Program,
  topicNames,
} from './verb.ts';

/** Verbs that mean the same to users of other programs, such as kubectl, gh and git. */
const sameMeaning: readonly (readonly string[])[] = [
  ['get', 'show', 'view', 'describe', 'read', 'info'],
  ['list', 'find', 'search', 'history'],
  ['create', 'add', 'new', 'insert'],
  ['update', 'set', 'change', 'modify', 'patch'],
  ['delete', 'remove', 'del', 'destroy', 'prune'],
  ['use', 'switch', 'select'],
];

/**
 * The error for a line that commander cannot read, in its words, with the command that was probably meant.
 *
 * @param asksHelp whether it is the help of that command that is asked for.
 */
export async function wordsError(
  program: Program,
  line: Line,
  { code, message }: NonNullable<Line['problem']>,
  asksHelp: boolean,
): Promise<UsageError> {
  const name = commandName(line.path);
  const [sentence = '', suggestion] = withoutValues(message, line).replace('error: ', '').split('\n');
  const hint =
    (await hintFor(program, line, code, asksHelp)) ??
    getOf(line, code) ??
    suggestion ??
    `see \`${name} --help\``;
  return new UsageError(`${name}: ${sentence}`, hint);
}

/** The value of an unknown flag may be a token. */
function withoutValues(message: string, { operands }: Line): string {
  const flags = operands.filter((word) => /^-.*=/.test(word));
  return flags.reduce((text, flag) => text.replace(flag, flag.split('=')[0] ?? ''), message);
}

async function hintFor(
  program: Program,
  line: Line,
  code: string,
  asksHelp: boolean,
): Promise<string | undefined> {
  const [word = ''] = line.operands;
  if (code === 'commander.unknownOption')
    return /^--(token|api-key)\b/.test(line.operands.find((each) => each.startsWith('-')) ?? '')
      ? 'a token comes from the variable PETSTORE_TOKEN, or from token-file or token-command of the profile'
      : didYouMean(verbWithFlag(line, word));
  if (code !== 'commander.unknownCommand') return undefined;
  const topic = asksHelp ? closest(word, topicNames) : undefined;
  return didYouMean(
    verbFor(word, line.group)?.name ??
      (line.path.length === 0 ? await verbElsewhere(word, line.operands, program) : undefined) ??
      (topic && `\`petstore help ${topic}\``),
  );
}

function didYouMean(meant: string | undefined): string | undefined {
  return meant && `did you mean ${meant}?`;
}

/** The verb of a group that has this name, or one of the same meaning. */
function verbFor(word: string, group: Group): CommandName | undefined {
  const names = [word, ...(sameMeaning.find((each) => each.includes(word)) ?? [])];
  const verbs = names.map((name) => group.verbs.find((verb) => spellings(verb).includes(name)));
  return verbs.find((verb) => verb !== undefined);
}

/**
 * The whole command if a verb stands in the place of the noun: `petstore delete pet 5`, or `petstore undo` if only one
 * noun has that verb.
 */
async function verbElsewhere(
  word: string,
  operands: readonly string[],
  program: Group,
): Promise<string | undefined> {
  const found: { readonly noun: CommandName; readonly line: string }[] = [];
  for (const noun of program.verbs) {
    const command = await loadCommand(noun);
    const verb = isGroup(command) ? verbFor(word, command) : undefined;
    if (verb) found.push({ noun, line: `\`petstore ${noun.name} ${verb.name}\`` });
  }
  const named = found.find(({ noun }) => operands.some((each) => spellings(noun).includes(each)));
  return (named ?? (found.length === 1 ? found[0] : undefined))?.line;
}

function spellings({ name, aliases = [] }: CommandName): string[] {
  return [name, ...aliases];
}

/** `petstore orders list --overdue` for `petstore orders --overdue`. */
function verbWithFlag({ path, command }: Line, word: string): string | undefined {
  if (!isGroup(command)) return undefined;
  const [name] = word.split('=');
  const verb = command.verbs.find(
    (each) => !('load' in each) && Object.values(ownFlags(each)).some((flag) => nameOf(flag) === name),
  );
  return verb && `\`${commandName([...path, verb.name])} ${name}\``;
}

/** `petstore pets get 3` for `petstore pets 3`; a word in small letters is rather a verb. */
function getOf({ path, group, operands: [word = ''] }: Line, code: string): string | undefined {
  const hasGet = path.length > 0 && group.verbs.some(({ name }) => name === 'get');
  if (code !== 'commander.unknownCommand' || !hasGet || /^[a-z-]+$/.test(word)) return undefined;
  return didYouMean(`\`${commandName([...path, 'get'])} ${shellWord(word)}\``);
}
