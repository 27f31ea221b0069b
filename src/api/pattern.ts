/**
 * A `pattern` of JSON Schema as a source for `new RegExp(source, 'u')`: unchanged, or without escapes such as `\-` and
 * `\@`, which that mode does not allow. Undefined if it is not an ECMAScript expression even then, or is very long.
 */
export function readPattern(pattern: string): string | undefined {
  if (pattern.length > longestPattern) return undefined;
  return [pattern, withoutNeedlessEscapes(pattern)].find(isExpression);
}

/** V8 accepts a longer expression, which then fails at its first use. */
const longestPattern = 10_000;

function isExpression(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** Characters that may be escaped in the mode `u`; a hyphen too, but only in brackets. */
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
