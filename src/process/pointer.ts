import { isJsonObject, type JsonValue } from './exact-json.ts';

// JSON pointers (RFC 6901).

/** Returns the value at a JSON pointer; undefined if there is none. @see RFC 6901, 4 */
export function valueAt(body: JsonValue, pointer: string): JsonValue | undefined {
  const segments = pointer.split('/').slice(1);
  const keys = segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.reduce(memberOf, body as JsonValue | undefined);
}

/** Returns a field of an object or an item of an array; undefined if there is none. */
function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Returns the pointer that the names and indices make: `['rows', 0]` becomes `/rows/0`. */
export function printPointer(path: readonly unknown[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Converts a JSON pointer from its form as a URI fragment, which may be malformed. @see RFC 6901, 6 */
export function toPointer(fragment: string): string {
  const text = fragment.replace(/^#/, '');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
