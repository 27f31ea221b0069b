import { type Flag, nameOf, shortNameOf, takesValue } from './flag.ts';

/** A flag found on a command line. */
export interface GivenFlag {
  readonly flag: Flag;
  /** Undefined if it has no value. */
  readonly value?: string | undefined;
}

/** The words of a command line by their roles; nothing is checked yet. */
interface ReadWords {
  /** The words that are neither flags nor values of flags, with their indexes. */
  readonly operands: readonly { readonly text: string; readonly at: number }[];
  readonly given: readonly GivenFlag[];
  /** The last flag, if its value is still missing. */
  readonly pending: Flag | undefined;
  /** True if `--` ended the flags. */
  readonly hasEnded: boolean;
  /**
   * The words for commander: `--watch 5s` as `--watch=5s`, and a bare `--watch` as `--watch=`, because commander would
   * take any next word as the value; an unknown flag without its value, which may be a token, and is not to be printed.
   */
  readonly forCommander: readonly string[];
}

/**
 * Separates flags, their values and the other words of a command line. An unknown flag counts as one without a value.
 * commander later checks and converts them; this finds the command, the format of errors, and the place for completion.
 */
export function readWords(words: readonly string[], flags: readonly Flag[]): ReadWords {
  const byName = new Map(
    flags.flatMap((flag) => [nameOf(flag), shortNameOf(flag)].map((name) => [name, flag] as const)),
  );
  const operands: { text: string; at: number }[] = [];
  const given: GivenFlag[] = [];
  const forCommander: string[] = [];
  let pending: Flag | undefined;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--')
      return {
        operands,
        given,
        pending,
        hasEnded: true,
        forCommander: [...forCommander, ...words.slice(at)],
      };
    forCommander.push(word);
    if (isOperand(word)) {
      operands.push({ text: word, at });
      continue;
    }
    const found = flagsIn(word, byName);
    if (found.length === 0) forCommander[forCommander.length - 1] = word.split('=')[0] ?? '';
    for (const { flag, value } of found) {
      const takes = value === undefined ? takesValue(flag) : undefined;
      const next = words[at + 1];
      const taken = takes === 'always' || (takes && flag.accepts?.test(next ?? '')) ? next : undefined;
      if (takes === 'optional') forCommander.push(`${forCommander.pop()}=${taken ?? ''}`);
      else if (taken !== undefined) forCommander.push(taken);
      if (taken !== undefined) at += 1;
      if (takes === 'always' && taken === undefined) pending = flag;
      else given.push({ flag, value: value ?? taken });
    }
  }
  return { operands, given, pending, hasEnded: false, forCommander };
}

/** `-` is stdin, and `-3` is a number. */
function isOperand(word: string): boolean {
  return !word.startsWith('-') || word === '-' || /^-\d/.test(word);
}

/** The flags of `--output=json`, or of a cluster such as `-qojson`, whose last flag may have a value attached. */
function flagsIn(word: string, byName: ReadonlyMap<string | undefined, Flag>): GivenFlag[] {
  if (word.startsWith('--')) {
    const [name, attached] = word.split(/=(.*)/s);
    const flag = byName.get(name);
    return flag ? [{ flag, value: attached }] : [];
  }
  const found: GivenFlag[] = [];
  for (let place = 1; place < word.length; place += 1) {
    const flag = byName.get(`-${word[place]}`);
    if (!flag) break;
    const attached = word.slice(place + 1);
    if (takesValue(flag))
      return [...found, { flag, value: attached ? attached.replace(/^=/, '') : undefined }];
    found.push({ flag });
  }
  return found;
}
