import type { Context } from '../context.ts';
import { type JsonValue, printJson } from '../json.ts';
import { sanitize } from '../output/sanitize.ts';

/** Prints one value that a script wants bare: a line of its own, and in json, jsonl and yaml a field of an object. */
export async function printValue(context: Context, name: string, value: JsonValue): Promise<void> {
  const text = typeof value === 'string' ? value : printJson(value);
  await (await context.printer()).documents([{ [name]: value }], `${sanitize(text)}\n`);
}
