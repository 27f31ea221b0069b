import { colorModes } from '../output/style.ts';
import { readNamed, type UsageCode, UsageError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { closestWord } from '../process/text.ts';
import * as parse from './setting-values.ts';

interface KeyRule {
  readonly summary: string;
  /** Returns the value as the program uses it. @throws ValueError. */
  parse(text: string): unknown;
  /** The default value as text. A key without a default can have the value undefined. */
  readonly defaultText?: string;
  /** The value of its flag as help shows it, such as `<url>`. */
  readonly placeholder?: string;
  readonly choices?: readonly string[];
  /** True if the value is a path. A relative path is made absolute: see `sources.ts`. */
  readonly isFile?: true;
}

function choiceRule<Word extends string>(
  summary: string,
  choices: readonly Word[],
  placeholder: string,
  defaultText: string,
) {
  return {
    summary,
    parse: (text: string) => parse.parseChoice(text, choices),
    choices,
    placeholder,
    defaultText,
  };
}

function switchRule(summary: string, defaultText: 'true' | 'false') {
  const isTrue = (text: string) => parse.parseChoice(text, ['true', 'false']) === 'true';
  return { summary, parse: isTrue, choices: ['true', 'false'], defaultText };
}

function fileRule(summary: string) {
  return { summary, parse: parse.parsePath, placeholder: '<file>', isFile: true } as const;
}

/** The keys that the config file and a profile may hold. Each row also makes a variable, and some make a flag. */
const rules = {
  'base-url': { summary: 'address of the service', parse: parse.parseBaseUrl, placeholder: '<url>' },
  output: choiceRule('format of the output', parse.outputFormats, '<format>', 'table'),
  timeout: {
    summary: 'deadline of a call, retries included',
    parse: parse.parseDuration,
    placeholder: '<duration>',
    defaultText: '30s',
  },
  retries: {
    summary: 'retries of a request, at most',
    parse: (text) => parse.parseInteger(text, 0, 100),
    placeholder: '<n>',
    defaultText: '4',
  },
  concurrency: {
    summary: 'requests in flight at a time in a run',
    parse: (text) => parse.parseInteger(text, 1, 1024),
    placeholder: '<n>',
    defaultText: '8',
  },
  rate: {
    summary: 'requests a second in a run at most, retries included',
    parse: parse.parseRate,
    placeholder: '<n>',
  },
  color: choiceRule('when to use colour', colorModes, '<when>', 'auto'),
  quiet: switchRule('whether to show no notices on stderr', 'false'),
  'token-file': fileRule('file that holds the token'),
  'token-command': {
    summary: 'command that prints the token, run without a shell',
    parse: parse.checkCommandLine,
  },
  'auth-header': {
    summary: 'header that carries the token',
    parse: parse.parseHeaderName,
    defaultText: 'Authorization',
  },
  'auth-scheme': {
    summary: 'word before the token; empty for the bare token',
    parse: parse.parseScheme,
    defaultText: 'Bearer',
  },
  'ca-cert': fileRule('further certificate authorities to trust (PEM)'),
  'client-cert': fileRule('certificate to show to the service (PEM)'),
  'client-key': fileRule('private key of that certificate (PEM)'),
  contract: fileRule('binding of the service, a file that `petstore api bind` writes'),
  'allow-insecure-http': switchRule('whether the token may go over plain http', 'false'),
  'import-map': { summary: 'default of --map: columns of a bulk file', parse: parse.checkColumnMap },
  tenant: { summary: 'name of the tenant, if several share an address', parse: parse.parseName },
  etags: switchRule('whether writes send the ETag of a record as If-Match', 'true'),
  protected: switchRule("whether every write asks for the profile's name", 'false'),
} satisfies Record<string, KeyRule>;

export type SettingKey = keyof typeof rules;

/** The value of each key, as the program uses it. */
export type SettingValues = {
  readonly [Key in SettingKey]:
    | ReturnType<(typeof rules)[Key]['parse']>
    | ((typeof rules)[Key] extends { defaultText: string } ? never : undefined);
};

/** The settings that are set by flags: texts, or true for a switch. */
export type KeyFlags = {
  readonly [Key in SettingKey]?: (SettingValues[Key] extends boolean ? boolean | string : string) | undefined;
};

export const keyRules: Readonly<Record<SettingKey, KeyRule>> = rules;

export const settingKeys = Object.keys(keyRules) as SettingKey[];

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(keyRules, key);
}

/** The environment variable that sets a key: `PETSTORE_BASE_URL` for `base-url`. */
export function variableName(key: SettingKey): string {
  return `PETSTORE_${key.toUpperCase().replaceAll('-', '_')}`;
}

/** Describes a key for help: its summary and its default. */
export function describeKey(key: SettingKey): string {
  const { summary, defaultText } = keyRules[key];
  return defaultText === undefined ? summary : `${summary} (default: ${defaultText})`;
}

/** Checks that a key exists. @throws UsageError. */
export function requireKey(key: string): SettingKey {
  if (isSettingKey(key)) return key;
  const near = closestWord(key, settingKeys);
  throw new UsageError(
    `unknown key '${key}'`,
    near === undefined ? `keys are ${settingKeys.join(', ')}` : `did you mean ${near}?`,
  );
}

/**
 * Parses the text of a key, whatever source gives it: a flag, a variable or the config file.
 *
 * @param label the name of the value in an error, such as `--concurrency`.
 * @throws UsageError.
 */
export function parseSetting<Key extends SettingKey>(
  key: Key,
  text: string,
  label: string,
  code?: UsageCode,
): SettingValues[Key] {
  const read = () => keyRules[key].parse(text) as SettingValues[Key];
  return readNamed(label, maskValue(key, text), read, code);
}

/**
 * Masks the parts of a value in the config file that may be secret: the arguments of a token-command, and the whole value
 * of an unknown key.
 */
export function maskValue(key: string, value: JsonValue): JsonValue {
  if (!isSettingKey(key)) return '***';
  if (key !== 'token-command') return value;
  const [name = '', ...rest] = String(value).trim().split(/\s+/);
  return rest.length === 0 ? name : `${name} ***`;
}
