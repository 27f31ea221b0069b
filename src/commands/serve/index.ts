import { argument, flag, value } from '../../cli/flag.ts';
import { action } from '../../cli/verb.ts';

export const serve = action({
  description:
    'Serves the pet store from memory, on this machine, until Ctrl-C, SIGTERM or SIGHUP; prints its URL when it accepts. Its documentation, with forms to try operations out, is at /docs. With a command, runs it with PETSTORE_BASE_URL set and no profile, stops, and exits with its code.',
  examples: [
    'petstore serve',
    'petstore serve --port 0 -- petstore smoke',
    'petstore serve --data shop.json --save',
    'petstore serve --pets 100000 --latency 50 --error-rate 0.01 --log',
  ],
  args: { command: argument('[command...]', 'command to run against the server, after --') },
  flags: {
    port: value('--port <n>', 'port to listen on (default 4010); 0 takes a free one'),
    host: value('--host <address>', 'address to listen on (default 127.0.0.1)'),
    data: value('--data <file>', 'serve the shop that this file holds', { offers: 'file' }),
    save: flag('--save', 'save to the file of --data after writes and at the end; created if it is missing'),
    empty: flag('--empty', 'start with an empty shop'),
    pets: value('--pets <n>', 'start with a generated shop of n pets'),
    seed: value('--seed <n>', 'seed of the generated shop and of the faults (default 1)'),
    latency: value('--latency <ms>', 'wait this long before each answer'),
    errorRate: value('--error-rate <share>', 'answer this share of requests, 0 to 1, with 503'),
    rateLimit: value('--rate-limit <n/s>', 'answer requests beyond this rate with 429 and Retry-After'),
    sunset: value('--sunset <date>', 'when getPet ends, YYYY-MM-DD, in its Sunset header'),
    readOnly: flag('--read-only', 'answer every write with 405'),
    log: flag('--log', 'one line per request on stderr'),
    readyFile: value(
      '--ready-file <file>',
      'write the URL to this file when the server accepts; removed at the end',
      {
        offers: 'file',
      },
    ),
  },
  async run(context, { command, ...flags }) {
    const { toServePlan } = await import('./flags.ts');
    const { serve: serveUntilStopped } = await import('./serve.ts');
    // serve uses no settings, but a wrong profile or value is an error here as in every command.
    await context.settings();
    await serveUntilStopped(context, toServePlan(flags), command);
  },
});
