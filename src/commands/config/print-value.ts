import type { Context } from '../../context.ts';
import { type JsonValue, printJson } from '../../json.ts';
import { sanitize } from '../../text.ts';

/**
 * Prints one value that a script wants bare: a line of its own. Where this run, by flag or variable, asks for json, jsonl
 * or yaml it is a field of an object; a format that the config has for tables changes nothing.
 */
export async function printValue(context: Context, name: string, value: JsonValue): Promise<void> {
  const text = `${sanitize(typeof value === 'string' ? value : printJson(value))}\n`;
  const { source } = (await context.settings()).explain('output');
  if (source === 'flag' || source === 'environment')
    await (await context.printer()).documents([{ [name]: value }], text);
  else await context.io.stdout.write(text);
}
