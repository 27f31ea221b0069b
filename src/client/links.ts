const target = /[\s,]*<([^>]*)>/y;
const parameter = /\s*;\s*([^\s;,="<>]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/y;

/**
 * The target of the first `rel="next"` link of a Link field, as it stands there; undefined where there is none. A link
 * with an anchor speaks of another document and is passed over; what cannot be read ends the field.
 *
 * @see RFC 8288, 3
 */
export function nextLink(field: string | undefined): string | undefined {
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
      // Of a name that comes twice the first counts.
      if (!values.has(name.toLowerCase())) values.set(name.toLowerCase(), quoted ?? bare);
    }
    if (!values.has('anchor') && isNext(values.get('rel'))) return link[1];
  }
  return undefined;
}

function isNext(relations = ''): boolean {
  return relations.toLowerCase().split(/\s+/).includes('next');
}
