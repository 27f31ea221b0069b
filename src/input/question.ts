import { UsageError } from '../errors.ts';
import { sanitize } from '../text.ts';

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
  /** The reason why the text is refused; undefined if it is accepted. */
  refuse?(text: string): string | undefined;
}

/** One of several answers to a question. */
export interface Choice<Value> {
  readonly name: string;
  readonly value: Value;
  readonly description?: string | undefined;
}

/** The choice, safe to show on a terminal. */
export function readable<Value>({ name, value, description }: Choice<Value>) {
  const readableName = sanitize(name);
  return description === undefined
    ? { name: readableName, value }
    : { name: readableName, value, description: sanitize(description) };
}

/** Choices whose name contains the term, ignoring case; those that begin with it first. */
export function matching<Named extends { readonly name: string }>(
  choices: readonly Named[],
  term: string,
): Named[] {
  const wanted = term.toLowerCase();
  const rank = ({ name }: Named) => name.toLowerCase().indexOf(wanted);
  const found = choices.filter((choice) => rank(choice) !== -1);
  return found.sort((one, other) => Math.min(rank(one), 1) - Math.min(rank(other), 1));
}

/** A text that must not be empty. */
export function askText(prompt: Prompt, message: string): Promise<string> {
  return prompt.text(message, { refuse: (text) => (text.trim() === '' ? 'must not be empty' : undefined) });
}

/** The parsed answer; undefined if it is empty. */
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
