import { Command, Option } from '@commander-js/extra-typings';
import type { Command as AnyCommand } from 'commander';
import { outputFormats } from '../config/values.ts';
import type { GlobalFlags } from '../context.ts';
import type { Entry } from './entry.ts';

export { Argument, Command, Option } from '@commander-js/extra-typings';
export { type Command as AnyCommand, CommanderError } from 'commander';

/** What a verb says of itself, beside its entry; its arguments, flags and action follow on the Command that `verb` gives. */
interface About {
  /** More than the summary, where it needs it. */
  readonly description?: string;
  /** Whole command lines, the most useful first. */
  readonly examples: readonly string[];
  /** It changes records of the service, after a plan or at once: takes --dry-run and --confirm. */
  readonly write?: true | 'planned';
}

/** A command that acts, with every flag that all commands take. */
export function verb(entry: Entry, about: About): Command {
  const command = named(entry).description(about.description ?? entry.summary);
  if (about.write) {
    const preview =
      about.write === 'planned' ? 'show the plan and write nothing' : 'print the request and send nothing';
    command.option(dryRunFlag, preview).option(confirmFlag, 'name of the profile, where it is protected');
  }
  facts.set(command, { ...entry, ...about });
  return withGlobalFlags(command);
}

/** A noun: a command that only holds verbs. */
export function group(entry: Entry): Command {
  const command = named(entry)
    .description(entry.summary)
    .usage('<verb> [arguments] [flags]')
    .commandsGroup('Verbs:')
    .helpCommand(false);
  facts.set(command, entry);
  return withFlagsOfVerbs(command);
}

/** A command by name only, for the help of those above it: it takes no flags. */
export function outline(entry: Entry): Command {
  const command = named(entry);
  facts.set(command, entry);
  return command;
}

function named({ name, aliases = [], summary }: Entry): Command {
  return new Command(name).summary(summary).aliases([...aliases]);
}

/** Puts commands under another, each with its own commands, and hands down where help goes and how errors leave. */
export function addCommands(
  parent: AnyCommand,
  commands: readonly object[],
  options: { readonly hidden?: boolean } = {},
): void {
  for (const command of commands as readonly AnyCommand[]) {
    parent.addCommand(command, options);
    inherit(command, parent);
  }
}

function inherit(command: AnyCommand, parent: AnyCommand): void {
  command.copyInheritedSettings(parent);
  for (const sub of command.commands) inherit(sub, command);
}

/** What was said of a command, as far as it is declared, for help, completions and the man page. */
export function aboutOf(command: object): (Entry & Partial<About>) | undefined {
  return facts.get(command);
}

/** The flags of all levels as one: the nearest to the verb wins, headers and `-v` add up. */
export function mergeFlags(action: AnyCommand): GlobalFlags {
  const chain: AnyCommand[] = [];
  for (let at: AnyCommand | null = action; at; at = at.parent) chain.unshift(at);
  const levels = chain.map((command) => command.opts<FlagValues>());
  const headers = levels.flatMap((level) => level.header ?? []);
  const verbose = levels.reduce((sum, level) => sum + (level.verbose ?? 0), 0);
  const merged: FlagValues = Object.assign({}, ...levels.map(withoutDefaults));
  const { header: _, headerRow, input, ...flags } = merged;
  return {
    ...flags,
    header: levels.every((level) => level.headerRow !== false),
    input: levels.every((level) => level.input !== false),
    headers,
    verbose,
  };
}

interface FlagValues extends Omit<GlobalFlags, 'header' | 'headers'> {
  readonly header?: readonly string[];
  readonly headerRow?: boolean;
}

const facts = new WeakMap<object, Entry & Partial<About>>();

function withoutDefaults(level: FlagValues): FlagValues {
  return Object.fromEntries(Object.entries(level).filter(([, value]) => value !== undefined)) as FlagValues;
}

const dryRunFlag = '--dry-run';
const confirmFlag = '--confirm <profile>';

/** Declares on what stands before a verb the flags that every verb takes, and, unseen, those of writes. */
export function withFlagsOfVerbs(command: Command): Command {
  const ofWrites = [new Option(dryRunFlag), new Option(confirmFlag)] as Option[];
  for (const option of ofWrites) command.addOption(option.hideHelp());
  return withGlobalFlags(command);
}

/** A flag of writes that stands before a verb that does not take it; undefined where there is none. */
export function strayFlag(action: AnyCommand): string | undefined {
  const isTaken = (option: Option) => action.options.some(({ long }) => long === option.long);
  for (let at = action.parent; at; at = at.parent) {
    const given = at.opts();
    const hidden = at.options.filter((option) => option.hidden) as Option[];
    const stray = hidden.find((option) => given[option.attributeName()] !== undefined && !isTaken(option));
    if (stray) return stray.long;
  }
  return undefined;
}

/** Declares on a command the flags that every command takes. */
function withGlobalFlags(command: Command): Command {
  globalOptions ??= createGlobalOptions();
  for (const option of globalOptions) command.addOption(option);
  return command;
}

/** Made once: every command shares them. */
let globalOptions: readonly Option[] | undefined;

function createGlobalOptions(): Option[] {
  const noHeader = new Option('--no-header', 'leave out the header row');
  noHeader.attributeName = () => 'headerRow';
  const json = new Option('--json', 'short for -o json').preset('json');
  json.attributeName = () => 'output';
  const options = [
    new Option('--profile <name>', 'use this profile'),
    new Option('--base-url <url>', 'call the service at this address'),
    new Option('--offline', 'use the embedded store, no service'),
    // `-o=json` as in kubectl: what stands right after a short flag is its value, to commander with the sign.
    new Option('-o, --output <format>', `one of ${outputFormats.join(', ')}`).argParser((text: string) =>
      text.replace(/^=/, ''),
    ),
    json,
    new Option('--fields <a,b>', 'columns to show, in this order; help lists them'),
    new Option('--sort <field>', 'sort by a field; -field for descending'),
    noHeader,
    new Option('-q, --quiet', 'show no notices on stderr'),
    new Option('-v, --verbose', 'one line per request on stderr; -vv adds headers')
      .argParser(countUp)
      .default(undefined),
    new Option('--color <when>', 'auto, always or never'),
    new Option('--timeout <duration>', 'deadline of a whole call, retries included (default 30s)'),
    new Option('--retries <n>', 'retry a request at most n times (default 4)'),
    new Option('-H, --header <name: value>', 'add a header to every request').argParser(collect),
    new Option('--ca-cert <file>', 'trust these authorities too (PEM)'),
    new Option('--client-cert <file>', 'certificate to show to the service (PEM)'),
    new Option('--client-key <file>', 'its private key (PEM)'),
    new Option('--allow-insecure-http', 'send the token over plain http too'),
    new Option('-y, --yes', 'answer yes to confirmations'),
    new Option('--no-input', 'never ask'),
  ] as Option[];
  return options.map((option) => option.helpGroup('Global flags:'));
}

function countUp(_: string, before: unknown): number {
  return typeof before === 'number' ? before + 1 : 1;
}

/** For a flag that may be given again: every value, in the order given. */
export function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}
