/**
 * Foreign text as a person may see it: C0, DEL, C1, bidirectional and zero-width controls and lone surrogates become
 * visible escapes such as `\x1b` or `\u202e`. Tab and newline too.
 */
export function sanitize(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
