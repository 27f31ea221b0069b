import { argument } from '../../cli/flag.ts';
import { action } from '../../cli/verb.ts';
import { flags } from './flags.ts';

export const serve = action({
  repairs: true,
  description:
    'Serves the pet store from memory, on this machine, until Ctrl-C, SIGTERM or SIGHUP; prints its URL when it accepts. Its documentation, with forms to try operations out, is at /docs. With a command, runs it with PETSTORE_BASE_URL set and no profile, stops, and exits with its code.',
  examples: [
    'petstore serve',
    'petstore serve --port 0 -- petstore smoke',
    'petstore serve --data shop.json --save',
    'petstore serve --pets 100000 --latency 50 --error-rate 0.01 --log',
  ],
  args: { command: argument('[command...]', 'command to run against the server, after --') },
  flags,
  async run(context, { command, ...given }) {
    const { serve: serveUntilStopped } = await import('./serve.ts');
    // serve uses no settings, but an unknown --profile is an error here as in every command.
    await context.settings();
    await serveUntilStopped(context, given, command);
  },
});
