import type { Context } from '../../context.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description:
      'Serves the pet store from memory, on this machine, until Ctrl-C or SIGTERM; prints its URL when it accepts. With a command, runs it with PETSTORE_BASE_URL set, stops, and exits with its code.',
    examples: [
      'petstore serve',
      'petstore serve --port 0 -- petstore smoke',
      'petstore serve --data shop.json --save',
      'petstore serve --pets 100000 --latency 50 --error-rate 0.01 --log',
    ],
  })
    .argument('[command...]', 'command to run against the server, behind --')
    .option('--port <n>', 'port to listen on (default 4010); 0 takes a free one')
    .option('--host <address>', 'address to listen on (default 127.0.0.1)')
    .option('--data <file>', 'serve the shop that this file holds')
    .option('--save', 'save to the file of --data after writes and at the end; created if it is missing')
    .option('--empty', 'begin with an empty shop')
    .option('--pets <n>', 'begin with a made-up shop of n pets')
    .option('--seed <n>', 'number that the made-up shop and the faults follow from (default 1)')
    .option('--latency <ms>', 'wait this long before each answer')
    .option('--error-rate <share>', 'answer this share of requests, 0 to 1, with 503')
    .option('--rate-limit <n/s>', 'answer requests beyond this rate with 429 and Retry-After')
    .option('--sunset <date>', 'when getPet ends, YYYY-MM-DD, in its Sunset header')
    .option('--read-only', 'answer every write with 405')
    .option('--log', 'one line per request on stderr')
    .option('--ready-file <file>', 'write the URL to this file when the server accepts; removed at the end')
    .action(async (command, flags) => {
      const { toServePlan } = await import('./flags.ts');
      const { serve } = await import('./serve.ts');
      // It uses none of them, but a wrong profile or value is an error here as everywhere.
      await context.settings();
      await serve(context, toServePlan(flags), command);
    });
}
