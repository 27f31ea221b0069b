import { UsageError } from '../errors.ts';
import type { Prompt } from '../input/prompt.ts';

/** A text that must not be empty. */
export function askText(prompt: Prompt, message: string): Promise<string> {
  return prompt.text(message, { refuse: (text) => (text.trim() === '' ? 'must not be empty' : undefined) });
}

/** What a parser makes of a text; undefined if the person leaves it out. */
export async function askParsed<Value>(
  prompt: Prompt,
  message: string,
  parse: (text: string) => Value,
): Promise<Value | undefined> {
  const refuse = (text: string) => (text === '' ? undefined : problemOf(() => parse(text)));
  const text = await prompt.text(message, { refuse });
  return text === '' ? undefined : parse(text);
}

function problemOf(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}
