import { version } from '../../package.json';
import { isSettingKey, variableName } from '../config/keys.ts';
import type { OutputFormat } from '../config/setting-values.ts';
import { type Context, followUpCommand } from '../context.ts';
import { exitCodes, UsageError } from '../process/errors.ts';
import { closestWord } from '../process/text.ts';
import { nameOf } from './flag.ts';
import type { GlobalFlags } from './global-flags.ts';
import { type ParsedLine, parseLine } from './parse-line.ts';
import { runAction } from './run-action.ts';
import { topicNames } from './topics.ts';
import { commandName, flagsOf, isGroup, type Program } from './verb.ts';

// The files of this folder:
// - `verb.ts` and `flag.ts` define a command as data. `global-flags.ts` has the flags of all commands.
// - `parse-line.ts` lets commander read the words. This file decides whether the line runs a command, shows help, or is wrong.
// - `run-action.ts` runs the command, and prints what it returns.
// - `help.ts` makes the help of a command. `topics.ts` and `topics.txt` have the help that several commands share.
// - `complete.ts` answers the Tab key.

/** A command line that has been read and not yet run. */
export interface CommandLine {
  /** The flags that several commands share, parsed. */
  readonly flags: GlobalFlags;
  /** The names of the command, such as `pets get`; empty for a completion and for the program itself. */
  readonly name: string;
  /** Whether the command reads the config. Help and the version do not: they work even if the config is wrong. */
  readonly usesConfig: boolean;
  /** The format of the output unless `--output` names another. */
  readonly defaultFormat?: OutputFormat | undefined;
  /** Runs the command. @throws CliError. */
  run(context: Context): Promise<void>;
}

/** Reads the words of a command line. It never throws: if the words are wrong, `run` throws the error. */
export async function readCommandLine(argv: readonly string[], program: Program): Promise<CommandLine> {
  if (argv[0] === '__complete') {
    const { complete, readUnfinished } = await import('./complete.ts');
    const unfinished = await readUnfinished(argv.slice(1), program);
    const run = (context: Context) => complete(unfinished, context, program);
    return { flags: unfinished.line.flags, name: '', usesConfig: true, run };
  }
  if (argv.length === 0) {
    const run = async ({ io }: Context) => io.stdout.write((await import('./help.ts')).introduction);
    return { flags: {}, name: '', usesConfig: false, run };
  }
  const helpWords = findHelpWords(argv);
  const line = await parseLine(program, helpWords ?? argv);
  const { flags, path } = line;
  const common = { flags, name: path.join(' ') };
  if (flags.version === true)
    return { ...common, usesConfig: false, run: ({ io }) => io.stdout.write(`${version}\n`) };
  try {
    const asksHelp = helpWords !== undefined || flags.help === true;
    return { ...common, ...(asksHelp ? toHelpTask(line, program) : toActionTask(line)) };
  } catch (error) {
    return { ...common, usesConfig: true, run: () => Promise.reject(error) };
  }
}

type Task = Pick<CommandLine, 'usesConfig' | 'defaultFormat' | 'run'>;

/** Makes the task that shows help. @throws UsageError if the words do not name a command. */
function toHelpTask(line: ParsedLine, program: Program): Task {
  const { path, problem, operands } = line;
  if (problem?.code !== 'commander.unknownCommand')
    return { usesConfig: false, run: (context) => printHelp(context, 'stdout', line) };
  const mayBeTopic = path.length === 0;
  const near = findNearWord(line, problem, mayBeTopic ? topicNames : []);
  const error = wordsError(line, problem, near);
  if (!mayBeTopic || near !== undefined) throw error;
  const run = async (context: Context) => {
    const { helpWidth, findHelpWith } = await import('./help.ts');
    const text = await findHelpWith(operands[0] ?? '', program, helpWidth(context.io));
    if (text === undefined) throw error;
    await printOnStdout(context, text);
  };
  return { usesConfig: false, run };
}

/** Makes the task that runs a command. @throws UsageError if a word or a value is wrong. */
function toActionTask(line: ParsedLine): Task {
  const { path, command, flagUses } = line;
  const action = isGroup(command) ? command.alone : command;
  // In a group that is itself a command, a word that is no verb is one argument too many to commander.
  const problem =
    isGroup(command) && line.problem?.code === 'commander.excessArguments'
      ? { code: 'commander.unknownCommand', message: `unknown command '${line.operands[0]}'` }
      : line.problem;
  if (problem && problem.code !== 'commander.help')
    throw wordsError(line, problem, findNearWord(line, problem));
  if (!action)
    return {
      usesConfig: false,
      run: async (context) => {
        context.setExitCode(exitCodes.usage);
        await printHelp(context, 'stderr', line);
      },
    };
  const flags = flagsOf(action);
  const misplacedUse = flagUses.find(({ key }) => !(key in flags));
  if (misplacedUse)
    throw new UsageError(`${commandName(path)}: unknown option '${nameOf(misplacedUse.flag)}'`);
  const values = { ...line.args, ...line.flags };
  const wrongFlag = Object.values(line.flags).find((value) => value instanceof UsageError);
  if (wrongFlag) throw wrongFlag;
  const wrongArgument = Object.values(line.args).find((value) => value instanceof UsageError);
  if (wrongArgument instanceof UsageError) throw wrongArgument.withHint(findMeantCommand(line));
  return {
    usesConfig: action.wrongSettings !== 'unread',
    defaultFormat: action.defaultFormat,
    run: (context) => runAction(context, action, commandName(path), values),
  };
}

async function printHelp(context: Context, stream: 'stdout' | 'stderr', line: ParsedLine): Promise<void> {
  const { helpWidth, formatCommandHelp } = await import('./help.ts');
  const { bold } = await context.style(stream);
  const text = formatCommandHelp(line, helpWidth(context.io), bold);
  await (stream === 'stdout' ? printOnStdout(context, text) : context.io.stderr.write(text));
}

/** Prints help, through a pager if it is long. No other command needs the code that starts a pager. */
async function printOnStdout(context: Context, text: string): Promise<void> {
  const { printLong } = await import('../output/pager.ts');
  await printLong(context, text);
}

/**
 * Finds the command whose help the line asks for: `pets list` in `pets list --help`, `--help pets list`, `help pets list` and
 * `pets help list`. Undefined if the line does not ask for the help of a command. `help <topic>` is itself a command.
 */
function findHelpWords(argv: readonly string[]): readonly string[] | undefined {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  const rest = words.filter((word) => word !== '--help' && word !== '-h');
  const at = rest[0]?.startsWith('-') ? -1 : rest.slice(0, 2).indexOf('help');
  const isTopic = topicNames.some((name) => name === rest[at + 1]);
  if (at === 0 && isTopic) return undefined;
  if (at !== -1) return rest.filter((_, index) => index !== at);
  return rest.length < words.length ? rest : undefined;
}

type Problem = Pick<NonNullable<ParsedLine['problem']>, 'code' | 'message'>;

/** Makes the error for a line that commander cannot read. @param near a similar word to suggest. */
function wordsError(line: ParsedLine, { code, message }: Problem, near?: string): UsageError {
  const { path, operands, command } = line;
  const name = commandName(path);
  const see = `see \`${name} --help\``;
  if (code === 'commander.excessArguments') {
    const count = Object.keys(('args' in command && command.args) || {}).length;
    const hint = findMeantCommand(line) ?? see;
    return new UsageError(`${name}: unexpected argument '${operands[count]}'`, hint);
  }
  const wrongFlag = code === 'commander.unknownOption' ? findWrongFlag(operands) : undefined;
  if (Object.values(flagsOf(command)).some((flag) => nameOf(flag) === wrongFlag))
    return new UsageError(`${name}: ${wrongFlag}: takes no value but true and false`, see);
  // The value of an unknown flag may be a token.
  const sentence = message.replace('error: ', '').replace(/^(unknown option '-[^=]*)=.*'$/s, "$1'");
  const hint = settingHint(wrongFlag) ?? (near === undefined ? see : `did you mean ${near}?`);
  return new UsageError(`${name}: ${sentence}`, hint);
}

/** Says how a setting is given that has no flag here. */
function settingHint(flag = ''): string | undefined {
  const key = flag.slice('--'.length);
  if (key === 'token')
    return 'a token comes from the variable PETSTORE_TOKEN, or from token-file or token-command of the profile';
  return isSettingKey(key)
    ? `it is a setting: give it with ${variableName(key)}, or \`petstore config set ${key} <value>\``
    : undefined;
}

/** Finds the command that a person means whose arguments do not fit. Undefined if there is none. */
function findMeantCommand({ command, operands, flags }: ParsedLine): string | undefined {
  const words = isGroup(command) ? undefined : command.meant?.(operands);
  return words && `did you mean \`${followUpCommand({ flags }, words)}\`?`;
}

/**
 * Finds the command or flag that is similar to the unknown word.
 *
 * @param topics further words to compare with.
 */
function findNearWord(
  { command, group, operands }: ParsedLine,
  { code }: Problem,
  topics: readonly string[] = [],
): string | undefined {
  if (code === 'commander.unknownOption') {
    const names = Object.values(flagsOf(command)).map(nameOf);
    return closestWord(
      findWrongFlag(operands) ?? '',
      names.filter((name) => !unaskedFlags.includes(name)),
    );
  }
  if (code !== 'commander.unknownCommand') return undefined;
  const [word = ''] = operands;
  const synonyms = group.verbs.filter(({ otherWords }) => otherWords?.includes(word.toLowerCase()));
  if (synonyms.length > 0) return synonyms.map(({ name }) => name).join(' or ');
  const names = group.verbs.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  return closestWord(word, [...names, ...topics]);
}

/** Flags that switch a question or a guard off. A typo must not lead to them. */
const unaskedFlags = ['--yes', '--force', '--again'];

function findWrongFlag(operands: readonly string[]): string | undefined {
  return operands.find((word) => word.startsWith('-'))?.replace(/=.*/s, '');
}
