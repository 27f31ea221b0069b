import { version } from '../package.json';
import { builtInContract, type Contract, type Operation } from './api/contract.ts';
import { embeddedOrigin, type HttpFields, type HttpResponse, type Transport } from './api/http.ts';
import { describeLifecycle } from './api/lifecycle.ts';
import type { OperationId } from './api/operations.ts';
import { type Attempt, type Client, createClient } from './client/client.ts';
import type { CredentialParameter } from './client/credential-parameter.ts';
import { type GivenField, parseHeaderFlag, refuseInsecure, toFields } from './client/fields.ts';
import type { TlsFiles } from './client/transport/dial.ts';
import type { OutputFormat } from './config/choices.ts';
import { readActiveContract, storedProfile } from './config/contract-file.ts';
import { type Credential, readCredential } from './config/credentials.ts';
import { resolvePaths } from './config/paths.ts';
import type { Settings } from './config/settings.ts';
import type { Context, Load } from './context.ts';
import { UsageError } from './errors.ts';
import { secretsIn } from './mask.ts';
import { createPrinter, type Printer } from './output/print.ts';
import { createWaiting, type Waiting, withWaiting } from './output/waiting.ts';

/** The client that the settings call for: a service at a base URL, or the server in this process. */
export async function connect(context: Context, load: Load): Promise<Client> {
  const settings = await context.settings();
  const baseUrl = settings.offline ? embeddedOrigin : settings.get('base-url');
  if (!baseUrl) throw noTarget();
  const contract = await context.contract();
  const own = await ownFields(context, baseUrl, contract);
  const transport = settings.offline
    ? await openOffline(context)
    : await openTransport(baseUrl, context, load);
  return openClient(context, { baseUrl, contract, ...own, transport, load });
}

/**
 * A client for documents at another address. Credentials go along where that is the service's own origin; what the user
 * adds by `--header` also where no service is set, for then it can be meant for nobody else.
 */
export async function connectTo(context: Context, origin: string): Promise<Client> {
  const settings = await context.settings();
  const baseUrl = settings.get('base-url');
  const isOwn = baseUrl !== undefined && new URL(baseUrl).origin === origin;
  // Who binds anew may do so because what is bound cannot be read.
  const contract = await context.contract().catch(() => builtInContract);
  const own = isOwn
    ? await ownFields(context, baseUrl, contract)
    : foreignFields(context, { origin, baseUrl });
  const transport = await openTransport(origin, context, 'few');
  return openClient(context, {
    baseUrl: origin,
    contract: builtInContract,
    ...own,
    transport,
    load: 'few',
  });
}

interface Connection extends OwnFields {
  readonly baseUrl: string;
  readonly contract: Contract;
  readonly transport: Transport;
  readonly load: Load;
}

async function openClient(context: Context, connection: Connection): Promise<Client> {
  const settings = await context.settings();
  const trace = await openTrace(context);
  const waiting = openWaiting(context, connection);
  const client = createClient({
    ...connection,
    timeoutMs: settings.get('timeout'),
    retries: settings.get('retries'),
    signal: context.interrupts.signal,
    mask: context.secrets.mask,
    onAttempt: bothOf(waiting?.note, trace),
    onAnswer: lifecycleReader(context),
    now: context.now,
  });
  return waiting ? withWaiting(client, waiting) : client;
}

/** Work on many records has a progress of its own. */
function openWaiting({ io, statusLine, flags }: Context, { baseUrl, load }: Connection): Waiting | undefined {
  if (load === 'many') return undefined;
  return createWaiting(io, statusLine, { host: new URL(baseUrl).host, quiet: flags.quiet === true });
}

type OnAttempt = (attempt: Attempt) => void;

function bothOf(one: OnAttempt | undefined, other: OnAttempt | undefined): OnAttempt | undefined {
  if (!one || !other) return one ?? other;
  return (attempt) => {
    one(attempt);
    other(attempt);
  };
}

/** Who asks, and for what. */
const commonFields = [
  { name: 'user-agent', value: `petstore/${version}`, source: 'petstore' },
  { name: 'accept', value: 'application/json', source: 'petstore' },
];

interface OwnFields {
  readonly fields: HttpFields;
  /** A credential that the service takes in the query. */
  readonly parameter?: CredentialParameter | undefined;
  /** Where the credential came from; undefined where there is none. */
  readonly credential?: string | undefined;
}

/** What every request to the service carries: who asks, the credential, and what the user adds or replaces. */
async function ownFields(
  context: Context,
  baseUrl: string,
  { credentialPlaces: places }: Contract,
): Promise<OwnFields> {
  const { io, flags, notice } = context;
  const settings = await context.settings();
  const allowInsecureHttp = flags.allowInsecureHttp === true;
  const added = (flags.headers ?? []).map(parseHeaderFlag);
  if (!settings.offline && !allowInsecureHttp) refuseInsecure(added, baseUrl);
  const credential = settings.offline
    ? undefined
    : await readCredential(settings, { io, baseUrl, allowInsecureHttp, places, notice });
  const fields = toFields([...commonFields, ...tokenField(credential), ...added]);
  for (const secret of secretsIn(fields)) context.secrets.add(secret);
  // Also where its header is one whose value is shown.
  if (credential) context.secrets.add(credential.secret);
  const isAdded = added.some(({ name }) => name.toLowerCase() === 'authorization');
  const parameter =
    credential?.place.in === 'query' ? { name: credential.place.name, value: credential.value } : undefined;
  return { fields, parameter, credential: isAdded ? '--header' : credential?.source };
}

function tokenField(credential: Credential | undefined): GivenField[] {
  if (!credential || credential.place.in === 'query') return [];
  const { place, value } = credential;
  return [{ name: place.in === 'cookie' ? 'cookie' : place.name, value, source: 'the token' }];
}

function foreignFields(
  { flags, secrets }: Context,
  { origin, baseUrl }: { readonly origin: string; readonly baseUrl: string | undefined },
): OwnFields {
  const added = baseUrl === undefined ? (flags.headers ?? []).map(parseHeaderFlag) : [];
  if (!flags.allowInsecureHttp) refuseInsecure(added, origin);
  const fields = toFields([...commonFields, ...added]);
  for (const secret of secretsIn(fields)) secrets.add(secret);
  return { fields };
}

async function openTrace({ io, flags }: Context): Promise<OnAttempt | undefined> {
  const level = flags.verbose ?? 0;
  if (level === 0) return undefined;
  const { traceOf } = await import('./output/trace.ts');
  return (attempt) => void io.stderr.write(traceOf(attempt, level)).catch(() => {});
}

/** The embedded store has the built-in contract; a service has that of its profile. */
export async function readContract(context: Context): Promise<Contract> {
  const settings = await context.settings();
  if (settings.offline) return builtInContract;
  const { configFile } = resolvePaths(context.io);
  return (await readActiveContract(configFile, storedProfile(settings)))?.contract ?? builtInContract;
}

/** Reads what the first answer of each operation says of its life; a fault's answer says nothing. */
function lifecycleReader({
  lifecycle,
  now,
}: Context): (operation: Operation, response: HttpResponse) => void {
  const read = new Set<OperationId>();
  return (operation, { status, fields }) => {
    if (read.has(operation.id) || status >= 500) return;
    read.add(operation.id);
    lifecycle.set(operation.id, describeLifecycle(operation, fields, now()));
  };
}

/** @param format for a command with a default of its own; else the one of the settings. */
export async function openPrinter(context: Context, format?: OutputFormat): Promise<Printer> {
  const settings = await context.settings();
  const { fields, sort, header, quiet } = context.flags;
  return createPrinter(context.io, {
    format: format ?? settings.get('output'),
    fields: fields?.split(',').map((field) => field.trim()),
    sort,
    header: header !== false,
    color: settings.get('color'),
    quiet: quiet === true,
    statusLine: context.statusLine,
  });
}

async function openOffline(context: Context): Promise<Transport> {
  const { createOfflineTransport } = await import('./server/offline.ts');
  return createOfflineTransport({ file: resolvePaths(context.io).offlineStore });
}

async function openTransport(
  baseUrl: string,
  { io, settings: resolve }: Context,
  load: Load,
): Promise<Transport> {
  const settings = await resolve();
  // A wrong proxy is told before anything is read or planned.
  (await import('./client/transport/proxy.ts')).findProxy(new URL(baseUrl), io.env);
  if (io.env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    await io.stderr
      .write(
        'warning: NODE_TLS_REJECT_UNAUTHORIZED=0 is set: certificates are not verified, and anybody on the way can read and change everything\n',
      )
      .catch(() => {});
  const options = {
    tls: await openTlsFiles(settings),
    env: io.env,
    connections: settings.get('concurrency'),
    connectTimeoutMs: settings.get('timeout'),
  };
  if (load === 'many') return (await import('./client/transport/undici.ts')).createUndiciTransport(options);
  return (await import('./client/transport/node-http.ts')).createNodeHttpTransport(options);
}

/** The certificates and the key that the settings name, read and checked. */
export async function openTlsFiles(settings: Settings): Promise<TlsFiles> {
  const named = (key: 'ca-cert' | 'client-cert' | 'client-key') => {
    const { value, origin } = settings.explain(key);
    return value === undefined ? undefined : { path: value, source: origin };
  };
  const files = { ca: named('ca-cert'), cert: named('client-cert'), key: named('client-key') };
  if (!files.ca && !files.cert && !files.key) return {};
  return (await import('./client/tls-files.ts')).readTlsFiles(files);
}

function noTarget(): UsageError {
  return new UsageError(
    'no service to call: no base URL is set',
    'give --base-url <url>, make a profile with `petstore profile create <name> --base-url <url>`, or use --offline for the embedded store',
  );
}
