import { CliError } from '../process/errors.ts';

/** Questions to the user, drawn on stderr. Ctrl-C throws InterruptedError, the end of input UsageError. */
export interface Prompt {
  text(message: string, options?: TextOptions): Promise<string>;
  /** Answers no when only Enter is pressed. */
  confirm(message: string): Promise<boolean>;
  select<Value>(message: string, choices: readonly Choice<Value>[]): Promise<Value>;
  /** A list that narrows as the user types. */
  search<Value>(message: string, choices: readonly Choice<Value>[]): Promise<Value>;
}

interface TextOptions {
  readonly initial?: string | undefined;
  /** Why the text is not accepted, a clause; undefined if it is accepted. */
  check?(text: string): string | undefined | Promise<string | undefined>;
}

/** One of several answers to a question. */
export interface Choice<Value> {
  readonly name: string;
  readonly value: Value;
  readonly description?: string | undefined;
}

/** A text that must not be empty. */
export function askText(prompt: Prompt, message: string): Promise<string> {
  return prompt.text(message, { check: (text) => (text.trim() === '' ? 'must not be empty' : undefined) });
}

/** The parsed answer; undefined if it is empty. */
export async function askParsed<Value>(
  prompt: Prompt,
  message: string,
  parse: (text: string) => Value | Promise<Value>,
): Promise<Value | undefined> {
  const check = (text: string) => (text === '' ? undefined : problemOf(() => parse(text)));
  const text = await prompt.text(message, { check });
  return text === '' ? undefined : parse(text);
}

/** Why an answer is not accepted; undefined if it is. */
export async function problemOf(parse: () => unknown): Promise<string | undefined> {
  try {
    await parse();
    return undefined;
  } catch (error) {
    if (!(error instanceof CliError) || !['usage', 'not-found'].includes(error.kind)) throw error;
    return [error.message, error.details.hint].filter((part) => part !== undefined).join('; ');
  }
}
