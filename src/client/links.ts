/**
 * The target of the first `rel="next"` link of a Link field, as it stands there; undefined where there is none. A link
 * with an anchor speaks of another document and is passed over.
 *
 * @see RFC 8288, 3
 */
export function nextLink(field: string | undefined): string | undefined {
  if (!field) return undefined;
  const link = /<([^>]*)>((?:\s*;\s*[^\s;,=]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/g;
  for (const [, target = '', parameters = ''] of field.matchAll(link)) if (isNext(parameters)) return target;
  return undefined;
}

function isNext(parameters: string): boolean {
  const values = new Map<string, string>();
  for (const [, name = '', quoted, bare = ''] of parameters.matchAll(
    /;\s*([^\s;,=]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/g,
  )) {
    const key = name.toLowerCase();
    if (!values.has(key)) values.set(key, quoted ?? bare);
  }
  return !values.has('anchor') && (values.get('rel') ?? '').toLowerCase().split(/\s+/).includes('next');
}
