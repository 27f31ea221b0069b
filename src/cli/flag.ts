import { UsageError } from '../errors.ts';

/** The completions of a value: fixed words, or a kind of value that `src/commands/completion/offers.ts` looks up. */
export type Offers = readonly string[] | OfferKind;

export type OfferKind =
  | 'category'
  | 'check'
  | 'command'
  | 'field'
  | 'file'
  | 'order'
  | 'pet'
  | 'profile'
  | 'run'
  | 'settingValue';

/** A flag of a command line: its spelling, its description and its parser. */
export interface Flag<Value = unknown> {
  /** The spelling for help and commander: `-o, --output <format>`, `--no-header`, `--watch [interval]`. */
  readonly written: string;
  readonly summary: string;
  /**
   * Parses the value; `before` is the value of an earlier use of the same flag. A flag without a value has no parser.
   *
   * @throws UsageError that names the flag.
   */
  readonly parse?: (text: string, before: unknown) => Value;
  /** The allowed words. */
  readonly choices?: readonly string[] | undefined;
  readonly offers?: Offers | undefined;
  /** Several values may be given in one text, separated by commas. */
  readonly isList?: boolean | undefined;
  /** The heading that help lists it under. */
  readonly group?: string | undefined;
  /** Keys of flags that cannot be combined with it. */
  readonly conflicts?: readonly string[] | undefined;
  /** Of `--flag [value]`: the next word is its value only if it matches this. */
  readonly accepts?: RegExp | undefined;
  /** The flag for which this is another spelling: `--json` gives `output` the value `json`. */
  readonly stands?: { readonly key: string; readonly value: unknown } | undefined;
}

/** A positional argument: `<id>`, `[run]`, `<id or name...>`. */
export interface Argument<Value = unknown> {
  readonly written: string;
  readonly summary: string;
  /** @throws UsageError that names the argument. */
  readonly parse?: (text: string) => Value;
  readonly choices?: readonly string[] | undefined;
  readonly offers?: Offers | undefined;
}

type Spec = Record<string, Flag | Argument>;

/** The values of flags or arguments, by their keys. */
export type ValuesOf<Specs extends Spec> = {
  readonly [Key in keyof Specs]: Specs[Key] extends Flag<infer Value>
    ? Value
    : Specs[Key] extends Argument<infer Value>
      ? Value
      : never;
};

interface More {
  readonly choices?: readonly string[];
  readonly offers?: Offers;
  readonly isList?: boolean;
  readonly group?: string;
  readonly conflicts?: readonly string[];
}

/** A flag that takes no value: true if it is given. */
export function flag(written: string, summary: string, more: More = {}): Flag<boolean | undefined> {
  return { written, summary, ...more };
}

/** A flag that takes a value. */
export function value(written: string, summary: string, more?: More): Flag<string | undefined>;
export function value<Value>(
  written: string,
  summary: string,
  parse: (text: string) => Value,
  more?: More,
): Flag<Value | undefined>;
export function value(
  written: string,
  summary: string,
  parse: ((text: string) => unknown) | More = {},
  more: More = {},
): Flag {
  if (typeof parse !== 'function') return { written, summary, parse: (text) => text, ...parse };
  return { written, summary, parse: (text) => parse(text), ...more };
}

/** A flag that can be repeated: all its values, in order. */
export function values(written: string, summary: string, more?: More): Flag<readonly string[] | undefined>;
export function values<Value>(
  written: string,
  summary: string,
  parse: (text: string) => Value,
  more?: More,
): Flag<readonly Value[] | undefined>;
export function values(
  written: string,
  summary: string,
  parse: ((text: string) => unknown) | More = {},
  more: More = {},
): Flag {
  const read = typeof parse === 'function' ? parse : (text: string) => text;
  return {
    written,
    summary,
    parse: (text, before) => [...((before as unknown[] | undefined) ?? []), read(text)],
    ...(typeof parse === 'function' ? more : parse),
  };
}

/** A flag that takes one of a few words. */
export function choice<const Word extends string>(
  written: string,
  summary: string,
  words: readonly Word[],
  more: More = {},
): Flag<Word | undefined> {
  return { written, summary, parse: oneOf(longName(written), words), choices: words, ...more };
}

/** A flag that takes words, separated by commas, and can be repeated. */
export function choices<const Word extends string>(
  written: string,
  summary: string,
  words: readonly Word[],
  more: More = {},
): Flag<readonly Word[] | undefined> {
  const read = oneOf(longName(written), words);
  return {
    written,
    summary,
    parse: (text, before) => [...((before as Word[] | undefined) ?? []), ...text.split(',').map(read)],
    choices: words,
    isList: true,
    ...more,
  };
}

/** A flag that counts how often it is given. */
export function count(written: string, summary: string): Flag<number | undefined> {
  return { written, summary, parse: (_, before) => (typeof before === 'number' ? before + 1 : 1) };
}

/**
 * A flag with an optional value.
 *
 * @param accepts the next word is the flag's value only if it matches this.
 * @param parse gets an empty text if there is no value.
 */
export function optional<Value>(
  written: string,
  summary: string,
  accepts: RegExp,
  parse: (text: string) => Value,
): Flag<Value | undefined> {
  return { written, summary, accepts, parse: (text) => parse(text) };
}

/** An argument; the brackets say whether it is optional and can be repeated: `<id>`, `[run]`, `<id...>`. */
export function argument(
  written: `<${string}...>`,
  summary: string,
  more?: More,
): Argument<readonly string[]>;
export function argument(
  written: `[${string}...]`,
  summary: string,
  more?: More,
): Argument<readonly string[]>;
export function argument(written: `<${string}>`, summary: string, more?: More): Argument<string>;
export function argument(written: `[${string}]`, summary: string, more?: More): Argument<string | undefined>;
export function argument(written: string, summary: string, more: More = {}): Argument {
  return { written, summary, ...more };
}

/** An argument with a parser; for `<id...>` it parses each text. */
export function parsed<Value>(
  written: `<${string}...>`,
  summary: string,
  parse: (text: string) => Value,
  more?: More,
): Argument<readonly Value[]>;
export function parsed<Value>(
  written: `[${string}...]`,
  summary: string,
  parse: (text: string) => Value,
  more?: More,
): Argument<readonly Value[]>;
export function parsed<Value>(
  written: `<${string}>`,
  summary: string,
  parse: (text: string) => Value,
  more?: More,
): Argument<Value>;
export function parsed<Value>(
  written: `[${string}]`,
  summary: string,
  parse: (text: string) => Value,
  more?: More,
): Argument<Value | undefined>;
export function parsed(
  written: string,
  summary: string,
  parse: (text: string) => unknown,
  more: More = {},
): Argument {
  return { written, summary, parse, ...more };
}

/** An argument that is one of a few words. */
export function oneOfArgument<const Word extends string>(
  written: `<${string}>` | `[${string}]`,
  summary: string,
  words: readonly Word[],
): Argument<Word | undefined> {
  return { written, summary, parse: oneOf(written.slice(1, -1), words), choices: words };
}

/** `--output` of `-o, --output <format>`. */
export function longName(written: string): string {
  return /--[\w-]+/.exec(written)?.[0] ?? written;
}

/** `-o` of `-o, --output <format>`. */
export function shortName(written: string): string | undefined {
  return /^-\w(?=,)/.exec(written)?.[0];
}

/** Whether a flag takes a value, and whether that is optional. */
export function takesValue({ written }: Pick<Flag, 'written'>): 'always' | 'optional' | undefined {
  if (written.endsWith('>')) return 'always';
  return written.endsWith(']') ? 'optional' : undefined;
}

function oneOf<Word extends string>(what: string, words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const found = words.find((word) => word === text);
    if (found === undefined) throw new UsageError(`${what} '${text}': must be one of ${words.join(', ')}`);
    return found;
  };
}
