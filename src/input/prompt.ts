import type { Io } from '../io.ts';

export interface Choice<Value> {
  readonly name: string;
  readonly value: Value;
  readonly description?: string | undefined;
}

/** Questions to a person, drawn on stderr; Ctrl-C throws InterruptedError. */
export interface Prompt {
  text(message: string, options?: TextOptions): Promise<string>;
  /** Answers no when only Enter is pressed. */
  confirm(message: string): Promise<boolean>;
  select<Value>(message: string, choices: readonly Choice<Value>[]): Promise<Value>;
  /** A list that narrows as one types. */
  search<Value>(message: string, choices: readonly Choice<Value>[]): Promise<Value>;
}

export interface TextOptions {
  readonly initial?: string | undefined;
  /** Why the text is refused, or undefined where it is fine. */
  refuse?(text: string): string | undefined;
}

export async function createPrompt(_io: Io, _signal: AbortSignal): Promise<Prompt> {
  throw new Error('prompt: still to come');
}
