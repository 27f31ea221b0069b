import { type Argument, type Flag, takesMany } from './flag.ts';
import { type GlobalFlags, globalFlags, writeFlags } from './global-flags.ts';

/** A flag on a command line, not yet parsed. */
export interface GivenFlag {
  /** Its key among the flags of the command. */
  readonly key: string;
  readonly flag: Flag;
  /** Its value; undefined if it has none. */
  readonly text?: string | undefined;
}

/**
 * The values of the given flags among some, by their keys. Of a flag that is given again its parser decides which value
 * counts.
 *
 * @throws UsageError that names the flag.
 */
export function valuesOf(given: readonly GivenFlag[], flags: Readonly<Record<string, Flag>>) {
  const values: Record<string, unknown> = {};
  for (const { key, flag, text } of given) {
    if (!(key in flags)) continue;
    const { stands, parse } = flag;
    if (stands) values[stands.key] = stands.value;
    else values[key] = parse ? parse(text ?? '', values[key]) : (text ?? true);
  }
  return values;
}

/**
 * The values of the arguments of a command, by their keys.
 *
 * @throws UsageError that names the argument.
 */
export function argumentsOf(operands: readonly string[], args: Readonly<Record<string, Argument>> = {}) {
  const values: Record<string, unknown> = {};
  for (const [at, [key, argument]] of Object.entries(args).entries()) {
    const parse = argument.parse ?? ((text: string) => text);
    const texts = operands.slice(at, takesMany(argument) ? undefined : at + 1);
    if (takesMany(argument)) values[key] = [];
    for (const text of texts) values[key] = parse(text, values[key]);
  }
  return values;
}

/** The values of the global flags among the given ones. */
export function globalsOf(given: readonly GivenFlag[]): GlobalFlags {
  return valuesOf(given, { ...globalFlags, ...writeFlags }) as GlobalFlags;
}
