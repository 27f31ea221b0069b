import { type KeyFlags, keyRules, type SettingKey } from '../config/keys.ts';
import { parseAt, parseChoice } from '../process/errors.ts';
import { choicesText } from '../process/text.ts';
import { nameOf } from './command-words.ts';

/** The completions of a value: fixed words, or a kind of value that `src/commands/completion.ts` looks up. */
type Offers = readonly string[] | OfferKind;

type OfferKind =
  | 'category'
  | 'command'
  | 'field'
  | 'file'
  | 'order'
  | 'pet'
  | 'profile'
  | 'run'
  | 'setting'
  | 'sort'
  | 'status';

/** The kinds of values that must be looked up. */
export type LookUpKind = Exclude<OfferKind, 'command' | 'file'>;

/** A positional argument: `<id>`, `[run]`, `<id or name...>`. */
export interface Argument<Value = unknown> {
  readonly syntax: string;
  readonly summary: string;
  /**
   * Parses a text. `soFar` is the value that a repeated flag or argument has from its earlier texts. A flag that can only be given or
   * not has no parser.
   *
   * @throws UsageError that names the flag or argument.
   */
  readonly parse?: (text: string, soFar: unknown) => Value;
  readonly choices?: readonly string[] | undefined;
  readonly offers?: Offers | undefined;
}

/** A flag: `-o, --output <format>`, `--no-header`, `--watch [interval]`. */
export interface Flag<Value = unknown> extends Argument<Value> {
  /** What counts without the flag, if that is a setting. */
  readonly defaultText?: string | undefined;
  /** Several values may be given in one text, separated by commas. */
  readonly isList?: boolean | undefined;
  /** The help topic that explains it. The help of the command then only names the flag. */
  readonly topic?: string | undefined;
  /** Keys of flags that cannot be combined with it. */
  readonly conflicts?: readonly string[] | undefined;
  /** The key of the flag that it sets: `--json` sets `output` to `json`. */
  readonly key?: string | undefined;
}

/** The values of flags or arguments, by their keys. */
export type ValuesOf<Specs extends Record<string, Argument>> = {
  readonly [Key in keyof Specs]: Specs[Key] extends Argument<infer Value> ? Value : never;
};

type FlagDetails = Omit<Flag, 'syntax' | 'summary' | 'parse' | 'key'>;

interface ValueOptions<Value> extends FlagDetails {
  /**
   * Parses the text, which can be empty for `--flag [value]`. Without a parser the value is the text itself.
   *
   * @throws ValueError, which gets the label and the text.
   */
  readonly parse?: (text: string) => Value;
  /** The name of the flag or argument in errors; by default the one in its syntax. */
  readonly label?: string;
}

/** Makes a flag without a value: true if it is given. */
export function flag(syntax: string, summary: string, details: FlagDetails = {}): Flag<boolean | undefined> {
  return { syntax, summary, ...details };
}

/** Makes a flag that takes a value. */
export function value<Value = string>(
  syntax: string,
  summary: string,
  options: ValueOptions<Value> = {},
): Flag<NoInfer<Value> | undefined> {
  return { syntax, summary, ...options, parse: createParser(syntax, options) };
}

/** Makes a flag that can be repeated. Its value is the list of all values, in order. */
export function values<Value = string>(
  syntax: string,
  summary: string,
  options: ValueOptions<Value> = {},
): Flag<readonly NoInfer<Value>[] | undefined> {
  return { syntax, summary, ...options, parse: collect(createParser(syntax, options), options.isList) };
}

/** Makes a flag whose value is one of a few words. */
export function choice<const Word extends string>(
  syntax: string,
  summary: string,
  words: readonly Word[],
  details: FlagDetails = {},
): Flag<Word | undefined> {
  return value(syntax, summary, { parse: (text) => parseChoice(text, words), choices: words, ...details });
}

/** The brackets of an argument say whether it is optional and can be repeated: `<id>`, `[run]`, `<id...>`. */
type Bracketed<Syntax extends string, Value> = Syntax extends `${string}...${string}`
  ? readonly Value[]
  : Syntax extends `[${string}`
    ? Value | undefined
    : Value;

/** The brackets in the syntax of an argument decide the type of its value. */
export function argument<Syntax extends string, Value = string>(
  syntax: Syntax,
  summary: string,
  options?: ValueOptions<Value>,
): Argument<Bracketed<Syntax, NoInfer<Value>>>;
export function argument(syntax: string, summary: string, options: ValueOptions<unknown> = {}): Argument {
  const parse = createParser(syntax, options);
  return { syntax, summary, ...options, parse: syntax.includes('...') ? collect(parse) : parse };
}

function createParser<Value>(
  syntax: string,
  { parse, label = nameOf({ syntax }) }: ValueOptions<Value>,
): (text: string) => Value {
  return (text) => parseAt(label, text, () => (parse ? parse(text) : (text as Value)));
}

/** Makes a parser that appends the value of each text to the values so far. */
function collect<Value>(
  parse: (text: string) => Value,
  isList = false,
): (text: string, soFar: unknown) => readonly Value[] {
  return (text, soFar) => [
    ...((soFar as readonly Value[] | undefined) ?? []),
    ...(isList ? text.split(',') : [text]).map((part) => parse(part)),
  ];
}

/** Returns the meaning of a flag or an argument for help, with its default and its choices. */
export function meaningOf({ summary, defaultText, choices }: Flag): string {
  const facts = [
    ...(defaultText === undefined ? [] : [`default: ${defaultText}`]),
    ...(choices ? [`one of ${choicesText(choices)}`] : []),
  ];
  return facts.length > 0 ? `${summary} (${facts.join('; ')})` : summary;
}

export function keyFlag(key: SettingKey): Flag<string | undefined> {
  const { placeholder = '<value>', isFile, choices, summary, defaultText } = keyRules[key];
  return value(`--${key} ${placeholder}`, summary, {
    ...(isFile && { offers: 'file' }),
    choices,
    defaultText,
  });
}

/** The flags that every command takes, before or after its words. */
export const globalFlags = {
  profile: value('--profile <name>', 'use this profile', { offers: 'profile' }),
  'base-url': keyFlag('base-url'),
  offline: flag('--offline', 'use the embedded store instead of a service'),
  output: { ...keyFlag('output'), syntax: '-o, --output <format>' },
  json: { ...flag('--json', 'short for -o json'), key: 'output', parse: () => 'json' },
  fields: value('--fields <a,b>', 'columns to show, in this order; `help` lists them', {
    offers: 'field',
    isList: true,
    parse: (text) => text.split(',').map((field) => field.trim()),
  }),
  sort: value('--sort <field>', 'sort by a field; -field for descending', { offers: 'sort' }),
  noHeader: flag('--no-header', 'leave out the header row'),
  quiet: flag('-q, --quiet', 'hide notes, progress and lines such as `deleted pet 3` on stderr'),
  verbose: {
    ...flag('-v, --verbose', 'one line per request on stderr; -vv adds headers'),
    parse: (_: string, soFar: unknown) => Number(soFar ?? 0) + 1,
  },
  color: keyFlag('color'),
  timeout: keyFlag('timeout'),
  retries: keyFlag('retries'),
  headers: values('-H, --header <name: value>', 'add a header to every request'),
  yes: flag('-y, --yes', 'answer yes to confirmations'),
  noInput: flag('--no-input', 'never ask'),
  help: flag('-h, --help', 'show help'),
} satisfies Record<string, Flag>;

/** The flags of `petstore` without a command. */
export const programFlags = { version: flag('--version', 'print the version') } satisfies Record<
  string,
  Flag
>;

/** The flags of commands that change records of the service. */
export const writeFlags = {
  dryRun: flag('--dry-run', 'show the request or the plan, and write nothing'),
  confirm: value('--confirm <profile>', 'name of the profile, if it is protected', { offers: 'profile' }),
} satisfies Record<string, Flag>;

/** The values of the flags that several commands share, and of the flags for settings. */
export type GlobalFlags = Partial<ValuesOf<typeof globalFlags> & ValuesOf<typeof writeFlags>> & KeyFlags;
