/** What most text is; the classes of the whole of Unicode take most of a millisecond to set up. */
const printable = /^[\x20-\x7e]*$/;
let unsafe: RegExp | undefined;

/**
 * Foreign text as a person may see it: C0, DEL, C1, bidirectional and zero-width controls and lone surrogates become
 * visible escapes such as `\x1b` or `\u202e`. Tab and newline too.
 */
export function sanitize(text: string): string {
  return sanitizeExcept(text, '');
}

/** As `sanitize`, but the characters of `kept` stay as they are. */
export function sanitizeExcept(text: string, kept: string): string {
  if (printable.test(text)) return text;
  // Control, format (bidirectional, zero-width, tags) and separator characters, and surrogates without a partner.
  unsafe ??= /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
  return text.replace(unsafe, (character) => (kept.includes(character) ? character : toEscape(character)));
}

function toEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code < 0x100) return `\\x${digits.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\u{${digits}}`;
}
