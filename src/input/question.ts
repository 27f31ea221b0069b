import { ValueError } from '../config/setting-values.ts';
import { CliError } from '../process/errors.ts';

/** Questions to the user, drawn on stderr. Ctrl-C throws InterruptedError, the end of input UsageError. */
export interface Prompt {
  /** @param check says why a text is not accepted, a clause; undefined if it is. */
  text(
    message: string,
    check?: (text: string) => string | undefined | Promise<string | undefined>,
  ): Promise<string>;
  /** Answers no when only Enter is pressed. */
  confirm(message: string): Promise<boolean>;
  select<Value>(message: string, choices: readonly Choice<Value>[]): Promise<Value>;
  /** A list that narrows as the user types. */
  search<Value>(message: string, choices: readonly Choice<Value>[]): Promise<Value>;
}

/** One of several answers to a question. */
export interface Choice<Value> {
  readonly name: string;
  readonly value: Value;
  readonly description?: string | undefined;
}

/** The parsed answer; asks again for one that does not parse. */
export async function askParsed<Value>(
  prompt: Prompt,
  message: string,
  parse: (text: string) => Value | Promise<Value>,
): Promise<Value> {
  return parse(await prompt.text(message, (text) => answerProblem(() => parse(text))));
}

/** The parsed answer; undefined if the answer is empty. */
export function askOptional<Value>(
  prompt: Prompt,
  message: string,
  parse: (text: string) => Value,
): Promise<Value | undefined> {
  return askParsed(prompt, message, (text) => (text === '' ? undefined : parse(text)));
}

/** Why an answer is not accepted; undefined if it is. */
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
