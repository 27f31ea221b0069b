import { argument, flag, type ValuesOf, value, values } from '../../cli/flag.ts';
import { action } from '../../cli/verb.ts';
import { parseDuration, parseInteger, ValueError } from '../../config/setting-values.ts';

const flags = {
  port: value('--port <n>', 'port to listen on (default: 4010); 0 takes a free one', {
    parse: (text) => parseInteger(text, 0, 65_535),
  }),
  host: values(
    '--host <address>',
    'address to listen on (default: 127.0.0.1); can be repeated for further names that clients may call it by',
    { parse: parseHost },
  ),
  data: value('--data <file>', 'serve the store that this JSON file holds', {
    offers: 'file',
  }),
  empty: flag('--empty', 'start with an empty store'),
  pets: value('--pets <n>', 'start with a generated store of n pets', {
    parse: (text) => parseInteger(text, 0, 10_000_000),
  }),
  latency: value('--latency <duration>', 'wait this long before each answer', { parse: parseLatency }),
  errorRate: value('--error-rate <share>', 'answer this share of requests, 0 to 1, with 503', {
    parse: parseShare,
  }),
  readOnly: flag('--read-only', 'answer every write with 405'),
  requireToken: flag(
    '--require-token',
    'answer the API with 401 unless the request bears the value of PETSTORE_TOKEN',
  ),
  cors: values('--cors <origin>', 'let pages of this origin use the server; can be repeated', {
    parse: parseOrigin,
  }),
  trustProxy: flag(
    '--trust-proxy',
    'build links from X-Forwarded-Proto, -Host and -Prefix, which a gateway in front sets',
  ),
  log: flag('--log', 'one line per request on stderr'),
};

export type ServeFlags = ValuesOf<typeof flags>;

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

function parseShare(text: string): number {
  if (/^(?=.)\d?(\.\d{1,10})?$/.test(text) && Number(text) <= 1) return Number(text);
  throw new ValueError('must be a number from 0 to 1');
}

/**
 * Parses a duration to milliseconds. A number must have a unit, because a bare number meant milliseconds in version 1 and means
 * seconds in other flags.
 */
function parseLatency(text: string): number {
  if (/^0[a-z]*$/.test(text)) return 0;
  if (/\d$/.test(text)) throw new ValueError(`must have a unit, such as ${text}ms`);
  return parseDuration(text);
}

/** Parses an origin to the form that browsers send. */
function parseOrigin(text: string): string {
  const { origin = 'null' } = URL.canParse(text) ? new URL(text) : {};
  if (origin !== 'null' && text.replace(/\/$/, '').toLowerCase() === origin) return origin;
  throw new ValueError('must be an origin, such as http://localhost:3000');
}

function parseHost(text: string): string {
  const host = text.replace(/^\[(.*)\]$/, '$1');
  if (/^[\w.:-]+$/.test(host)) return host;
  throw new ValueError('must be an address or a name, without a port');
}
