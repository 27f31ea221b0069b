import { keyRules, settingKeys } from './keys.ts';

/** Every key of the config with what it is and its default, for help. */
export const keyItems = settingKeys.map((key) => {
  const { summary, fallback } = keyRules[key];
  return [key, fallback === undefined ? summary : `${summary} (default ${fallback})`] as const;
});
