const target = /[\s,]*<([^>]*)>/y;
const parameter = /\s*;\s*([^\s;,="<>]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/y;

/**
 * The target of the first link in a Link field with one of the relations, unresolved; undefined if there is none. A
 * link with an anchor is about another document and is skipped. The rest of the field after malformed text is ignored.
 *
 * @param relations in lower case, such as `next`.
 * @see RFC 8288, 3
 */
export function linkTarget(field: string | undefined, ...relations: readonly string[]): string | undefined {
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(field ?? '') ?? undefined;
    if (found) at = pattern.lastIndex;
    return found;
  };
  for (let link = take(target); link; link = take(target)) {
    const values = new Map<string, string>();
    for (let found = take(parameter); found; found = take(parameter)) {
      const [, name = '', quoted, bare = ''] = found;
      // If a name occurs twice, the first one counts.
      if (!values.has(name.toLowerCase())) values.set(name.toLowerCase(), quoted ?? bare);
    }
    const found = (values.get('rel') ?? '').toLowerCase().split(/\s+/);
    if (!values.has('anchor') && relations.some((relation) => found.includes(relation))) return link[1];
  }
  return undefined;
}
