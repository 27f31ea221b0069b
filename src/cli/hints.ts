import { UsageError } from '../process/errors.ts';
import { closest, shellWord } from '../process/text.ts';
import { nameOf } from './flag.ts';
import { topicNames } from './topics.ts';
import type { Line } from './tree.ts';
import {
  type CommandName,
  commandName,
  type Group,
  isGroup,
  loadCommand,
  ownFlags,
  type Program,
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
  const asksToken = /^--(token|api-key)\b/.test(line.operands.find((word) => word.startsWith('-')) ?? '');
  if (code === 'commander.unknownOption' && asksToken)
    return new UsageError(
      `${name}: ${sentence}`,
      'a token comes from the variable PETSTORE_TOKEN, or from token-file or token-command of the profile',
    );
  const meant =
    code === 'commander.unknownOption'
      ? verbWithFlag(line)
      : code === 'commander.unknownCommand'
        ? await commandMeant(program, line, asksHelp)
        : undefined;
  const hint = meant ? `did you mean ${meant}?` : (suggestion ?? `see \`${name} --help\``);
  return new UsageError(`${name}: ${sentence}`, hint);
}

/** The value of an unknown flag may be a token. */
function withoutValues(message: string, { operands }: Line): string {
  const flags = operands.filter((word) => /^-.*=/.test(word));
  return flags.reduce((text, flag) => text.replace(flag, flag.split('=')[0] ?? ''), message);
}

/**
 * What an unknown word stands for: another word for a verb, a verb in the place of the noun, a topic of help, or the id
 * or name of a record to get.
 */
async function commandMeant(
  program: Program,
  { path, group, operands }: Line,
  asksHelp: boolean,
): Promise<string | undefined> {
  const [word = ''] = operands;
  const verb = verbFor(word, group);
  if (verb) return verb.name;
  if (path.length === 0) {
    const topic = asksHelp ? closest(word, topicNames) : undefined;
    return (await verbElsewhere(operands, program)) ?? (topic && `\`petstore help ${topic}\``);
  }
  // A word in small letters is rather a verb.
  if (!group.verbs.some(({ name }) => name === 'get') || /^[a-z-]+$/.test(word)) return undefined;
  return `\`${commandName([...path, 'get'])} ${shellWord(word)}\``;
}

/** The verb of a group that has this name, or one of the same meaning. */
function verbFor(word: string, group: Group): CommandName | undefined {
  const names = [word, ...(sameMeaning.find((each) => each.includes(word)) ?? [])];
  const verbs = names.map((name) => group.verbs.find((verb) => isCalled(verb, name)));
  return verbs.find((verb) => verb !== undefined);
}

/** `petstore pets delete` for `petstore delete pet 5`; for `petstore undo` the only noun that has that verb. */
async function verbElsewhere(
  [word = '', ...others]: readonly string[],
  program: Group,
): Promise<string | undefined> {
  const found: { readonly noun: CommandName; readonly line: string }[] = [];
  for (const noun of program.verbs) {
    const command = await loadCommand(noun);
    const verb = isGroup(command) ? verbFor(word, command) : undefined;
    if (verb) found.push({ noun, line: `\`petstore ${noun.name} ${verb.name}\`` });
  }
  const named = found.find(({ noun }) => others.some((each) => isCalled(noun, each)));
  return (named ?? (found.length === 1 ? found[0] : undefined))?.line;
}

function isCalled({ name, aliases = [] }: CommandName, word: string): boolean {
  return name === word || aliases.includes(word);
}

/** `petstore orders list --overdue` for `petstore orders --overdue`. */
function verbWithFlag({ path, command, operands: [word = ''] }: Line): string | undefined {
  if (!isGroup(command)) return undefined;
  const [name] = word.split('=');
  const verb = command.verbs.find(
    (each) => !('load' in each) && Object.values(ownFlags(each)).some((flag) => nameOf(flag) === name),
  );
  return verb && `\`${commandName([...path, verb.name])} ${name}\``;
}
