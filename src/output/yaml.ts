import { isJsonObject } from '../process/exact-json.ts';
import { loadYaml } from '../process/exact-yaml.ts';
import type { Sheet, Writer } from './formats.ts';

/** A sequence of mappings, or a lone mapping. */
export function yamlWriter<Entity>(sheet: Sheet<Entity>): Writer<Entity> {
  let isEmpty = true;
  return {
    async print(records) {
      isEmpty = false;
      let text = '';
      for (const record of records) {
        const value = sheet.value(record);
        if (sheet.shape === 'list') text += plainItem(value) ?? (await printByPackage([value]));
        else text += await printByPackage(value);
      }
      return text;
    },
    end: () => (isEmpty ? '[]\n' : ''),
  };
}

async function printByPackage(value: unknown): Promise<string> {
  return (await loadYaml()).print(value);
}

/** Matches a plain scalar made of words; after a letter none of these characters has a meaning in YAML. */
const words = /^[a-z][\w .,'()!?&*%@+/;-]*$/i;
/** The same for other scripts and emoji; created on demand, because V8 takes milliseconds to set up Unicode classes. */
let foreignWords: RegExp | undefined;
/** Matches digits with the separators of dates and times. They are quoted, so that every reader takes them for text. */
const figures = /^\d[\d.:TZ+-]*$/;
/** Words that a reader of YAML 1.1 or 1.2 does not take for text. */
const reserved = /^(y|n|yes|no|on|off|true|false|null|e[-+]?\d.*)$/i;

/**
 * YAML of a flat record as an item of a list: the same text that the package would print, in a hundredth of the time.
 *
 * @returns undefined if a value is not plain; the package then prints the record.
 */
function plainItem(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  let text = '';
  for (const key in value) {
    const field = value[key];
    if (field === undefined) continue;
    const scalar = plainScalar(field);
    if (scalar === undefined || !isPlainText(key)) return undefined;
    text += `${text === '' ? '- ' : '  '}${key}: ${scalar}\n`;
  }
  return text === '' ? undefined : text;
}

function plainScalar(value: unknown): string | undefined {
  if (typeof value === 'string')
    return isPlainText(value) ? value : figures.test(value) ? `"${value}"` : undefined;
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : undefined;
  return typeof value === 'bigint' || typeof value === 'boolean' || value === null
    ? String(value)
    : undefined;
}

function isPlainText(text: string): boolean {
  if (!words.test(text) && !isForeignWords(text)) return false;
  return !text.endsWith(' ') && !reserved.test(text);
}

function isForeignWords(text: string): boolean {
  foreignWords ??= /^[\p{L}\p{So}][\p{L}\p{M}\p{N}\p{So}\p{Sk}\w .,'()!?&*%@+/;-]*$/u;
  return foreignWords.test(text);
}
