import { argument } from '../cli/flag.ts';
import { topicNames } from '../cli/topics.ts';
import { action } from '../cli/verb.ts';
import { UsageError } from '../process/errors.ts';

/** `petstore help`, as help lists it. `cli/command-words.ts` answers a line that begins with it. */
export const help = action({
  wrongSettings: 'unread',
  examples: ['petstore help pets list', 'petstore help runs'],
  args: { words: argument('[words...]', `a command, or ${topicNames.join(', ')}`, { offers: 'command' }) },
  async run() {
    throw new UsageError('help goes before all flags', 'see `petstore --help`');
  },
});
