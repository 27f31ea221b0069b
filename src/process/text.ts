/** Matches most text. V8 takes long to create the Unicode classes below, so they are created only if they are needed. */
const printable = /^[\x20-\x7e]*$/;
let unsafe: RegExp | undefined;

/**
 * Makes foreign text safe to show. C0 (also tab and newline), DEL, C1, bidirectional controls, line separators and lone
 * surrogates become visible escapes such as `\x1b` or `\u202e`.
 *
 * @param allowed the characters that stay as they are.
 */
export function sanitize(text: string, allowed = ''): string {
  if (printable.test(text)) return text;
  unsafe ??= /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;
  return text.replace(unsafe, (character) => (allowed.includes(character) ? character : toEscape(character)));
}

/** Writes surrogates without a partner as `\ud800`, because UTF-8 has no bytes for them. */
export function escapeSurrogates(text: string): string {
  return printable.test(text) ? text : text.replace(/\p{Cs}/gu, toEscape);
}

function toEscape(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : unicodeEscapes(character);
}

/** Writes each UTF-16 unit of a text as `\uXXXX`. */
export function unicodeEscapes(text: string): string {
  return text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Commands to the runner of a CI job: `::` of GitHub and `section_start:` of GitLab at a line's start, `##[` and `##vso[`
 * of Azure anywhere.
 */
const runnerCommands = /(?<=^[^\S\n\r]*)::|(?<=^[^\S\n\r]*section_(?:start|end)):|##(?:vso)?\[/gim;

/** Breaks up commands to the runner of a CI job: the last character of each becomes an escape such as `\u003a`. */
export function breakRunnerCommands(text: string): string {
  return text.replace(runnerCommands, (command) => command.replace(/.$/, unicodeEscapes));
}

/** The entities that XML and HTML both name. Some readers of JUnit reports decode no others, and no numbers. */
const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' } as const;

/** Escapes a text for HTML and XML, also within quoted attributes. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character as keyof typeof entities]);
}

/** Undoes the percent-encoding of a text. Anything that is not percent-encoded UTF-8 stays as it is. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The day of a moment in UTC: YYYY-MM-DD. */
export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** A time of RFC 3339, or one without its time, its seconds or its offset. The offset may stand after a space. */
const momentPattern =
  /^(\d{4}-\d\d-\d\d)(?:[t ](\d\d:\d\d)(:(?:[0-5]\d|60)(?:\.\d+)?)? ?(z|utc|[+-]\d\d:?\d\d)?)?$/i;

/** Returns a moment in milliseconds of Unix time, or NaN for any other text. Some services leave out the offset: then UTC is meant. */
export function momentOf(text: string): number {
  const [, day = '', time = '00:00', seconds = '', offset = 'z'] = momentPattern.exec(text) ?? [];
  const midnight = new Date(`${day}T00:00Z`);
  // Date makes 2 March of 30 February.
  if (Number.isNaN(midnight.getTime()) || dayOf(midnight) !== day) return Number.NaN;
  const zone = offset
    .replace(/^(z|utc)$/i, 'Z')
    .replace(/(\d\d)$/, ':$1')
    .replace('::', ':');
  // JavaScript has no leap seconds.
  return Date.parse(`${day}T${time}${seconds.replace(':60', ':59')}${zone}`);
}

/**
 * Prints a moment in the time zone of the process: `2026-12-02 14:00`. Midnight in UTC stands for a whole day and is printed
 * without a time.
 *
 * @param text of a moment: see `momentOf`. Any other text is returned as it is.
 */
export function minuteText(text: string): string {
  const ms = momentOf(text);
  if (Number.isNaN(ms)) return text;
  const moment = new Date(ms);
  if (ms % 86_400_000 === 0) return dayOf(moment);
  const localMoment = new Date(ms - moment.getTimezoneOffset() * 60_000);
  return localMoment.toISOString().slice(0, 16).replace('T', ' ');
}

/** Returns ` (and 2 more like this: lines 5, 6)`, to follow an example; empty if there are no more. */
export function moreLikeThis(lines: readonly number[], unit = 'line'): string {
  if (lines.length === 0) return '';
  const units = lines.length === 1 ? unit : `${unit}s`;
  return ` (and ${groupDigits(lines.length)} more like this: ${units} ${joinFirst(lines.map(String), 10)})`;
}

/** A word with `a` or `an` before it. */
export function withArticle(word: string): string {
  return `${'aeiouAEIOU'.includes(word.charAt(0)) ? 'an' : 'a'} ${word}`;
}

/** A whole number in groups of three digits: 1,234,567. */
export function groupDigits(value: number | bigint): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 row`, `2,000 rows`. */
export function countText(count: number, singular: string, plural: string): string {
  return `${groupDigits(count)} ${count === 1 ? singular : plural}`;
}

/** Joins the first texts with commas, and counts the others: `a, b and 3 more`. @param most how many texts are joined. */
export function joinFirst(texts: readonly string[], most: number): string {
  const count = texts.length > most ? ` and ${groupDigits(texts.length - most)} more` : '';
  return texts.slice(0, most).join(', ') + count;
}

/** Joins words with commas, and quotes punctuation: `csv, json` or `".", ","`. */
export function choicesText(choices: readonly string[]): string {
  return choices.map((word) => (/^\w/.test(word) ? word : `"${word}"`)).join(', ');
}

/** A multiple of 1024 bytes for people: `64 KiB`, `1 GiB`. */
export function bytesText(bytes: number): string {
  if (bytes % 2 ** 30 === 0) return `${bytes / 2 ** 30} GiB`;
  return bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 10} KiB`;
}

/** The first characters of a text, with `...` for the rest. */
export function shorten(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}...` : text;
}

/** Writes a name in lower case and without punctuation: `pet_id`, `petId` and `Pet-ID` are `petid`. */
export function compactName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Returns the flag of a field or setting: `--create-missing` for `createMissing`. */
export function flagName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Converts a text into the form in which texts are compared without case. Letters and their accents are joined. */
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** Writes a text as one word of a POSIX shell, quoted if necessary, because people copy the commands of hints. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns `did you mean --fields?` for the candidate nearest to a word, if at most two letters and at most half of the word differ. */
export function didYouMean(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: letterDistance(word.toLowerCase(), candidate) }))
    .sort((a, b) => a.distance - b.distance);
  // Without the second limit, every word of two letters would be near every word of one letter.
  const maxDistance = Math.min(2, Math.floor(word.length / 2));
  const [nearest] = ranked;
  return nearest && nearest.distance <= maxDistance ? `did you mean ${nearest.candidate}?` : undefined;
}

/** Returns the Levenshtein distance: the number of letters to insert, delete or replace. */
function letterDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line += 1) {
    const above = row;
    row = [line];
    for (let column = 1; column <= to.length; column += 1) {
      const replacement = (above[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1);
      row.push(Math.min(replacement, (above[column] ?? 0) + 1, (row[column - 1] ?? 0) + 1));
    }
  }
  return row[to.length] ?? 0;
}

/** A duration for people: `0.4 ms`, `12 ms`, `1.3 s`, `10 min`. */
export function durationText(ms: number): string {
  if (ms >= 119_500) return `${Number((ms / 60_000).toFixed(ms < 600_000 ? 1 : 0))} min`;
  if (ms >= 999.5) return `${Number((ms / 1000).toFixed(ms < 10_000 ? 1 : 0))} s`;
  return `${ms < 10 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`;
}

/** Returns a hash of a text: FNV-1a, 32 bits, over UTF-16 units. It is the same on every machine. */
export function hashOf(text: string, seed = 0x811c9dc5): number {
  let hash = seed;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
