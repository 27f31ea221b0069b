import { type NamedNoun, nouns } from '../api/nouns.ts';
import { argument, choice, value, values } from '../cli/flag.ts';
import { parseDuration } from '../config/keys.ts';
import { UsageError, ValueError } from '../process/errors.ts';
import { parseIdOrName, parsePositiveQuantity, parseQuantity, parseText } from '../records/parse-values.ts';

export const petIdArgument = argument('<petId>', 'id or name of the pet', {
  parse: parseIdOrName,
  offers: 'pet',
});

export const petIdsArgument = argument('<petId...>', 'ids or names of pets', {
  parse: parseIdOrName,
  offers: 'pet',
});

export const quantityArgument = argument('<quantity>', 'the stock count', { parse: parseQuantity });

/** The id of a run, such as `r7`. Its number alone is enough. */
export const parseRunId = (text: string) => (/^\d+$/.test(text) ? `r${text}` : text);

/** The flags of every list. */
export const listFlags = {
  limit: value('--limit <n>', 'show at most n (default: all)', {
    parse: parsePositiveQuantity,
  }),
  watch: value('--watch [interval]', 'print the table again and again (default: every 5s)', {
    parse: parseInterval,
  }),
  failIf: choice('--fail-if <which>', 'exit 8 if there are records, or none', ['any', 'none'], {
    conflicts: ['watch'],
  }),
};

/** Parses the interval of --watch. @returns milliseconds @throws ValueError. */
function parseInterval(text: string): number {
  const intervalMs = text === '' ? 5000 : parseDuration(text);
  if (intervalMs < 1000) throw new ValueError('must be a duration of at least 1s');
  return intervalMs;
}

/** Creates `--category <id or name>` or `--pet <id or name>`. */
export function referenceFlag(noun: NamedNoun, summary: string) {
  const offers = nouns[noun].singular;
  return value(`--${offers} <id or name>`, summary, {
    parse: (text) => parseIdOrName(parseText(text)),
    offers,
  });
}

/** Creates `--status` of a list. It can be repeated; a record with any of the values matches. */
export function statusesFlag(summary: string) {
  return values('--status <status>', `${summary}, such as available; can be repeated`, {
    offers: 'status',
    isList: true,
  });
}

/** Creates `--from`. @param conflicts the keys of the flags that cannot be combined with it */
export function fromFlag(summary: string, conflicts: readonly string[] = []) {
  return value('--from <file or ->', summary, { parse: parseText, conflicts, offers: 'file' });
}

export const fieldFlag = values(
  '--field <name=value>',
  'a further field of the service; name:=value is JSON',
);

/** A row as a person names it: the id of its record, or `line:7`; with the id of the record that a create has made. */
export interface NamedRow {
  readonly name: string;
  readonly made: bigint | undefined;
}

/** Parses `42`, `line:7` or `line:7=42`. @throws UsageError. */
export function parseNamedRow(text: string): NamedRow {
  const [, id, line, made] = /^(?:(\d{1,19})|line:([1-9]\d{0,14}))(?:=(\d{1,19}))?$/.exec(text) ?? [];
  if (id === undefined && line === undefined)
    throw new UsageError(`'${text}': must be the id of a record, or line:<n> of the input, or line:<n>=<id>`);
  return {
    name: id === undefined ? `line:${line}` : `${BigInt(id)}`,
    made: made === undefined ? undefined : BigInt(made),
  };
}
