import { operations } from '../../api/operations.ts';
import { rawMethods } from '../../client/raw.ts';
import { settingKeys } from '../../config/keys.ts';
import { colorModes, outputFormats } from '../../config/values.ts';
import { softResults } from '../../smoke/options.ts';
import type { AnyCommand } from '../command.ts';

/** What may stand in a place of the command line: fixed words, a file, a name that is looked up, or free text. */
export type Values =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'file' }
  | { readonly kind: 'profiles' }
  | { readonly kind: 'categories' }
  | { readonly kind: 'free' };

export interface Flag {
  /** `--status`. */
  readonly long: string;
  /** `-o`. */
  readonly short?: string | undefined;
  readonly summary: string;
  /** Undefined for a flag that takes no value. */
  readonly values?: Values | undefined;
}

interface Operand {
  readonly name: string;
  readonly values: Values;
  readonly variadic: boolean;
}

/** A command as a shell completes it. */
interface Node {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  /** Its own flags, without those that every command takes. */
  readonly flags: readonly Flag[];
  readonly operands: readonly Operand[];
  readonly commands: readonly Node[];
}

export interface Tree extends Node {
  readonly globalFlags: readonly Flag[];
}

/**
 * The whole command line as data, read off the declared commands.
 *
 * @param topics what `help` takes beside the name of a command.
 */
export function readTree(program: AnyCommand, topics: readonly string[]): Tree {
  const globalFlags = program.options.filter(({ hidden }) => !hidden).map(toFlag);
  const root = readNode(program, new Set(globalFlags.map(({ long }) => long)));
  const words = [...root.commands.map(({ name }) => name), ...topics];
  const commands = root.commands.map((node) =>
    node.name === 'help' ? { ...node, operands: wordsOf(words) } : node,
  );
  return { ...root, commands, globalFlags: withHelp(globalFlags) };
}

/** Every node with the words that lead to it, the tree's own first. */
export function* walk(
  node: Node,
  path: readonly string[] = [],
): Generator<{ path: readonly string[]; node: Node }> {
  yield { path, node };
  for (const sub of node.commands) yield* walk(sub, [...path, sub.name]);
}

function readNode(command: AnyCommand, globals: ReadonlySet<string>): Node {
  return {
    name: command.name(),
    aliases: command.aliases(),
    summary: command.summary(),
    flags: command.options
      .filter((option) => !option.hidden)
      .map(toFlag)
      .filter(({ long }) => !globals.has(long)),
    operands: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      values: toValues(argument.name(), argument.argChoices),
      variadic: argument.variadic,
    })),
    commands: visible(command).map((sub) => readNode(sub, globals)),
  };
}

function wordsOf(words: readonly string[]): Operand[] {
  return [{ name: 'words', values: { kind: 'words', words }, variadic: true }];
}

function visible(command: AnyCommand): readonly AnyCommand[] {
  return command.createHelp().visibleCommands(command);
}

function toFlag(option: AnyCommand['options'][number]): Flag {
  const takesValue = option.required || option.optional;
  const valueName = /<(.+)>|\[(.+)\]/.exec(option.flags)?.[1] ?? '';
  return {
    long: option.long ?? '',
    short: option.short,
    summary: option.description,
    values: takesValue ? toValues(valueName, option.argChoices, option.long) : undefined,
  };
}

const wordsByFlag: Readonly<Record<string, readonly string[]>> = {
  '--output': outputFormats,
  '--color': colorModes,
  '--fail-on': softResults,
};

const wordsByName: Readonly<Record<string, readonly string[]>> = {
  key: settingKeys,
  operationId: Object.keys(operations),
  METHOD: rawMethods,
};

/** What a place takes, by what its declaration calls it: `<file>`, `<profile>`, `--category`. */
function toValues(name: string, choices: readonly string[] | undefined, flag = ''): Values {
  const words = choices ?? wordsByFlag[flag] ?? wordsByName[name];
  if (words) return { kind: 'words', words };
  if (/\bfile\b/.test(name)) return { kind: 'file' };
  if (name === 'profile' || flag === '--profile') return { kind: 'profiles' };
  if (flag === '--category') return { kind: 'categories' };
  return { kind: 'free' };
}

function withHelp(flags: readonly Flag[]): Flag[] {
  return [...flags, { long: '--help', short: '-h', summary: 'show help' }];
}
