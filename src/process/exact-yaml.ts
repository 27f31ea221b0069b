import type { ScalarTag } from 'yaml';
import { ExactNumber, isJsonObject, type JsonValue, parseJson, printJson } from './exact-json.ts';
import { hasRunnerCommand } from './text.ts';

/** YAML, once its package is loaded. */
interface Yaml {
  /** YAML 1.2 text of a value, numbers exact. Strings that a YAML 1.1 reader would take for another type are quoted. */
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
  const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
  const exactNumber: ScalarTag = {
    tag: 'tag:yaml.org,2002:float',
    default: true,
    test: /^-?(?:0|[1-9]\d*)(?=[.eE])(?:\.\d+)?(?:[eE][+-]?\d+)?$/,
    identify: (value: unknown) => value instanceof ExactNumber,
    resolve: parseJson,
    stringify: ({ value }) => printJson(value),
  };
  // The package writes some control characters raw, text of several lines so that a CI runner may obey it, and text of
  // spaces and line breaks without its spaces. A JSON string with all controls escaped is also a YAML scalar.
  const unsafeText: ScalarTag = {
    tag: 'tag:yaml.org,2002:str',
    default: true,
    identify: (value: unknown) =>
      typeof value === 'string' &&
      (unsafe.test(value.replaceAll('\n', '')) || /^ +\n\s*$/.test(value) || hasRunnerCommand(value)),
    resolve: String,
    stringify: ({ value }) => printJson(value),
  };
  return {
    print: (value) =>
      stringify(value, {
        customTags: (tags) => [exactNumber, unsafeText, ...tags],
        compat: 'yaml-1.1',
        lineWidth: 0,
        aliasDuplicateObjects: false,
      }),
    parse: (text) =>
      narrow(
        parse(text, {
          customTags: (tags) => [exactNumber, ...tags],
          intAsBigInt: true,
          merge: true,
          logLevel: 'error',
          // The check takes quadratic time in the keys of a mapping.
          uniqueKeys: text.length < 256 * 1024,
        }) as JsonValue,
      ),
  };
}

/** Keeps bigints only beyond 2^53. */
function narrow(value: JsonValue): JsonValue {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(narrow);
  if (!isJsonObject(value)) return value;
  for (const [key, inner] of Object.entries(value)) value[key] = narrow(inner);
  return value;
}
