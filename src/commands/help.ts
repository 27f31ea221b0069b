import { argument } from '../cli/flag.ts';
import { helpWidth } from '../cli/help.ts';
import { formatTopic, readTopics, topicNames } from '../cli/topics.ts';
import { action } from '../cli/verb.ts';
import { UsageError } from '../process/errors.ts';

/** `petstore help <topic>`. For the words of a command, `cli/dispatch.ts` shows the help of that command instead. */
export const help = action({
  wrongSettings: 'unread',
  examples: ['petstore help pets list', 'petstore help bulk'],
  args: { words: argument('[words...]', `a command, or ${topicNames.join(', ')}`, { offers: 'command' }) },
  async run({ io }, { words: [name] }) {
    const topic = topicNames.find((each) => each === name);
    if (!topic)
      throw new UsageError(
        `help: no topic '${name ?? ''}'`,
        'help goes before all flags; see `petstore --help`',
      );
    const topics = await readTopics();
    await io.stdout.write(formatTopic(topics[topic], helpWidth(io)));
  },
});
