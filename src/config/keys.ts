import { type UsageCode, UsageError } from '../process/errors.ts';
import type { JsonValue } from '../process/exact-json.ts';
import { closest } from '../process/text.ts';
import * as parse from './setting-values.ts';

interface KeyRule {
  readonly summary: string;
  /**
   * The value as the program uses it.
   *
   * @throws ValueError
   */
  parse(text: string): unknown;
  /** The value, as text, if nothing else gives one; without it the value can be undefined. */
  readonly fallback?: string;
  /** How help shows the value of its flag; a flag without one is a switch. */
  readonly placeholder?: string;
  readonly choices?: readonly string[];
  /** The value is a path, relative to the folder of the file or command line that gives it, and is made absolute. */
  readonly isFile?: true;
  /** The value is a list; its text has this between the items. The config file may also hold an array. */
  readonly separator?: string;
}

function choiceOf<Word extends string>(choices: readonly Word[]) {
  return { parse: (text: string) => parse.parseChoice(text, choices), choices };
}

const truth = {
  parse: (text: string) => parse.parseChoice(text, ['true', 'false']) === 'true',
  choices: ['true', 'false'],
};
const path = { parse: parse.parsePath, placeholder: '<file>', isFile: true } as const;

/** The keys that the config file and a profile may hold. A flag and a variable for each are derived from its row. */
const rules = {
  'base-url': {
    summary: 'address of the service',
    parse: parse.parseBaseUrl,
    placeholder: '<url>',
  },
  output: {
    summary: 'format of the output',
    ...choiceOf(parse.outputFormats),
    placeholder: '<format>',
    fallback: 'table',
  },
  timeout: {
    summary: 'deadline of a call, retries included',
    parse: parse.parseDuration,
    placeholder: '<duration>',
    fallback: '30s',
  },
  retries: {
    summary: 'retries of a request, at most',
    parse: (text) => parse.parseInteger(text, 0, 100),
    placeholder: '<n>',
    fallback: '4',
  },
  concurrency: {
    summary: 'requests in flight at a time in a run',
    parse: (text) => parse.parseInteger(text, 1, 1024),
    placeholder: '<n>',
    fallback: '8',
  },
  rate: {
    summary: 'requests a second in a run at most, retries included',
    parse: parse.parseRate,
    placeholder: '<n>',
  },
  color: {
    summary: 'when to use colour',
    ...choiceOf(parse.colorModes),
    placeholder: '<when>',
    fallback: 'auto',
  },
  quiet: {
    summary: 'whether to show no notices on stderr',
    ...truth,
    fallback: 'false',
  },
  'token-file': {
    summary: 'file that holds the token',
    ...path,
  },
  'token-command': {
    summary: 'command that prints the token, run without a shell',
    parse: (text) => parse.splitWords(text) && text,
    placeholder: '<command>',
  },
  'token-origins': {
    summary: 'further origins that the token may go to',
    parse: parse.parseOrigins,
    separator: ' ',
    placeholder: '<origins>',
  },
  'auth-header': {
    summary: 'header that carries the token',
    parse: parse.parseFieldName,
    placeholder: '<name>',
    fallback: 'Authorization',
  },
  'auth-scheme': {
    summary: 'word before the token; empty for the bare token',
    parse: parse.parseScheme,
    placeholder: '<word>',
    fallback: 'Bearer',
  },
  'ca-cert': {
    summary: 'further certificate authorities to trust (PEM)',
    ...path,
  },
  'client-cert': {
    summary: 'certificate to show to the service (PEM)',
    ...path,
  },
  'client-key': {
    summary: 'private key of that certificate (PEM)',
    ...path,
  },
  contract: {
    summary: 'file of the binding to a description of the service, which `petstore api bind` writes',
    ...path,
  },
  'allow-insecure-http': {
    summary: 'whether the token may go over plain http',
    ...truth,
    fallback: 'false',
  },
  'import-map': {
    summary: 'columns of a bulk file: the default of --map',
    parse: parse.parseColumnMaps,
    separator: ',',
    placeholder: '<field=column>',
  },
  'import-thousands': {
    summary: 'thousands separator of a bulk file: the default of --thousands',
    ...choiceOf(parse.thousandsSeparators),
    placeholder: '<separator>',
  },
  protected: {
    summary: "whether every write asks for the profile's name",
    ...truth,
    fallback: 'false',
  },
} satisfies Record<string, KeyRule>;

export type SettingKey = keyof typeof rules;

/** The value of each key, as the program uses it. */
export type SettingValues = {
  readonly [Key in SettingKey]:
    | ReturnType<(typeof rules)[Key]['parse']>
    | ((typeof rules)[Key] extends { fallback: string } ? never : undefined);
};

type CamelCase<Text extends string> = Text extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Text;

/** The settings given as flags, by the key in camel case, as text or as a switch; undefined if not given. */
export type KeyFlags = {
  readonly [Key in SettingKey as CamelCase<Key>]?:
    | (SettingValues[Key] extends boolean ? boolean | string : string)
    | undefined;
};

export const keyRules: Readonly<Record<SettingKey, KeyRule>> = rules;

export const settingKeys = Object.keys(keyRules) as SettingKey[];

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(keyRules, key);
}

/** The property of `KeyFlags` that holds a key's flag: `baseUrl` for `base-url`. */
export function flagKey(key: SettingKey): keyof KeyFlags {
  return key.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()) as keyof KeyFlags;
}

/** The environment variable that sets a key: `PETSTORE_BASE_URL` for `base-url`. */
export function variableName(key: SettingKey): string {
  return `PETSTORE_${key.toUpperCase().replaceAll('-', '_')}`;
}

/** Describes a key for help: its summary and its default. */
export function describeKey(key: SettingKey): string {
  const { summary, fallback } = keyRules[key];
  return fallback === undefined ? summary : `${summary} (default ${fallback})`;
}

/** The environment variables that only this program reads and that set no key, each with its meaning. */
export const programVariables: readonly (readonly [name: string, meaning: string])[] = [
  ['PETSTORE_PROFILE', 'the profile to use'],
  ['PETSTORE_TOKEN', 'the token to send'],
  ['PETSTORE_CONFIG_DIR', 'the folder of config.json'],
  ['PETSTORE_STATE_DIR', 'the folder of the runs and of the embedded store'],
  ['PETSTORE_OFFLINE_STORE', 'the file of the embedded store; :memory: keeps nothing'],
  ['PETSTORE_DEBUG', '1 shows the stack of an error'],
  ['PETSTORE_BUILT_IN_CONTRACT', 'not empty: bindings do not apply; serve sets it for its command'],
];

/** @throws UsageError for an unknown key; if the key looks like a secret, the hint says how to give one. */
export function requireKey(key: string): SettingKey {
  if (isSettingKey(key)) return key;
  if (/^(token|.*[-_.]?(token|secret|password|api-?key))$/i.test(key))
    throw new UsageError(
      `${key}: a token is never stored`,
      'give it with the variable PETSTORE_TOKEN, with a file (`petstore config set token-file <file>`), or with the output of a command (`petstore config set token-command <command>`)',
    );
  const near = closest(key, settingKeys);
  throw new UsageError(
    `unknown key '${key}'`,
    near === undefined ? `keys are ${settingKeys.join(', ')}` : `did you mean ${near}?`,
  );
}

/**
 * Parses a value for a key that does not come from the settings, such as `--concurrency` of a bulk command.
 *
 * @param label how an error names the value: `--concurrency`.
 * @throws UsageError
 */
export function parseSetting<Key extends SettingKey>(
  key: Key,
  text: string,
  label: string,
  code?: UsageCode,
): SettingValues[Key] {
  const problem = valueProblem(key, text);
  if (problem !== undefined) throw parse.wrongValue(label, String(maskValue(key, text)), problem, code);
  return keyRules[key].parse(text) as SettingValues[Key];
}

/**
 * Masks what may be secret in a value of the config file: the arguments of a token-command, and the value of an
 * unknown key.
 */
export function maskValue(key: string, value: JsonValue): JsonValue {
  if (!isSettingKey(key)) return '***';
  if (key !== 'token-command') return value;
  const [name = '', ...rest] = String(value).trim().split(/\s+/);
  return rest.length === 0 ? name : `${name} ***`;
}

/** Says in a clause why a value is not allowed for a key; undefined if it is allowed. */
export function valueProblem(key: SettingKey, text: string): string | undefined {
  try {
    keyRules[key].parse(text);
    return undefined;
  } catch (error) {
    if (error instanceof parse.ValueError) return error.message;
    throw error;
  }
}
