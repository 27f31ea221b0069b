import { argument } from '../../cli/flag.ts';
import { action } from '../../cli/verb.ts';
import { flags } from './serve-flags.ts';

export const serve = action({
  wrongSettings: 'warn',
  description: [
    'Serves the pet store from memory, on this machine, until Ctrl-C, SIGTERM or SIGHUP; prints its URL when it accepts. With a command, runs it with PETSTORE_BASE_URL set and no profile, stops, and exits with its code.',
    'Besides the API it serves /healthz (200 as soon as it accepts), /openapi.json, /openapi.yaml and /docs, a page with forms to try operations out.',
    'The file of --data is JSON: an object with the lists categories, pets, orders and inventory, whose records are those of the API. `offline pull --to` writes one.',
  ],
  examples: [
    'petstore serve',
    'petstore serve --port 0 -- petstore smoke',
    'petstore serve --data shop.json',
    'petstore serve --pets 100000 --latency 50ms --error-rate 0.01 --log',
  ],
  args: { command: argument('[command...]', 'command to run against the server, after --') },
  flags,
  async run(context, { command, ...serveFlags }) {
    const { runServe } = await import('./serve.ts');
    await runServe(context, serveFlags, command);
  },
});
