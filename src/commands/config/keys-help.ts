import { keyRules, settingKeys } from '../../config/keys.ts';

const width = Math.max(...settingKeys.map((key) => key.length));

/** Every key with what it is and its default, for help. */
export const keysHelp = [
  'Keys:',
  ...settingKeys.map((key) => {
    const { summary, fallback } = keyRules[key];
    return `  ${key.padEnd(width)}  ${summary}${fallback === undefined ? '' : ` (default ${fallback})`}`;
  }),
].join('\n');
