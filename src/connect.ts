import { version } from '../package.json';
import { builtInContract, lifecycleText } from './api/contract.ts';
import { isEmbeddedUrl, type Transport } from './api/http.ts';
import type { OperationId } from './api/nouns.ts';
import type { ServiceUnderTest } from './checks/check.ts';
import type { ServiceOptions } from './client/call.ts';
import { type Client, createClient } from './client/client.ts';
import type { CallLimits } from './client/retry.ts';
import { traceOf } from './client/shown-request.ts';
import { findProxy } from './client/transport/proxy.ts';
import type { TlsFiles } from './client/transport/tls.ts';
import { type Header, parseHeaderFlag, requireSecure, toHeaders } from './client/user-request.ts';
import { chooseTokenHeader, decideTokenUse, tokenHeaderValue } from './config/credential.ts';
import { resolvePaths } from './config/file.ts';
import { addressOf, type ClientPurpose, type Context, isWatchedByPerson } from './context.ts';
import { UsageError } from './process/errors.ts';
import type { Secrets } from './process/secrets.ts';

/** What follows from the purpose of a client alone. */
interface PurposeRules {
  /** True for many requests: undici sends them faster, and the embedded store is saved only by `saveStore`. */
  readonly sendsMany?: boolean;
  /** True if calls are retried even if the service cannot be reached. Otherwise they are only if the user has set `retries`. */
  readonly retriesUnreachable?: boolean;
  /** True if nothing is printed but the trace, because the user has not named the operations. */
  readonly hidesNotices?: boolean;
  /** These limits take the place of the default values of the settings. */
  readonly timeout?: Pick<CallLimits, 'timeoutMs'>;
  readonly retries?: Pick<CallLimits, 'retries' | 'retriesOf429'>;
}

/** The deadline of a call of a check, by default. It is short, because people wait for the answer. */
export const checkTimeoutMs = 10_000;
/** The most retries of a call of a check, by default. Those after a 429 take until the deadline. */
const checkRetries = { retries: 1, retriesOf429: 8 };

const purposes: Readonly<Record<ClientPurpose, PurposeRules>> = {
  records: {},
  bulk: { sendsMany: true, retriesUnreachable: true },
  checks: { hidesNotices: true, timeout: { timeoutMs: checkTimeoutMs }, retries: checkRetries },
};

/** The rules of a client, with the limits of its calls. */
interface ClientRules extends PurposeRules {
  readonly limits: CallLimits;
}

function rulesOf({ settings }: Context, purpose: ClientPurpose): ClientRules {
  const rules = purposes[purpose];
  const timeout = settings.explain('timeout');
  const retries = settings.explain('retries');
  const limits = {
    timeoutMs: timeout.value,
    retries: retries.value,
    retriesUnreachable: rules.retriesUnreachable || retries.source !== 'default',
    concurrency: settings.get('concurrency'),
    ...(timeout.source === 'default' && rules.timeout),
    ...(retries.source === 'default' && rules.retries),
  };
  return { ...rules, limits };
}

/** Makes the client of the service at the base URL, or of the embedded store. */
export async function connect(context: Context, purpose: ClientPurpose): Promise<Client> {
  const rules = rulesOf(context, purpose);
  const { settings, flags } = context;
  const contract = await context.contract();
  const baseUrl = addressOf(settings, contract);
  const token = settings.offline ? 'none' : 'of-origin';
  const headerFlags = flags.headers ?? [];
  const headers = await collectHeaders(context, { baseUrl, contract, headerFlags, token });
  const transport = settings.offline
    ? await openEmbeddedStore(context, rules)
    : await openTransport(context, baseUrl, await openTlsFiles(context, baseUrl), rules);
  return toClient(context, { baseUrl, contract, ...headers, transport }, rules);
}

async function openEmbeddedStore({ io }: Context, { sendsMany, limits }: ClientRules): Promise<Transport> {
  const { createOfflineTransport } = await import('./server/offline.ts');
  return createOfflineTransport(resolvePaths(io).offlineStore, {
    // The wait ends before the deadline, however short that is. The error of the wait names the holder of the lock.
    lockWaitMs: limits.timeoutMs * 0.9,
    isSavedByCaller: sendsMany === true,
  });
}

/**
 * Makes a client for documents at any origin. It sends the token only if `withToken` is set. The headers of `--header` and the
 * client certificate go only to the origin of the base URL; without a base URL the headers go to any origin.
 */
export async function connectToDocuments(
  context: Context,
  origin: string,
  { withToken }: { readonly withToken: boolean },
): Promise<Client> {
  const { baseUrl } = context.settings;
  const isServiceOrigin = baseUrl !== undefined && new URL(baseUrl).origin === origin;
  const headerFlags = isServiceOrigin || baseUrl === undefined ? (context.flags.headers ?? []) : [];
  // A contract that cannot be read must not keep the user from binding again.
  const contract = withToken ? await context.contract().catch(() => builtInContract) : builtInContract;
  const token = withToken ? 'any' : 'none';
  const headers = await collectHeaders(context, { baseUrl: origin, contract, headerFlags, token });
  const files = await openTlsFiles(context, origin);
  const tls = isServiceOrigin ? files : { ca: files.ca };
  const rules = rulesOf(context, 'records');
  const transport = await openTransport(context, origin, tls, rules);
  return toClient(context, { baseUrl: origin, contract, ...headers, transport }, rules);
}

/** Opens the service for checks. @throws UsageError if nothing says which service, or a setting is wrong. */
export async function connectForChecks(context: Context, strict = false): Promise<ServiceUnderTest> {
  const { settings, secrets, io, flags } = context;
  const client = await context.client('checks');
  const { baseUrl } = client;
  const proxy = findProxy(new URL(baseUrl), io.env);
  const whyNoSocket = isEmbeddedUrl(baseUrl)
    ? 'the embedded store has no socket'
    : proxy && `requests go through the proxy ${proxy.label}`;
  return {
    client,
    flags,
    tls: whyNoSocket ?? (await openTlsFiles(context, baseUrl)),
    mask: secrets.mask,
    strict,
    tokenHeader: chooseTokenHeader(settings, client.contract.tokenHeader),
  };
}

/** The headers of every request, and the source of their credential. */
type ClientHeaders = Pick<ServiceOptions, 'headers' | 'credentialSource' | 'whyNoCredential'>;

function toClient(
  context: Context,
  service: ClientHeaders & Pick<ServiceOptions, 'baseUrl' | 'contract' | 'transport'>,
  rules: ClientRules,
): Client {
  return createClient({
    ...service,
    limits: rules.limits,
    usesEtags: context.settings.get('etags'),
    signal: context.stop.abandoned,
    secrets: context.secrets,
    observe: createObserver(context, rules),
    notify: rules.hidesNotices ? () => {} : (...notice) => void context.notice(...notice),
  });
}

/**
 * Makes the observer of a client. It prints the trace of -v, and a notice with the first success of an operation that is deprecated or
 * may change.
 */
function createObserver(context: Context, { hidesNotices }: PurposeRules): ServiceOptions['observe'] {
  const { notice, io, flags, secrets } = context;
  const level = flags.verbose ?? 0;
  const showsNotes = !hidesNotices && isWatchedByPerson(context);
  const remarked = new Set<OperationId>();
  return (attempt, operation) => {
    if (level > 0) void io.stderr.write(traceOf(attempt, level, secrets)).catch(() => {});
    const { response } = attempt;
    if (!showsNotes || !operation || remarked.has(operation.id)) return;
    if (!response || response.status >= 300) return;
    remarked.add(operation.id);
    const lifecycle = lifecycleText(operation, response.headers);
    if (lifecycle) void notice('note', lifecycle);
  };
}

const commonHeaders = [
  { name: 'user-agent', value: `petstore/${version}`, givenBy: 'petstore' },
  { name: 'accept', value: 'application/json', givenBy: 'petstore' },
];

interface HeaderSources extends Pick<ServiceOptions, 'baseUrl' | 'contract'> {
  /** The values of `--header`. */
  readonly headerFlags: readonly string[];
  /** The token to send: none, the one that belongs to the origin, or any, because the user asked to send it there. */
  readonly token: 'none' | 'of-origin' | 'any';
}

/** Collects the headers of every request. A header of `--header` replaces the header of the token. */
async function collectHeaders(context: Context, sources: HeaderSources): Promise<ClientHeaders> {
  const { secrets, settings } = context;
  const { baseUrl, contract, headerFlags } = sources;
  const userHeaders = headerFlags.map(parseHeaderFlag);
  const tokenHeaderNames = [settings.get('auth-header'), contract.tokenHeader?.name ?? []].flat();
  for (const name of tokenHeaderNames) secrets.addHeader(name);
  if (!isEmbeddedUrl(baseUrl) && !settings.get('allow-insecure-http'))
    requireSecure(userHeaders, baseUrl, secrets);
  for (const header of userHeaders) addSecrets(secrets, header);
  const { tokenHeaders = [], ...credential } = await readCredential(context, sources);
  const credentialNames = ['authorization', ...tokenHeaderNames].map((name) => name.toLowerCase());
  const isAdded = userHeaders.some(({ name }) => credentialNames.includes(name.toLowerCase()));
  return {
    ...credential,
    ...(isAdded && { credentialSource: '--header' }),
    headers: toHeaders([...commonHeaders, ...tokenHeaders, ...userHeaders]),
  };
}

/** Reads the token, if it is sent, and makes its header. @throws UsageError `insecure` if it would go over plain http. */
async function readCredential(
  context: Context,
  { baseUrl, contract, token }: HeaderSources,
): Promise<Omit<ClientHeaders, 'headers'> & { readonly tokenHeaders?: readonly Header[] }> {
  const { secrets, notice, readToken, settings } = context;
  const destination = { baseUrl, header: contract.tokenHeader, isNamed: token === 'any' };
  const tokenUse = token === 'none' ? undefined : decideTokenUse(settings, destination);
  if (!tokenUse) return {};
  const { setting } = tokenUse;
  switch (tokenUse.kind) {
    case 'insecure':
      throw new UsageError(
        `${setting.label} is not sent: ${tokenUse.why}`,
        'use https, or set allow-insecure-http in the profile to send it anyway',
        'insecure',
      );
    case 'withheld': {
      const whyNoCredential = `${setting.label} is not sent to ${new URL(baseUrl).origin}: ${tokenUse.why}`;
      if (isWatchedByPerson(context)) await notice('note', whyNoCredential);
      return { whyNoCredential };
    }
    case 'sent': {
      const value = tokenHeaderValue(tokenUse, await readToken(setting), secrets);
      const header = { name: tokenUse.header.name, value, givenBy: 'the token' };
      return { credentialSource: setting.label, tokenHeaders: [header] };
    }
  }
}

/** Shorter values, as in `X-Debug: true`, are not masked, because they may be ordinary words in the output. */
const minSecretLength = 8;

/** Masks the value of a header of `--header`, and its part after a scheme such as Bearer. */
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
  { sendsMany, limits }: ClientRules,
): Promise<Transport> {
  const { io } = context;
  const options = { baseUrl, tls, connections: limits.concurrency };
  const proxy = findProxy(new URL(baseUrl), io.env);
  // A client of a few requests uses node:http, which loads fast.
  if (sendsMany || proxy)
    return (await import('./client/transport/undici.ts')).createUndiciTransport(options, proxy);
  return (await import('./client/transport/node-http.ts')).createNodeHttpTransport(options);
}

/**
 * Reads and checks the certificates and the key in the settings and, for https without ca-cert, the certificates of SSL_CERT_FILE and
 * NODE_EXTRA_CA_CERTS.
 */
async function openTlsFiles({ settings, io }: Context, url: string): Promise<TlsFiles> {
  const { SSL_CERT_FILE: path, NODE_EXTRA_CA_CERTS: extraPath } = io.env;
  const tlsFile = (key: 'ca-cert' | 'client-cert' | 'client-key') => {
    const { value, givenBy } = settings.explain(key);
    return value === undefined ? undefined : { path: value, givenBy };
  };
  const ca = tlsFile('ca-cert');
  const general = !ca && path && url.startsWith('https:') ? { path, givenBy: 'SSL_CERT_FILE' } : undefined;
  // Node adds these certificates only to its own.
  const extra = general && extraPath ? { path: extraPath, givenBy: 'NODE_EXTRA_CA_CERTS' } : undefined;
  const files = { ca: ca ?? general, extra, cert: tlsFile('client-cert'), key: tlsFile('client-key') };
  if (Object.values(files).every((file) => file === undefined)) return {};
  return (await import('./client/transport/tls.ts')).readTlsFiles(files);
}
