import type { Flag } from './flag.ts';
import { globalFlags, writeFlags } from './global-flags.ts';
import { type Action, type Group, isGroup, loadCommand, type Named } from './verb.ts';
import { readWords } from './words.ts';

/** The command that a command line names. */
export interface Found {
  /** The names from the first level on, without aliases: `['pets', 'list']`; empty for the program itself. */
  readonly path: readonly string[];
  readonly named: Named;
  readonly command: Action | Group;
  /** The group that contains it, or the command itself if it is a group. */
  readonly group: Group;
  /** The words other than the names of the command. */
  readonly rest: readonly string[];
  /** A word in the place of a command's name that names none. */
  readonly unknown: string | undefined;
}

/** Finds the command that the words name; loads no other commands. */
export async function findCommand(program: Named & Group, words: readonly string[]): Promise<Found> {
  const path: string[] = [];
  const used = new Set<number>();
  let named: Named = program;
  let command: Action | Group = program;
  let group: Group = program;
  let unknown: string | undefined;
  for (const { text, at } of readWords(words, commonFlags).operands) {
    const next = group.verbs.find(({ name, aliases = [] }) => name === text || aliases.includes(text));
    if (!next) {
      unknown = text;
      break;
    }
    path.push(next.name);
    used.add(at);
    named = next;
    command = await loadCommand(next);
    if (!isGroup(command)) break;
    group = command;
  }
  return { path, named, command, group, rest: words.filter((_, at) => !used.has(at)), unknown };
}

/** The flags that may stand before the name of a command. */
export const commonFlags: readonly Flag[] = Object.values({ ...globalFlags, ...writeFlags });

/** Every flag that a command takes, its own first, by key. */
export function flagsOf(command: Action | Group): Record<string, Flag> {
  return { ...ownFlags(command), ...globalFlags };
}

/** The flags of this command only. */
export function ownFlags(command: Action | Group): Record<string, Flag> {
  if (isGroup(command)) return { ...command.flags };
  const preview = command.write === 'planned' ? 'show the plan and write nothing' : writeFlags.dryRun.summary;
  const ofWrites = command.write ? { ...writeFlags, dryRun: { ...writeFlags.dryRun, summary: preview } } : {};
  return { ...command.flags, ...ofWrites };
}

/** `petstore pets list`. */
export function commandName(path: readonly string[]): string {
  return ['petstore', ...path].join(' ');
}
