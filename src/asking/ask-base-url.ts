import { type SettingKey, valueProblem } from '../config/keys.ts';
import { type Context, whyNotAsked } from '../context.ts';
import { UsageError } from '../errors.ts';

/** Asks for the base URL if no flag gave it. @throws UsageError that names the flag if questions are impossible. */
export async function askBaseUrl(context: Context, command: string): Promise<string> {
  const prompt = await context.prompt();
  if (!prompt)
    throw new UsageError(
      `${command}: --base-url is missing, and ${whyNotAsked(context)}`,
      'give --base-url <url>',
    );
  return prompt.text('Base URL of the service:', { refuse: refuseValue('base-url') });
}

/** For a prompt: the reason why an answer is refused. */
export function refuseValue(key: SettingKey): (text: string) => string | undefined {
  return (text) => {
    const problem = valueProblem(key, text);
    return problem && `It ${problem}`;
  };
}
