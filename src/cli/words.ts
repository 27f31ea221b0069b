import { type Flag, nameOf, shortNameOf, takesValue } from './flag.ts';

/** A flag found on a command line. */
export interface GivenFlag {
  readonly flag: Flag;
  /** Undefined if it has no value. */
  readonly value?: string | undefined;
}

/** The words of a command line by their roles; nothing is checked yet. */
export interface ReadWords {
  /** The words that are neither flags nor values of flags, with their indexes. */
  readonly operands: readonly { readonly text: string; readonly at: number }[];
  readonly given: readonly GivenFlag[];
  /** The last flag, if its value is still missing. */
  readonly pending: Flag | undefined;
  /** True if `--` ended the flags. */
  readonly hasEnded: boolean;
}

/**
 * Separates flags, their values and the other words of a command line. An unknown flag counts as one without a value.
 * commander later checks and converts them; this finds the command, the format of errors, and the place for completion.
 */
export function readWords(words: readonly string[], flags: readonly Flag[]): ReadWords {
  const byName = new Map<string, Flag>();
  for (const flag of flags)
    for (const name of [nameOf(flag), shortNameOf(flag)]) if (name) byName.set(name, flag);
  const operands: { text: string; at: number }[] = [];
  const given: GivenFlag[] = [];
  let pending: Flag | undefined;
  let at = 0;

  const take = (flag: Flag, attached: string | undefined) => {
    const next = words[at + 1];
    const takes = takesValue(flag);
    if (attached !== undefined || !takes) given.push({ flag, value: attached });
    else if (takes === 'optional' && !flag.accepts?.test(next ?? '')) given.push({ flag });
    else if (next === undefined) pending = flag;
    else {
      given.push({ flag, value: next });
      at += 1;
    }
  };

  for (; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') return { operands, given, pending, hasEnded: true };
    if (isOperand(word)) operands.push({ text: word, at });
    else if (word.startsWith('--')) {
      const [name = '', ...rest] = word.split('=');
      const flag = byName.get(name);
      if (flag) take(flag, rest.length > 0 ? rest.join('=') : undefined);
    } else {
      for (let place = 1; place < word.length; place += 1) {
        const flag = byName.get(`-${word[place]}`);
        if (!flag) break;
        const isLast = place === word.length - 1;
        const hasValue = takesValue(flag) !== undefined;
        take(flag, hasValue && !isLast ? word.slice(place + 1).replace(/^=/, '') : undefined);
        if (hasValue) break;
      }
    }
  }
  return { operands, given, pending, hasEnded: false };
}

/** `-` is stdin, and `-3` is a number. */
function isOperand(word: string): boolean {
  return !word.startsWith('-') || word === '-' || /^-\d/.test(word);
}
