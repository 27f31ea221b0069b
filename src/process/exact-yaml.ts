import type { ScalarTag, Tags } from 'yaml';
import { ExactNumber, isJsonObject, type JsonValue, parseJson, printJson } from './exact-json.ts';
import { unicodeEscapes } from './text.ts';

/** YAML, once its package is loaded. */
interface Yaml {
  /** YAML text of a value: texts are in quotes, so that readers of YAML 1.1 read them as texts too, and numbers are exact. */
  print(value: unknown): string;
  /**
   * The value of one YAML document, numbers as in `parseJson`; merge keys (`<<`) are followed.
   *
   * @throws Error if the text is not YAML, or if its aliases expand without limit.
   */
  parse(text: string): JsonValue;
}

export async function loadYaml(): Promise<Yaml> {
  const { parse, stringify } = await import('yaml');
  const exactNumber: ScalarTag = {
    tag: 'tag:yaml.org,2002:float',
    default: true,
    test: /^-?(?:0|[1-9]\d*)(?=[.eE])(?:\.\d+)?(?:[eE][+-]?\d+)?$/,
    identify: (value: unknown) => value instanceof ExactNumber,
    resolve: parseJson,
    stringify: ({ value }) => printJson(value),
  };
  const customTags = (tags: Tags): Tags => [exactNumber, ...tags];
  return {
    print: (value) =>
      stringify(value, {
        customTags,
        defaultStringType: 'QUOTE_DOUBLE',
        defaultKeyType: 'PLAIN',
        doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
        lineWidth: 0,
        aliasDuplicateObjects: false,
      }).replace(unreadable, unicodeEscapes),
    parse: (text) =>
      narrow(
        parse(text, {
          customTags,
          intAsBigInt: true,
          merge: true,
          logLevel: 'error',
          // The check takes quadratic time in the keys of a mapping.
          uniqueKeys: text.length < 256 * 1024,
        }) as JsonValue,
      ),
  };
}

/** Characters that strict readers of YAML refuse, or take for a line break, even between quotes. */
const unreadable = /[\x7f-\x9f\ufeff\u2028\u2029\ufffe\uffff]/g;

/** Keeps bigints only beyond 2^53. */
function narrow(value: JsonValue): JsonValue {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(narrow);
  if (!isJsonObject(value)) return value;
  for (const [key, inner] of Object.entries(value)) value[key] = narrow(inner);
  return value;
}
