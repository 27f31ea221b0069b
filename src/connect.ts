import { version } from '../package.json';
import { builtInContract, type Contract } from './api/contract.ts';
import { embeddedOrigin, type Transport } from './api/http.ts';
import { describeLifecycle } from './api/lifecycle.ts';
import type { OperationId, TokenHeader } from './api/operations.ts';
import type { ClientEvent, ClientOptions } from './client/call.ts';
import type { Client } from './client/client.ts';
import { createClient } from './client/client.ts';
import { type Header, parseHeaderFlag, rejectInsecure, toHeaders } from './client/headers.ts';
import { showWaiting, traceOf } from './client/shown-calls.ts';
import { findProxy } from './client/transport/proxy.ts';
import type { SocketAddress } from './client/transport/sockets.ts';
import type { TlsFiles } from './client/transport/tls.ts';
import { readCredential } from './config/credential.ts';
import { readConfigFile } from './config/file.ts';
import { resolvePaths } from './config/paths.ts';
import { type ClientUse, type Context, followUpCommand } from './context.ts';
import { UsageError } from './process/errors.ts';
import type { Secrets } from './process/secrets.ts';

/** Makes the client of the service at the base URL, or, for the embedded store, of the server in this process. */
export async function connect(context: Context, use: ClientUse): Promise<Client> {
  const { settings, flags } = context;
  const address = settings.offline ? embeddedOrigin : settings.service;
  if (!address) throw await noTargetError(context);
  const contract = await context.contract();
  const baseUrl = new URL(address).pathname === '/' ? address + contract.basePath : address;
  const header = contract.tokenHeader;
  const sendsToken = !settings.offline;
  const extras = await readExtras(context, { baseUrl, headers: flags.headers ?? [], header, sendsToken });
  const transport = settings.offline
    ? await (await import('./server/offline.ts')).createOfflineTransport(
        resolvePaths(context.io).offlineStore,
        // The error that names the holder of the lock comes before that of the deadline.
        settings.get('timeout') * 0.9,
      )
    : await openTransport(context, baseUrl, await openTlsFiles(context, baseUrl), use);
  return openClient(context, { baseUrl, contract, ...extras, transport, use });
}

/**
 * Makes a client for documents at any origin. It sends the credential only if `withToken` is set. The headers of `--header`
 * and the client certificate go only to the origin of the base URL. If no base URL is set, the headers go to any origin.
 */
export async function connectToDocuments(
  context: Context,
  origin: string,
  { withToken }: { readonly withToken: boolean },
): Promise<Client> {
  const baseUrl = context.settings.get('base-url');
  const isServiceOrigin = baseUrl !== undefined && new URL(baseUrl).origin === origin;
  // An unreadable contract must not stop the user from binding again.
  const bound = withToken ? await context.contract().catch(() => builtInContract) : undefined;
  const headers = isServiceOrigin || baseUrl === undefined ? (context.flags.headers ?? []) : [];
  const header = bound?.tokenHeader;
  const extras = await readExtras(context, {
    baseUrl: origin,
    headers,
    header,
    sendsToken: withToken,
    isNamed: withToken,
  });
  const { cert, key, ...trust } = await openTlsFiles(context, origin);
  const tls = isServiceOrigin ? { ...trust, cert, key } : trust;
  const transport = await openTransport(context, origin, tls, 'records');
  const contract = builtInContract;
  return openClient(context, { baseUrl: origin, contract, ...extras, transport, use: 'records' });
}

interface Connection extends RequestExtras {
  readonly baseUrl: string;
  readonly contract: Contract;
  readonly transport: Transport;
  readonly use: ClientUse;
}

async function openClient(context: Context, connection: Connection): Promise<Client> {
  const { io, flags, liveLine, settings } = context;
  const level = flags.verbose ?? 0;
  // A command for bulk work shows its own progress.
  const isShown = connection.use === 'records' && liveLine.canDraw && !context.quiet;
  const show = isShown ? showWaiting(liveLine, new URL(connection.baseUrl).host) : undefined;
  return createClient({
    ...connection,
    doctor: followUpCommand(context, ['doctor']),
    timeoutMs: settings.get('timeout'),
    retries: settings.get('retries'),
    retriesUnreachable: connection.use === 'bulk' || settings.explain('retries').source !== 'default',
    signal: context.interrupts.signal,
    secrets: context.secrets,
    observe: createObserver(context, (event) => {
      show?.(event);
      if (level > 0 && event.kind === 'attempt')
        void io.stderr.write(traceOf(event.attempt, level, context.secrets)).catch(() => {});
    }),
  });
}

/**
 * Makes the observer of a client. The first answer of an operation tells whether it is deprecated or may change; an answer
 * with a status of 500 or above does not count.
 */
function createObserver(
  { mention, warn }: Context,
  show: (event: ClientEvent) => void,
): (event: ClientEvent) => void {
  const read = new Set<OperationId>();
  return (event) => {
    show(event);
    if (event.kind === 'note') void warn(event.line);
    if (event.kind !== 'response' || read.has(event.operation.id) || event.response.status >= 500) return;
    const { operation, response } = event;
    read.add(operation.id);
    const notice = describeLifecycle(operation, response.headers);
    if (notice) void mention(`note: ${notice}`);
  };
}

async function noTargetError({ io }: Context): Promise<UsageError> {
  const names = Object.keys((await readConfigFile(io)).profiles);
  const choice =
    names.length > 0 ? `choose a profile with --profile <name> (${names.slice(0, 20).join(', ')}), ` : '';
  return new UsageError(
    'no service to call: no base URL is set',
    `give --base-url <url>, ${choice}create a profile with \`petstore profile create <name> --base-url <url>\`, or use --offline for the embedded store`,
    'no_target',
  );
}

const commonHeaders = [
  { name: 'user-agent', value: `petstore/${version}`, source: 'petstore' },
  { name: 'accept', value: 'application/json', source: 'petstore' },
];

/** The headers and the credential that every request carries. */
type RequestExtras = Pick<ClientOptions, 'headers' | 'openHeaders' | 'credential' | 'whyNoCredential'>;

interface ExtrasInputs {
  readonly baseUrl: string;
  readonly headers: readonly string[];
  /** The header of the token in the service's description. */
  readonly header: TokenHeader | undefined;
  readonly sendsToken: boolean;
  readonly isNamed?: boolean | undefined;
}

/** Collects the common headers, the credential, and the headers of the user. */
async function readExtras(
  { secrets, mention, readToken, settings }: Context,
  { baseUrl, headers, header, sendsToken, isNamed }: ExtrasInputs,
): Promise<RequestExtras> {
  const userHeaders = headers.map(parseHeaderFlag);
  for (const name of [settings.get('auth-header'), header?.name ?? []].flat()) secrets.addHeader(name);
  if (baseUrl !== embeddedOrigin && !settings.get('allow-insecure-http'))
    rejectInsecure(userHeaders, baseUrl, secrets);
  for (const header of userHeaders) addSecrets(secrets, header);
  let whyNoCredential: string | undefined;
  const withheld = (why: string) => {
    whyNoCredential = why;
    return mention(`warning: ${why}`);
  };
  const destination = { baseUrl, header, isNamed };
  const credential = sendsToken
    ? await readCredential(settings, destination, { readToken, secrets, withheld })
    : undefined;
  const tokenHeader = credential ? [{ ...credential, source: 'the token' }] : [];
  const isAdded = userHeaders.some(({ name }) => name.toLowerCase() === 'authorization');
  return {
    headers: toHeaders([...commonHeaders, ...tokenHeader, ...userHeaders]),
    openHeaders: toHeaders([...commonHeaders, ...userHeaders]),
    credential: isAdded ? '--header' : credential?.source,
    whyNoCredential,
  };
}

/** A shorter value, as in `X-Debug: true`, is not masked, because the output may have it as an ordinary word. */
const minSecretLength = 8;

/** Masks the value of a header from `--header`, and the part after a scheme such as Bearer. */
function addSecrets(secrets: Secrets, { name, value }: Header): void {
  const minLength = secrets.hasHeader(name) ? 0 : minSecretLength;
  secrets.addHeader(name);
  const part = value.replace(/^[\w!#$%&'*+.^`|~-]+ +/, '');
  for (const secret of [value, part]) if (secret.length >= minLength) secrets.add(secret);
}

/** Opens the transport to a service. @throws UsageError if a proxy or a certificate cannot be used. */
async function openTransport(
  context: Context,
  baseUrl: string,
  tls: TlsFiles,
  use: ClientUse,
): Promise<Transport> {
  const { io, settings } = context;
  if (io.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    const warning =
      'warning: NODE_TLS_REJECT_UNAUTHORIZED=0 is set: certificates are not verified, so others can read and change everything';
    await (context.quiet ? context.tell(warning) : context.warn(warning));
  }
  const options = { baseUrl, tls, env: io.env, connections: settings.get('concurrency') };
  const proxy = findProxy(new URL(baseUrl), io.env);
  if (use === 'bulk' || proxy)
    return (await import('./client/transport/undici.ts')).createUndiciTransport(options, proxy);
  return (await import('./client/transport/node-http.ts')).createNodeHttpTransport(options);
}

/** Reads and checks the certificates and the key in the settings and, for https, the certificates of SSL_CERT_FILE. */
async function openTlsFiles(context: Context, baseUrl: string): Promise<TlsFiles> {
  const { settings, io } = context;
  const { SSL_CERT_FILE: roots } = io.env;
  const tlsFile = (key: 'ca-cert' | 'client-cert' | 'client-key') => {
    const { value, givenBy } = settings.explain(key);
    return value === undefined ? undefined : { path: value, source: givenBy };
  };
  const files = {
    roots: roots && baseUrl.startsWith('https:') ? { path: roots, source: 'SSL_CERT_FILE' } : undefined,
    ca: tlsFile('ca-cert'),
    cert: tlsFile('client-cert'),
    key: tlsFile('client-key'),
  };
  if (Object.values(files).every((file) => file === undefined)) return {};
  return (await import('./client/transport/tls.ts')).readTlsFiles(files);
}

/**
 * Returns the address of the service for the checks of DNS, TCP and TLS. Undefined if no base URL is set.
 *
 * @param timeoutMs the deadline of each of these.
 */
export async function openAddress(context: Context, timeoutMs: number): Promise<SocketAddress | undefined> {
  const { settings, io } = context;
  const baseUrl = settings.offline === undefined ? settings.service : embeddedOrigin;
  if (baseUrl === undefined) return undefined;
  const { toAddress } = await import('./client/transport/sockets.ts');
  const tls = await openTlsFiles(context, baseUrl);
  return toAddress(baseUrl, { tls, env: io.env, timeoutMs });
}
