import { colorModes, outputFormats } from '../config/values.ts';
import { count, type Flag, flag, type ValuesOf, value, values } from './flag.ts';

/** The flags that every command takes, before or after its words. */
export const globalFlags = {
  profile: value('--profile <name>', 'use this profile', { offers: 'profile' }),
  baseUrl: value('--base-url <url>', 'call the service at this address'),
  offline: flag('--offline', 'use the embedded store instead of a service'),
  // `-o=json` as in kubectl: commander takes what follows a short flag as its value, with the sign.
  output: value('-o, --output <format>', 'format of the output', (text) => text.replace(/^=/, ''), {
    choices: outputFormats,
  }),
  json: { ...flag('--json', 'short for -o json'), stands: { key: 'output', value: 'json' } },
  fields: value('--fields <a,b>', 'columns to show, in this order; help lists them', { offers: 'field' }),
  sort: value('--sort <field>', 'sort by a field; -field for descending', { offers: 'field' }),
  noHeader: flag('--no-header', 'leave out the header row'),
  quiet: flag('-q, --quiet', 'show no notices on stderr'),
  verbose: count('-v, --verbose', 'one line per request on stderr; -vv adds headers'),
  color: value('--color <when>', 'when to use colour', { choices: colorModes }),
  timeout: value('--timeout <duration>', 'deadline of a whole call, retries included (default 30s)'),
  retries: value('--retries <n>', 'retry a request at most n times (default 4)'),
  headers: values('-H, --header <name: value>', 'add a header to every request'),
  caCert: value('--ca-cert <file>', 'trust these authorities too (PEM)', { offers: 'file' }),
  clientCert: value('--client-cert <file>', 'certificate to show to the service (PEM)', { offers: 'file' }),
  clientKey: value('--client-key <file>', 'its private key (PEM)', { offers: 'file' }),
  allowInsecureHttp: flag('--allow-insecure-http', 'send the token over plain http too'),
  yes: flag('-y, --yes', 'answer yes to confirmations'),
  noInput: flag('--no-input', 'never ask'),
} satisfies Record<string, Flag>;

export const helpFlag = flag('-h, --help', 'show help');

/** The flags of commands that change records of the service. */
export const writeFlags = {
  dryRun: flag('--dry-run', 'print the request and send nothing'),
  confirm: value('--confirm <profile>', 'name of the profile, if it is protected', { offers: 'profile' }),
} satisfies Record<string, Flag>;

/** The flags of bulk work that are settings too. */
export interface PaceFlags {
  readonly concurrency?: string | undefined;
  readonly rate?: string | undefined;
}

/** What was given of the flags that more than one command takes; a flag that was not given is undefined. */
export type GlobalFlags = Partial<ValuesOf<typeof globalFlags> & ValuesOf<typeof writeFlags>> & PaceFlags;
