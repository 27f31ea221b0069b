/**
 * A `pattern` of JSON Schema as `new RegExp(source, 'u')` reads it: as it stands, or without the escapes that only older
 * expressions allow, as `\-` and `\@`. Undefined if it is not an ECMAScript expression even then.
 */
export function readPattern(pattern: string): string | undefined {
  return [pattern, withoutNeedlessEscapes(pattern)].find(isExpression);
}

function isExpression(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** What may be escaped in the mode `u`; a hyphen too, but only between brackets. */
const escapable = /^[\^$\\.*+?()[\]{}|/\p{L}\p{N}]$/u;

function withoutNeedlessEscapes(pattern: string): string {
  let isInClass = false;
  return pattern.replace(/\\([\s\S])|[[\]]/gu, (part: string, escaped?: string) => {
    if (escaped === undefined) {
      isInClass = part === '[';
      return part;
    }
    return escapable.test(escaped) || (escaped === '-' && isInClass) ? part : escaped;
  });
}
