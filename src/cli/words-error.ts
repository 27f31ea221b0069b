import { UsageError } from '../process/errors.ts';
import { closest } from '../process/text.ts';
import { nameOf } from './flag.ts';
import type { Line } from './tree.ts';
import { commandName, flagsOf, isGroup } from './verb.ts';

/**
 * The error for a line that commander cannot read, in its words, with the command or flag that is one typo away.
 *
 * @param topics further words that can stand for a command.
 */
export function wordsError(
  { path, command, group, operands }: Line,
  { code, message }: NonNullable<Line['problem']>,
  topics: readonly string[],
): UsageError {
  const name = commandName(path);
  // The value of an unknown flag may be a token.
  const sentence = message.replace('error: ', '').replace(/^(unknown option '-[^=]*)=.*'$/s, "$1'");
  const flag = operands.find((word) => word.startsWith('-'))?.replace(/=.*/s, '');
  if (code === 'commander.unknownOption' && flag === '--token')
    return new UsageError(
      `${name}: ${sentence}`,
      'a token comes from the variable PETSTORE_TOKEN, or from token-file or token-command of the profile',
    );
  const candidates =
    code === 'commander.unknownOption'
      ? Object.values(flagsOf(command)).map(nameOf)
      : code === 'commander.unknownCommand' && isGroup(command)
        ? [...group.verbs.flatMap((verb) => [verb.name, ...(verb.aliases ?? [])]), ...topics]
        : [];
  const near = closest((code === 'commander.unknownOption' ? flag : operands[0]) ?? '', candidates);
  return new UsageError(`${name}: ${sentence}`, near ? `did you mean ${near}?` : `see \`${name} --help\``);
}
