import { ValueError, wrongValueError } from '../config/setting-values.ts';

/** The completions of a value: fixed words, or a kind of value that `src/commands/completion.ts` looks up. */
type Offers = readonly string[] | OfferKind;

type OfferKind =
  | 'category'
  | 'check'
  | 'command'
  | 'field'
  | 'file'
  | 'order'
  | 'ownProfile'
  | 'pet'
  | 'profile'
  | 'run'
  | 'settingValue';

/** The kinds of values that must be looked up. */
export type LookUpKind = Exclude<OfferKind, 'command' | 'file'>;

/** A positional argument: `<id>`, `[run]`, `<id or name...>`. */
export interface Argument<Value = unknown> {
  readonly syntax: string;
  readonly summary: string;
  /**
   * Parses the value; `before` is the value so far of a flag or argument that is repeated. A flag without a value has no
   * parser.
   *
   * @throws UsageError that names the flag or argument.
   */
  readonly parse?: (text: string, before: unknown) => Value;
  /** The allowed words. */
  readonly choices?: readonly string[] | undefined;
  readonly offers?: Offers | undefined;
}

/** A flag: `-o, --output <format>`, `--no-header`, `--watch [interval]`. */
export interface Flag<Value = unknown> extends Argument<Value> {
  /** Several values may be given in one text, separated by commas. */
  readonly isList?: boolean | undefined;
  /** The heading that help lists it under. */
  readonly group?: string | undefined;
  /** The topic of help that explains it. The help of a verb then only names the flag. */
  readonly topic?: string | undefined;
  /** Keys of flags that cannot be combined with it. */
  readonly conflicts?: readonly string[] | undefined;
  /** The key of the flag that it also sets: `--json` gives `output` the value `json`. */
  readonly key?: string | undefined;
}

/** The values of flags or arguments, by their keys. */
export type ValuesOf<Specs extends Record<string, Argument>> = {
  readonly [Key in keyof Specs]: Specs[Key] extends Argument<infer Value> ? Value : never;
};

type More = Omit<Flag, 'syntax' | 'summary' | 'parse' | 'key'>;

interface Options<Value> extends More {
  /**
   * The value of a text, which for `--flag [value]` may be empty; without a parser the text itself.
   *
   * @throws ValueError, to which label and text are added; or a UsageError.
   */
  readonly parse?: (text: string, label: string) => Value;
  /** The name of the flag or argument in errors; by default that in its syntax. */
  readonly label?: string;
}

/** A flag that takes no value: true if it is given. */
export function flag(syntax: string, summary: string, more: More = {}): Flag<boolean | undefined> {
  return { syntax, summary, ...more };
}

/** A flag that counts how often it is given. */
export function count(syntax: string, summary: string): Flag<number | undefined> {
  return { syntax, summary, parse: (_, before) => (typeof before === 'number' ? before + 1 : 1) };
}

/** A flag that takes a value. */
export function value<Value = string>(
  syntax: string,
  summary: string,
  options: Options<Value> = {},
): Flag<NoInfer<Value> | undefined> {
  return { syntax, summary, ...options, parse: parserOf(syntax, options) };
}

/** A flag that can be repeated: all its values, in order. */
export function values<Value = string>(
  syntax: string,
  summary: string,
  options: Options<Value> = {},
): Flag<readonly NoInfer<Value>[] | undefined> {
  return { syntax, summary, ...options, parse: collect(parserOf(syntax, options)) };
}

/** A flag, or an optional argument, that is one of a few words. */
export function choice<const Word extends string>(
  syntax: string,
  summary: string,
  words: readonly Word[],
  more: More = {},
): Flag<Word | undefined> {
  return value(syntax, summary, { parse: parseWord(words), choices: words, ...more });
}

/** A flag that takes words, separated by commas, and can be repeated. */
export function choices<const Word extends string>(
  syntax: string,
  summary: string,
  words: readonly Word[],
): Flag<readonly Word[] | undefined> {
  const parse = parserOf(syntax, { parse: parseWord(words) });
  return {
    syntax,
    summary,
    parse: (text, before) => [
      ...((before as readonly Word[] | undefined) ?? []),
      ...text.split(',').map(parse),
    ],
    choices: words,
    isList: true,
  };
}

/** The brackets of an argument say whether it is optional and can be repeated: `<id>`, `[run]`, `<id...>`. */
type Bracketed<Syntax extends string, Value> = Syntax extends `${string}...${string}`
  ? readonly Value[]
  : Syntax extends `[${string}`
    ? Value | undefined
    : Value;

/** An argument; a repeated one is parsed word by word. */
export function argument<Syntax extends string, Value = string>(
  syntax: Syntax,
  summary: string,
  options?: Options<Value>,
): Argument<Bracketed<Syntax, NoInfer<Value>>>;
export function argument(syntax: string, summary: string, options: Options<unknown> = {}): Argument {
  const parse = parserOf(syntax, options);
  return { syntax, summary, ...options, parse: takesMany({ syntax }) ? collect(parse) : parse };
}

function parserOf<Value>(
  syntax: string,
  { parse, label = nameOf({ syntax }) }: Options<Value>,
): (text: string) => Value {
  return (text) => {
    try {
      return parse ? parse(text, label) : (text as Value);
    } catch (error) {
      throw error instanceof ValueError ? wrongValueError(label, text, error.message) : error;
    }
  };
}

/** Appends the value of each text to the values before it. */
function collect<Value>(parse: (text: string) => Value): (text: string, before: unknown) => readonly Value[] {
  return (text, before) => [...((before as readonly Value[] | undefined) ?? []), parse(text)];
}

/** Parses one of a few words, without regard to case. */
export function parseWord<Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const match = words.find((word) => word === text) ?? words.find((word) => word === text.toLowerCase());
    if (match === undefined) throw new ValueError(`must be one of ${inWords(words)}`);
    return match;
  };
}

/** Returns the summary of a flag or argument with its choices. */
export function meaningOf({ summary, choices }: Argument): string {
  return choices ? `${summary} (one of ${inWords(choices)})` : summary;
}

/** Joins words with commas, and quotes punctuation: `csv, json` or `'.', ','`. */
function inWords(choices: readonly string[]): string {
  return choices.map((word) => (/^\w/.test(word) ? word : `'${word}'`)).join(', ');
}

type WithSyntax = Pick<Argument, 'syntax'>;

/** Returns the name in a syntax: `--output` in `-o, --output <format>`, `id or name` in `<id or name...>`. */
export function nameOf({ syntax }: WithSyntax): string {
  return /--[\w-]+/.exec(syntax)?.[0] ?? syntax.slice(1, -1).replace('...', '');
}

/** Returns whether an argument takes all words that follow, such as `<id...>`. */
export function takesMany({ syntax }: WithSyntax): boolean {
  return syntax.includes('...');
}
