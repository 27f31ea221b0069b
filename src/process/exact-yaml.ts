import type { ScalarTag } from 'yaml';
import { ExactNumber, isJsonObject, type JsonValue, parseJson, printJson } from './exact-json.ts';
import { hasRunnerCommand } from './text.ts';

/** YAML, once its package is loaded. */
interface Yaml {
  /**
   * YAML 1.2 text of a value, numbers exact, that a reader of YAML 1.1 reads alike. Controls are escapes; in a file or a pipe
   * invisible format characters, such as joiners, stay as they are.
   */
  print(value: unknown, place?: { readonly isTerminal: boolean }): string;
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
  const quotedText = (isTerminal: boolean): ScalarTag => ({
    tag: 'tag:yaml.org,2002:str',
    default: true,
    identify: (value: unknown) => typeof value === 'string' && !isPlain(value) && !isBlock(value),
    resolve: String,
    stringify: ({ value }) => quote(String(value), isTerminal),
  });
  return {
    print: (value, { isTerminal } = { isTerminal: true }) =>
      stringify(value, {
        customTags: (tags) => [exactNumber, quotedText(isTerminal), ...tags],
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

/** Words that some reader takes for another type: PyYAML, Psych, R, or the package yaml (`e5`). */
const typedWords = /^(?:y|n|yes|no|on|off|true|false|null|na|nan|inf|e[-+]?\d+)$/i;

/**
 * Whether every reader of YAML takes a bare text for text: it begins with a letter, and has no sign with a meaning. Some
 * readers take `=`, `:red` and `12,50` for something else.
 */
function isPlain(text: string): boolean {
  return (
    /^[\p{L}/_$](?:[\p{L}\p{M}\p{N} _.,'()&/+{}-]*[\p{L}\p{M}\p{N}_.')}])?$/u.test(text) &&
    !typedWords.test(text)
  );
}

/** Whether a text of several lines can be a block, whose lines are bare. */
function isBlock(text: string): boolean {
  if (!text.includes('\n') || /^ +\n\s*$/.test(text) || hasRunnerCommand(text)) return false;
  return !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffe\uffff]/u.test(text.replaceAll('\n', ''));
}

/** Writes a text between quotes, as in JSON; a character beyond U+FFFF as `\UXXXXXXXX`, because YAML has no surrogates. */
function quote(text: string, isTerminal: boolean): string {
  const unsafe = isTerminal
    ? /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}\ufffe\uffff]/gu
    : /[\x7f-\x9f\ufeff\p{Zl}\p{Zp}\ufffe\uffff]/gu;
  return JSON.stringify(text).replace(unsafe, (character) => {
    const digits = (character.codePointAt(0) ?? 0).toString(16);
    return digits.length > 4 ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
  });
}

/** Keeps bigints only beyond 2^53. */
function narrow(value: JsonValue): JsonValue {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(narrow);
  if (!isJsonObject(value)) return value;
  for (const [key, inner] of Object.entries(value)) value[key] = narrow(inner);
  return value;
}
