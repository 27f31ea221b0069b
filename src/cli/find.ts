import { UsageError } from '../errors.ts';
import { closest } from '../text.ts';
import type { Flag } from './flag.ts';
import { globalFlags, helpFlag, writeFlags } from './global-flags.ts';
import { type Action, type Entry, type Group, isGroup, type Named } from './verb.ts';
import { readWords } from './words.ts';

/** The command that a command line names. */
export interface Found {
  /** The names from the first level on, without aliases: `['pets', 'list']`; empty for the program itself. */
  readonly path: readonly string[];
  readonly named: Named;
  readonly command: Action | Group;
  /** The group that contains it. */
  readonly group: Group;
  /** The words other than the names of the command. */
  readonly rest: readonly string[];
  /** A word in the place of a command's name that names none. */
  readonly unknown: string | undefined;
}

type Level = readonly (Entry | (Named & (Action | Group)))[];

/** Finds the command that the words name; loads no other commands. */
export async function findCommand(
  root: Named & Group,
  entries: readonly Entry[],
  words: readonly string[],
): Promise<Found> {
  const path: string[] = [];
  const used = new Set<number>();
  let named: Named = root;
  let command: Action | Group = root;
  let group: Group = root;
  let level: Level = entries;
  let unknown: string | undefined;
  for (const { text, at } of readWords(words, commonFlags).operands) {
    const next = level.find(({ name, aliases = [] }) => name === text || aliases.includes(text));
    if (!next) {
      unknown = text;
      break;
    }
    path.push(next.name);
    used.add(at);
    named = next;
    command = 'load' in next ? await next.load() : next;
    if (!isGroup(command)) break;
    group = command;
    level = command.verbs;
  }
  const rest = words.filter((_, at) => !used.has(at));
  return { path, named, command, group, rest, unknown: isGroup(command) ? unknown : undefined };
}

const commonFlags: readonly Flag[] = Object.values({ ...globalFlags, ...writeFlags, help: helpFlag });

/** Every flag that a command takes, its own first, by key. */
export function flagsOf(command: Action | Group): Record<string, Flag> {
  return { ...ownFlags(command), ...globalFlags, help: helpFlag };
}

/** The flags of this command only. */
export function ownFlags(command: Action | Group): Record<string, Flag> {
  if (isGroup(command)) return {};
  const preview = command.write === 'planned' ? 'show the plan and write nothing' : writeFlags.dryRun.summary;
  const ofWrites = command.write ? { ...writeFlags, dryRun: { ...writeFlags.dryRun, summary: preview } } : {};
  return { ...command.flags, ...ofWrites };
}

/** `petstore pets list`. */
export function commandName(path: readonly string[]): string {
  return ['petstore', ...path].join(' ');
}

export function unknownCommand(
  path: readonly string[],
  word: string,
  commands: readonly Named[],
): UsageError {
  const near = closest(
    word,
    commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
  );
  const meant = commands.find(({ name, aliases = [] }) => near === name || aliases.includes(near ?? ''));
  const name = commandName(path);
  const hint = meant ? `did you mean ${meant.name}?` : `see \`${name} --help\``;
  return new UsageError(`${name}: unknown command '${word}'`, hint);
}
