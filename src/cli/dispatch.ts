import { version } from '../../package.json';
import { isSettingKey, variableName } from '../config/keys.ts';
import type { OutputFormat } from '../config/setting-values.ts';
import type { Context } from '../context.ts';
import { exitCodes, UsageError } from '../process/errors.ts';
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
    return { ...common, ...(asksHelp ? toHelpTask(line) : toActionTask(line)) };
  } catch (error) {
    return { ...common, usesConfig: true, run: () => Promise.reject(error) };
  }
}

type Task = Pick<CommandLine, 'usesConfig' | 'defaultFormat' | 'run'>;

/** Makes the task that shows help. @throws UsageError if the words do not name a command. */
function toHelpTask(line: ParsedLine): Task {
  if (line.problem?.code === 'commander.unknownCommand') throw wordsError(line, line.problem);
  return { usesConfig: false, run: (context) => printHelp(context, 'stdout', line) };
}

/** Makes the task that runs a command. @throws UsageError if a word or a value is wrong. */
function toActionTask(line: ParsedLine): Task {
  const { path, command, flagUses, problem } = line;
  if (problem && problem.code !== 'commander.help') throw wordsError(line, problem);
  const action = isGroup(command) ? command.alone : command;
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
  const wrongValue = [...Object.values(line.flags), ...Object.values(line.args)].find(
    (value) => value instanceof UsageError,
  );
  if (wrongValue) throw wrongValue;
  return {
    usesConfig: action.wrongSettings !== 'unread',
    defaultFormat: action.defaultFormat,
    run: (context) => runAction(context, action, commandName(path), values),
  };
}

async function printHelp(context: Context, stream: 'stdout' | 'stderr', line: ParsedLine): Promise<void> {
  const { helpWidth, formatCommandHelp } = await import('./help.ts');
  const { bold } = await context.style(stream);
  await context.io[stream].write(formatCommandHelp(line, helpWidth(context.io), bold));
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

/** Makes the error for a line that commander cannot read. The hint is commander's suggestion, if it has one. */
function wordsError(
  { path, command, operands }: ParsedLine,
  { code, message }: NonNullable<ParsedLine['problem']>,
): UsageError {
  const name = commandName(path);
  const see = `see \`${name} --help\``;
  if (code === 'commander.excessArguments') {
    if (isGroup(command)) return new UsageError(`${name}: unknown command '${operands[0]}'`, see);
    const count = Object.keys(command.args ?? {}).length;
    return new UsageError(`${name}: unexpected argument '${operands[count]}'`, see);
  }
  const flag = code === 'commander.unknownOption' ? operands.find((word) => word.startsWith('-')) : undefined;
  const [flagName = '', flagValue] = flag?.split(/=(.*)/s) ?? [];
  if (flagValue !== undefined && Object.values(flagsOf(command)).some((known) => nameOf(known) === flagName))
    return new UsageError(`${name}: ${flagName} takes no value`, see);
  const [sentence = '', suggestion] = message.replace('error: ', '').split(/\n\(Did you mean (.*)\)$/);
  // The value of an unknown flag may be a token.
  const safeSentence = flagValue === undefined ? sentence : `unknown option '${flagName}'`;
  const hint = settingHint(flagName) ?? (suggestion === undefined ? see : `did you mean ${suggestion}`);
  return new UsageError(`${name}: ${safeSentence}`, hint);
}

/** Says how a setting is given that has no flag here. */
function settingHint(flag: string): string | undefined {
  const key = flag.slice('--'.length);
  if (key === 'token')
    return 'a token comes from the variable PETSTORE_TOKEN, or from token-file or token-command of the profile';
  return isSettingKey(key)
    ? `it is a setting: give it with ${variableName(key)}, or \`petstore config set ${key} <value>\``
    : undefined;
}
