import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { didYouMean } from '../process/text.ts';

// The build writes the help pages, and a table of the commands, flags and fixed values. This file answers from the table: which help
// page a line asks for, which command is unknown, and what the Tab key offers.

/** A flag or an argument, with the facts that completion needs. */
export interface WordSlot {
  /** `-o, --output <format>`, `<id or name...>`. */
  readonly syntax: string;
  readonly summary: string;
  /** The possible words, or the kind of value to look up. */
  readonly offers: readonly string[] | string;
  /** True if one word can hold several values, separated by commas. */
  readonly isList: boolean;
}

export interface CommandWords {
  /** The names from the first level on: `pets list`; empty for the program itself. */
  readonly path: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly verbs: readonly string[];
  /** True if it can be run without a verb. */
  readonly canRunAlone: boolean;
  readonly args: readonly WordSlot[];
  /** Its own flags, without those that every command takes. */
  readonly flags: readonly WordSlot[];
}

export interface WordTable {
  /** The flags that every command takes. */
  readonly flags: readonly WordSlot[];
  readonly commands: Readonly<Record<string, CommandWords>>;
  /** The words after `petstore help` that name a page about several commands. */
  readonly topics: readonly string[];
}

export interface LineMeaning {
  readonly command: CommandWords;
  /** The words without the names of the command: its flags and arguments. */
  readonly rest: readonly string[];
  /** The words that are not commands, flags or values of flags. None after an unknown flag, whose value they may be. */
  readonly operands: readonly string[];
  /** The first flag that is unknown where it stands, or to the command; never its value, which may be a token. */
  readonly unknownFlag: string | undefined;
  /** The flag that waits for its value at the end of the line. */
  readonly pending: WordSlot | undefined;
  readonly isAfterDashes: boolean;
}

/** The error for a command that a group does not have. */
interface UnknownCommand {
  readonly message: string;
  readonly hint: string;
}

/** A word that the Tab key offers. */
export interface Offer {
  readonly word: string;
  readonly summary?: string;
}

/** The possible completions of a word. */
interface Completion {
  /** The values, or the kind of values to look up; the shell knows the values of the kind `file`. */
  readonly offers: readonly Offer[] | string;
  /** The part of the word before the value: `sold,` in a list, `--status=`. */
  readonly stem: string;
}

/** The files that the build writes beside the bundle, with `help.ts`. */
export const tableFile = 'words.json';
export const pagesFile = 'help.txt';

/** Separates the help pages in their file. */
export const pageBreak = '\f';

/** Reads the table of commands, flags and fixed values. @param dist the folder of the bundle. */
export function readTable(dist: string): WordTable {
  return JSON.parse(readFileSync(join(dist, tableFile), 'utf8'));
}

/** Reads a page of help. @param isStyled whether its titles, such as `Usage:`, are bold. */
export function readPage(dist: string, name: string, isStyled: boolean): string {
  const heading = `${name}\n`;
  const pages = readFileSync(join(dist, pagesFile), 'utf8').split(pageBreak);
  const page = pages.find((text) => text.startsWith(heading))?.slice(heading.length);
  if (page === undefined) throw new Error(`help has no page '${name}'`);
  return isStyled ? page.replace(/^[A-Z][a-z]*:/gm, '\x1b[1m$&\x1b[22m') : page;
}

/** Returns true if a line asks for help instead of running a command. */
export function asksForHelp(words: readonly string[]): boolean {
  return words.length === 0 || words.length > withoutHelp(words).length;
}

/**
 * Finds the name of the page that a line asks for: `pets list` for `pets list --help`, `--help pets list` and `help pets list`;
 * `help formats` for a topic.
 */
export function findHelp(table: WordTable, words: readonly string[]): string | UnknownCommand {
  const rest = withoutHelp(words);
  // `runs --help` is the help of a command, and `help runs` is a topic.
  const meaning = meaningOfLine(table, rest);
  const { path } = meaning.command;
  const name = [path, ...meaning.operands].join(' ').trim();
  if (words[0] === 'help' && table.topics.includes(name)) return `help ${name}`;
  if (words.length === 0) return 'introduction';
  return findUnknown(table, meaning) ?? path;
}

/** Returns the error for a word that a group does not have as a command. */
export function findUnknown(
  table: WordTable,
  { command: { path, verbs }, operands: [word] }: LineMeaning,
): UnknownCommand | undefined {
  if (verbs.length === 0 || word === undefined) return undefined;
  const name = ['petstore', path].join(' ').trimEnd();
  const names = verbs.flatMap((verb) => [verb, ...(findVerb(table, path, verb)?.aliases ?? [])]);
  const hint = didYouMean(word, names) ?? `see \`${name} --help\``;
  return { message: `${name}: unknown command '${word}'`, hint };
}

/** Returns the command, the arguments and the pending flag of a line. */
export function meaningOfLine(table: WordTable, words: readonly string[]): LineMeaning {
  let command = table.commands[''] as CommandWords;
  let pending: WordSlot | undefined;
  let unknownFlag: string | undefined;
  let isAfterDashes = false;
  const rest: string[] = [];
  const operands: string[] = [];
  const flagWords: string[] = [];
  for (const word of words) {
    const isFlag = word.startsWith('-') && !/^-(\d*\.?\d+(e[+-]?\d+)?)?$/.test(word);
    const verb = isFlag || operands.length > 0 ? undefined : findVerb(table, command.path, word);
    if (isAfterDashes || (pending && !(isFlag && pending.syntax.includes('[')))) pending = undefined;
    else if (word === '--') {
      isAfterDashes = true;
      pending = undefined;
    } else if (isFlag) {
      const opened = openFlag(flagSlots(table, command), word);
      unknownFlag ??= opened.unknown;
      pending = opened.pending;
      flagWords.push(word);
    } else if (verb) {
      command = verb;
      continue;
    } else if (unknownFlag === undefined) operands.push(word);
    rest.push(word);
  }
  // A group has flags that only some of its verbs have.
  const slots = flagSlots(table, command);
  for (const word of flagWords) unknownFlag ??= openFlag(slots, word).unknown;
  return { command, rest, operands, unknownFlag, pending, isAfterDashes };
}

/** Finds the possible completions of the last word. */
export function completionOf(table: WordTable, words: readonly string[]): Completion {
  const current = words.at(-1) ?? '';
  const { command, operands, pending, isAfterDashes } = meaningOfLine(table, words.slice(0, -1));
  if (isAfterDashes) return { offers: 'file', stem: '' };
  const [name = '', ...values] = current.startsWith('--') && !pending ? current.split('=') : [];
  const slot = values.length > 0 ? openFlag(flagSlots(table, command), name).pending : pending;
  if (slot) {
    const start = values.length > 0 ? name.length + 1 : 0;
    const end = slot.isList ? Math.max(start, current.lastIndexOf(',') + 1) : start;
    return { offers: offersOf(table, slot), stem: current.slice(0, end) };
  }
  if (current.startsWith('-')) {
    const offers = flagSlots(table, command).map((flag) => ({ word: nameOf(flag), summary: flag.summary }));
    return { offers, stem: '' };
  }
  if (command.verbs.length > 0)
    return { offers: operands.length === 0 ? verbOffers(table, command) : [], stem: '' };
  const last = command.args.at(-1);
  const argument = command.args[operands.length] ?? (last?.syntax.includes('...') ? last : undefined);
  return { offers: argument ? offersOf(table, argument) : [], stem: '' };
}

function offersOf(table: WordTable, { offers }: WordSlot): Completion['offers'] {
  if (typeof offers !== 'string') return offers.map((word) => ({ word }));
  if (offers !== 'command') return offers;
  const verbs = verbOffers(table, table.commands[''] as CommandWords);
  const topics = table.topics.filter((topic) => verbs.every(({ word }) => word !== topic));
  return [...verbs, ...topics.map((word) => ({ word }))];
}

/**
 * Prints the offers that begin with the current word and are not in the list before it, for the scripts in `completions/`: one a line,
 * with its summary after a tab. Case does not matter, as it does not for names in commands.
 */
export function offersText(offers: readonly Offer[] | 'file', stem: string, current: string): string {
  // The shell offers the names of files.
  if (offers === 'file') return ':file\n';
  const prefix = current.slice(stem.length).toLowerCase();
  const given = stem.split(/[=,]/);
  return offers
    .filter(({ word }) => word.toLowerCase().startsWith(prefix) && !given.includes(word))
    .map(({ word, summary }) => `${stem}${word}${summary ? `\t${summary}` : ''}\n`)
    .join('');
}

function withoutHelp(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--');
  const line = end === -1 ? words : words.slice(0, end);
  const rest = line.filter((word) => word !== '--help' && word !== '-h');
  if (rest[0] === 'help') return rest.slice(1);
  return rest.length < line.length ? rest : words;
}

function findVerb(table: WordTable, path: string, word: string): CommandWords | undefined {
  const verbs = table.commands[path]?.verbs.map(
    (verb) => table.commands[path === '' ? verb : `${path} ${verb}`],
  );
  return verbs?.find((verb) => verb?.path.split(' ').at(-1) === word || verb?.aliases.includes(word));
}

function verbOffers(table: WordTable, { path, verbs }: CommandWords): Offer[] {
  return verbs.map((word) => ({ word, summary: findVerb(table, path, word)?.summary ?? '' }));
}

function flagSlots(table: WordTable, { flags }: CommandWords): readonly WordSlot[] {
  return [...flags, ...table.flags];
}

/** Finds the flag in a word that takes the next word as its value, such as `-o`, `-qo` or `--output`, or a flag that is unknown. */
function openFlag(
  flags: readonly WordSlot[],
  word: string,
): { readonly pending?: WordSlot; readonly unknown?: string } {
  if (word.startsWith('--')) {
    const [name = '', value] = word.split('=');
    const flag = flags.find((each) => nameOf(each) === name);
    if (!flag) return { unknown: name };
    if (takesValue(flag.syntax)) return value === undefined ? { pending: flag } : {};
    return value === undefined ? {} : { unknown: `${name}=…` };
  }
  for (const [at, letter] of [...word.slice(1)].entries()) {
    const flag = flags.find(({ syntax }) => syntax.startsWith(`-${letter},`));
    if (!flag) return { unknown: `-${letter}` };
    if (takesValue(flag.syntax)) return at === word.length - 2 ? { pending: flag } : {};
  }
  return {};
}

function takesValue(syntax: string): boolean {
  return /[<[]/.test(syntax);
}

/** Returns the name in a syntax: `--output` in `-o, --output <format>`, `id or name` in `<id or name...>`. */
export function nameOf({ syntax }: Pick<WordSlot, 'syntax'>): string {
  return /--[\w-]+/.exec(syntax)?.[0] ?? syntax.slice(1, -1).replace('...', '');
}
