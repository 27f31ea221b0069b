import { value } from '../cli/flag.ts';
import { action } from '../cli/verb.ts';
import { parseQuantity } from '../records/parse-values.ts';

export const overview = action({
  description:
    'Shows the state of the shop on one screen: pets by status and by category, the ten lowest counts of pets that are not sold, and the open orders that ship first. Reads every list once; a part that the service cannot answer is left out.',
  examples: ['petstore overview', 'petstore overview --below 10', 'petstore overview -o json'],
  flags: {
    below: value('--below <n>', 'show counts under n (default 5)', { parse: parseQuantity }),
  },
  run: async (context, { below = 5 }) =>
    (await import('../records/overview.ts')).showOverview(context, below),
});
