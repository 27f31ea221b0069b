import { version } from '../package.json';
import { builtInContract, type Contract, type CredentialPlace } from './api/contract.ts';
import { embeddedOrigin, type HttpFields, type HttpResponse, type Transport } from './api/http.ts';
import { describeLifecycle } from './api/lifecycle.ts';
import type { Operation, OperationId } from './api/operations.ts';
import type { Sockets } from './checks/sockets.ts';
import type { Attempt } from './client/call.ts';
import type { Client } from './client/client.ts';
import { createClient } from './client/client.ts';
import { type GivenField, parseHeaderFlag, refuseInsecure, toFields } from './client/fields.ts';
import type { CredentialParameter } from './client/request.ts';
import type { TlsFiles } from './client/transport/tls.ts';
import { readConfigFile } from './config/file.ts';
import { resolvePaths } from './config/paths.ts';
import type { Settings } from './config/settings.ts';
import { type Credential, readCredential } from './config/token.ts';
import type { Context, Load } from './context.ts';
import { UsageError } from './errors.ts';
import { secretsIn } from './mask.ts';
import { createWaiting } from './output/waiting.ts';

/** The client that the settings call for: a service at a base URL, or the server in this process. */
export async function connect(context: Context, load: Load): Promise<Client> {
  const settings = await context.settings();
  const baseUrl = settings.offline ? embeddedOrigin : settings.get('base-url');
  if (!baseUrl) throw noTarget(context);
  const contract = await context.contract();
  const own = await ownFields(context, settings, baseUrl, contract.credentialPlaces);
  const transport = settings.offline
    ? await openOffline(context)
    : await openTransport(context, settings, baseUrl, await openTlsFiles(settings), load);
  return openClient(context, settings, { baseUrl, contract, ...own, transport, load });
}

/**
 /**
  * A client for documents at any address. It sends the credential only if `withToken` is set, and only to the service's
  * own origins. It sends headers of `--header` only to the service's origin, or to any origin if no service is set.
  */
export async function connectTo(context: Context, origin: string, withToken: boolean): Promise<Client> {
  const settings = await context.settings();
  const baseUrl = settings.get('base-url');
  const isOwn = baseUrl !== undefined && new URL(baseUrl).origin === origin;
  // The bound contract may be unreadable, and the user may be here to bind again.
  const contract = await context.contract().catch(() => builtInContract);
  const own = withToken
    ? await ownFields(context, settings, origin, contract.credentialPlaces)
    : addedFields(context, origin, isOwn || baseUrl === undefined);
  const { ca, ...identity } = await openTlsFiles(settings);
  const tls = { ...(ca && { ca }), ...(isOwn && identity) };
  const transport = await openTransport(context, settings, origin, tls, 'few');
  return openClient(context, settings, {
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

async function openClient(context: Context, settings: Settings, connection: Connection): Promise<Client> {
  const trace = await openTrace(context);
  // Commands on many records show their own progress.
  const isShown = connection.load === 'few' && context.liveLine.canDraw && !context.quiet;
  const waiting = isShown ? createWaiting(context.liveLine, new URL(connection.baseUrl).host) : undefined;
  const client = createClient({
    ...connection,
    timeoutMs: settings.get('timeout'),
    retries: settings.get('retries'),
    signal: context.interrupts.signal,
    mask: context.secrets.mask,
    onAttempt: bothOf(waiting?.note, trace),
    onAnswer: lifecycleReader(context),
    note: (line) => void context.note(line),
    now: context.now,
  });
  return waiting?.follow(client) ?? client;
}

type OnAttempt = (attempt: Attempt) => void;

function bothOf(one: OnAttempt | undefined, other: OnAttempt | undefined): OnAttempt | undefined {
  if (!one || !other) return one ?? other;
  return (attempt) => {
    one(attempt);
    other(attempt);
  };
}

async function openTrace({ io, flags }: Context): Promise<OnAttempt | undefined> {
  const level = flags.verbose ?? 0;
  if (level === 0) return undefined;
  const { traceOf } = await import('./output/trace.ts');
  return (attempt) => void io.stderr.write(traceOf(attempt, level)).catch(() => {});
}

/** Reads the life cycle from the first answer of each operation. Answers with an error status are ignored. */
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

function noTarget({ io }: Context): UsageError {
  const names = Object.keys(readConfigFile(io).profiles);
  const choice =
    names.length > 0 ? `choose a profile with --profile <name> (${names.slice(0, 20).join(', ')}), ` : '';
  return new UsageError(
    'no service to call: no base URL is set',
    `give --base-url <url>, ${choice}create a profile with \`petstore profile create <name> --base-url <url>\`, or use --offline for the embedded store`,
  );
}

const commonFields = [
  { name: 'user-agent', value: `petstore/${version}`, source: 'petstore' },
  { name: 'accept', value: 'application/json', source: 'petstore' },
];

/** The headers and parameters that every request carries besides its own. */
interface OwnFields {
  readonly fields: HttpFields;
  /** A credential that the service takes in the query. */
  readonly parameter?: CredentialParameter | undefined;
  /** The source of the credential; undefined if there is no credential. */
  readonly credential?: string | undefined;
}

/** For the service: common fields, the credential, and what the user adds or replaces. */
async function ownFields(
  context: Context,
  settings: Settings,
  baseUrl: string,
  places: readonly CredentialPlace[],
): Promise<OwnFields> {
  const { io, flags, secrets, note, interrupts } = context;
  const allowInsecureHttp = flags.allowInsecureHttp === true;
  const added = (flags.headers ?? []).map(parseHeaderFlag);
  if (!settings.offline && !allowInsecureHttp) refuseInsecure(added, baseUrl);
  const target = { baseUrl, allowInsecureHttp, places };
  const credential = settings.offline
    ? undefined
    : await readCredential(settings, target, { io, secrets, notice: note, signal: interrupts.signal });
  const fields = toFields([...commonFields, ...tokenField(credential), ...added]);
  for (const secret of secretsIn(fields)) secrets.add(secret);
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

/** For documents: no credential, and the user's own headers if they are meant for this address. */
function addedFields({ flags, secrets }: Context, origin: string, isMeant: boolean): OwnFields {
  const added = isMeant ? (flags.headers ?? []).map(parseHeaderFlag) : [];
  if (!flags.allowInsecureHttp) refuseInsecure(added, origin);
  const fields = toFields([...commonFields, ...added]);
  for (const secret of secretsIn(fields)) secrets.add(secret);
  return { fields };
}

/** The server in this process, on the store that this machine keeps. */
async function openOffline({ io }: Context): Promise<Transport> {
  const { createOfflineTransport } = await import('./server/offline.ts');
  return createOfflineTransport({ file: resolvePaths(io).offlineStore });
}

/** The transport to a service. @throws UsageError if a proxy or a certificate cannot be used. */
async function openTransport(
  context: Context,
  settings: Settings,
  baseUrl: string,
  tls: TlsFiles,
  load: Load,
): Promise<Transport> {
  const { io } = context;
  // Report a wrong proxy before anything is read or planned.
  (await import('./client/transport/proxy.ts')).findProxy(new URL(baseUrl), io.env);
  if (io.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    const warning =
      'warning: NODE_TLS_REJECT_UNAUTHORIZED=0 is set: certificates are not verified, and anybody on the way can read and change everything';
    // --quiet does not hide it.
    await (context.quiet ? io.stderr.write(`${warning}\n`).catch(() => {}) : context.note(warning));
  }
  const options = {
    tls,
    env: io.env,
    connections: settings.get('concurrency'),
    connectTimeoutMs: settings.get('timeout'),
  };
  if (load === 'many') return (await import('./client/transport/undici.ts')).createUndiciTransport(options);
  return (await import('./client/transport/node-http.ts')).createNodeHttpTransport(options);
}

/** The certificates and the key that the settings name, read and checked. */
async function openTlsFiles(settings: Settings): Promise<TlsFiles> {
  const named = (key: 'ca-cert' | 'client-cert' | 'client-key') => {
    const { value, origin } = settings.explain(key);
    return value === undefined ? undefined : { path: value, source: origin };
  };
  const files = { ca: named('ca-cert'), cert: named('client-cert'), key: named('client-key') };
  if (!files.ca && !files.cert && !files.key) return {};
  return (await import('./client/transport/tls.ts')).readTlsFiles(files);
}

/** Access to the sockets, for the checks of DNS, TCP and TLS. */
export async function openSockets(context: Context, baseUrl: string): Promise<Sockets> {
  const settings = await context.settings();
  const { createSockets } = await import('./checks/sockets.ts');
  return createSockets({
    baseUrl,
    embedded: settings.offline !== undefined,
    tls: await openTlsFiles(settings),
    env: context.io.env,
    timeoutMs: settings.get('timeout'),
  });
}
