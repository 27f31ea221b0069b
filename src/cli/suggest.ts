import { UsageError } from '../process/errors.ts';
import { closest } from '../process/text.ts';
import { commandName, commonFlags, type Found } from './find.ts';
import { topicNames } from './program.ts';
import { type Group, isGroup, loadCommand, type Named } from './verb.ts';
import { readWords } from './words.ts';

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
 * The error for a word that names no command: with the command that was probably meant, or the way to the help.
 *
 * @param asksHelp whether it is the help of that word that is asked for.
 */
export async function unknownCommand(
  { path, group, rest }: Found,
  word: string,
  asksHelp: boolean,
): Promise<UsageError> {
  const name = commandName(path);
  const before = rest[rest.indexOf(word) - 1];
  // The word may be the value of a flag that the command does not have.
  if (before !== undefined && isUnknownFlag(before))
    return new UsageError(`${name}: unknown option '${before.split('=')[0]}'`, `see \`${name} --help\``);
  const topic = asksHelp ? closest(word, topicNames) : undefined;
  const meant =
    verbFor(word, group)?.name ??
    (path.length === 0 ? await verbElsewhere(word, rest, group) : undefined) ??
    nearestVerb(word, group)?.name ??
    (topic && `\`petstore help ${topic}\``);
  const hint = meant ? `did you mean ${meant}?` : `see \`${name} --help\``;
  return new UsageError(`${name}: unknown command '${word}'`, hint);
}

function isUnknownFlag(word: string): boolean {
  const { given, pending } = readWords([word], commonFlags);
  return word.startsWith('-') && given.length === 0 && pending === undefined;
}

/** The verb of a group that has this name, or one of the same meaning. */
function verbFor(word: string, group: Group): Named | undefined {
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
  rest: readonly string[],
  program: Group,
): Promise<string | undefined> {
  const found: { readonly noun: Named; readonly line: string }[] = [];
  for (const noun of program.verbs) {
    const command = await loadCommand(noun);
    const verb = isGroup(command) ? verbFor(word, command) : undefined;
    if (verb) found.push({ noun, line: `\`petstore ${noun.name} ${verb.name}\`` });
  }
  const named = found.find(({ noun }) => rest.some((each) => spellings(noun).includes(each)));
  return (named ?? (found.length === 1 ? found[0] : undefined))?.line;
}

function nearestVerb(word: string, { verbs }: Group): Named | undefined {
  const near = closest(word, verbs.flatMap(spellings));
  return verbs.find((verb) => near !== undefined && spellings(verb).includes(near));
}

function spellings({ name, aliases = [] }: Named): string[] {
  return [name, ...aliases];
}
