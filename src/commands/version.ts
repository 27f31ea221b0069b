import { version } from '../../package.json';
import { action } from '../cli/verb.ts';

/** `petstore version`, which people expect besides `petstore --version`. */
export const printVersion = action({
  wrongSettings: 'unread',
  examples: ['petstore version'],
  async run({ io }) {
    await io.stdout.write(`${version}\n`);
  },
});
