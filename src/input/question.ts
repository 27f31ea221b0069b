import { ValueError } from '../config/setting-values.ts';
import { CliError } from '../process/errors.ts';

/** Questions to the user, drawn on stderr. Ctrl-C throws InterruptedError, the end of input UsageError. */
export interface Prompt {
  /** Asks for a text. @param check says in a clause why a text is not accepted; undefined if it is accepted */
  text(
    message: string,
    check?: (text: string) => string | undefined | Promise<string | undefined>,
  ): Promise<string>;
  /** Asks for yes or no. Enter alone means no. */
  confirm(message: string): Promise<boolean>;
  /** Lets the user choose from a list. */
  select<Value>(message: string, choices: readonly Choice<Value>[]): Promise<Value>;
  /** Lets the user choose from a list that narrows as the user types. */
  search<Value>(message: string, choices: readonly Choice<Value>[]): Promise<Value>;
}

/** A possible answer to a question. */
export interface Choice<Value> {
  readonly name: string;
  readonly value: Value;
  readonly description?: string | undefined;
}

/** Asks until an answer can be parsed, and returns its value. */
export async function askParsed<Value>(
  prompt: Prompt,
  message: string,
  parse: (text: string) => Value | Promise<Value>,
): Promise<Value> {
  return parse(await prompt.text(message, (text) => answerProblem(() => parse(text))));
}

/** Asks until an answer can be parsed or is empty. Returns its value, or undefined if it is empty. */
export function askOptional<Value>(
  prompt: Prompt,
  message: string,
  parse: (text: string) => Value,
): Promise<Value | undefined> {
  return askParsed(prompt, message, (text) => (text === '' ? undefined : parse(text)));
}

/** Says in a clause why an answer is not accepted; undefined if it is accepted. */
async function answerProblem(parse: () => unknown): Promise<string | undefined> {
  try {
    await parse();
    return undefined;
  } catch (error) {
    if (error instanceof ValueError) return error.message;
    if (!(error instanceof CliError) || !['usage', 'not-found'].includes(error.kind)) throw error;
    return [error.message, error.details.hint].filter((part) => part !== undefined).join('; ');
  }
}
