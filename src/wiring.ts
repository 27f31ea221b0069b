import { version } from '../package.json';
import { builtInContract, type Contract, type Operation } from './api/contract.ts';
import type { HttpFields, HttpResponse, Transport } from './api/http.ts';
import { describeLifecycle } from './api/life-cycle.ts';
import type { OperationId } from './api/operations.ts';
import { type Client, createClient } from './client/client.ts';
import { parseHeaderFlag, toFields } from './client/fields.ts';
import { readActiveContract, storedProfile } from './config/contract-file.ts';
import { type Credential, readCredential } from './config/credentials.ts';
import { resolvePaths } from './config/paths.ts';
import type { Settings } from './config/settings.ts';
import type { Context, Load } from './context.ts';
import { UsageError } from './errors.ts';
import { createPrinter, type Printer } from './output/print.ts';

/** The client that the settings call for: a service at a base URL, or the server in this process. */
export async function connect(context: Context, load: Load): Promise<Client> {
  const settings = await context.settings();
  const baseUrl = settings.offline ? 'http://offline.invalid' : settings.get('base-url');
  if (!baseUrl) throw noTarget();
  const contract = await context.contract();
  const credential = settings.offline ? undefined : await openCredential(context, baseUrl);
  const transport = settings.offline
    ? await openOffline(context)
    : await openTransport(settings, context, load);
  return openClient(context, { baseUrl, contract, credential, transport });
}

/** A client for documents at another address; the credential goes along where that is the service's own origin. */
export async function connectTo(context: Context, origin: string): Promise<Client> {
  const settings = await context.settings();
  const baseUrl = settings.get('base-url');
  const isOwn = baseUrl !== undefined && new URL(baseUrl).origin === origin;
  const credential = isOwn ? await openCredential(context, baseUrl) : undefined;
  const transport = await openTransport(settings, context, 'few');
  return openClient(context, { baseUrl: origin, contract: builtInContract, credential, transport });
}

interface Connection {
  readonly baseUrl: string;
  readonly contract: Contract;
  readonly credential: Credential | undefined;
  readonly transport: Transport;
}

async function openClient(context: Context, { credential, ...connection }: Connection): Promise<Client> {
  const settings = await context.settings();
  return createClient({
    ...connection,
    fields: requestFields(context, credential),
    timeoutMs: settings.get('timeout'),
    retries: settings.get('retries'),
    signal: context.interrupts.signal,
    onAnswer: lifeCycleReader(context),
    now: context.now,
  });
}

async function openCredential(context: Context, baseUrl: string): Promise<Credential | undefined> {
  return readCredential(await context.settings(), {
    io: context.io,
    baseUrl,
    allowInsecureHttp: context.flags.allowInsecureHttp === true,
    notice: context.notice,
  });
}

/** What every request carries: who asks, for what, the credential, and what the user adds or replaces. */
function requestFields({ flags }: Context, credential: Credential | undefined): HttpFields {
  return toFields([
    { name: 'user-agent', value: `petstore/${version}`, source: 'petstore' },
    { name: 'accept', value: 'application/json', source: 'petstore' },
    ...(credential ? [{ name: credential.header, value: credential.value, source: 'the token' }] : []),
    ...(flags.headers ?? []).map(parseHeaderFlag),
  ]);
}

/** The embedded store has the built-in contract; a service has that of its profile. */
export async function readContract(context: Context): Promise<Contract> {
  const settings = await context.settings();
  if (settings.offline) return builtInContract;
  const { configFile } = resolvePaths(context.io);
  return (await readActiveContract(configFile, storedProfile(settings)))?.contract ?? builtInContract;
}

/** Reads what the first answer of each operation says of its life; a fault's answer says nothing. */
function lifeCycleReader({
  lifeCycle,
  now,
}: Context): (operation: Operation, response: HttpResponse) => void {
  const read = new Set<OperationId>();
  return (operation, { status, fields }) => {
    if (read.has(operation.id) || status >= 500) return;
    read.add(operation.id);
    const clause = describeLifecycle(operation, fields, now());
    if (clause !== undefined) lifeCycle.set(operation.id, clause);
  };
}

export async function openPrinter(context: Context): Promise<Printer> {
  const settings = await context.settings();
  const { fields, sort, header, quiet } = context.flags;
  return createPrinter(context.io, {
    format: settings.get('output'),
    fields: fields?.split(',').map((field) => field.trim()),
    sort,
    header: header !== false,
    color: settings.get('color'),
    quiet: quiet === true,
  });
}

async function openOffline(context: Context): Promise<Transport> {
  const { createOfflineTransport } = await import('./server/offline.ts');
  return createOfflineTransport({ file: resolvePaths(context.io).offlineStore });
}

async function openTransport(settings: Settings, context: Context, load: Load): Promise<Transport> {
  const options = {
    tls: {},
    env: context.io.env,
    connections: settings.get('concurrency'),
    connectTimeoutMs: settings.get('timeout'),
  };
  if (load === 'many') return (await import('./client/transport/undici.ts')).createUndiciTransport(options);
  return (await import('./client/transport/node-http.ts')).createNodeHttpTransport(options);
}

function noTarget(): UsageError {
  return new UsageError(
    'no service to call: no base URL is set',
    'give --base-url <url>, make a profile with `petstore profile create <name> --base-url <url>`, or use --offline for the embedded store',
  );
}
