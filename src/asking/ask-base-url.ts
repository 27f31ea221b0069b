import { type SettingKey, valueProblem } from '../config/keys.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';

/** Asks for the base URL that a flag did not give. @throws UsageError naming the flag where nobody can answer. */
export async function askBaseUrl(context: Context, command: string): Promise<string> {
  const prompt = await context.prompt();
  if (!prompt)
    throw new UsageError(
      `${command}: --base-url is missing, and nobody can be asked`,
      'give --base-url <url>',
    );
  return prompt.text('Base URL of the service:', { refuse: refuseValue('base-url') });
}

/** For a prompt: says what is wrong with an answer. */
export function refuseValue(key: SettingKey): (text: string) => string | undefined {
  return (text) => {
    const problem = valueProblem(key, text);
    return problem && `It ${problem}`;
  };
}
