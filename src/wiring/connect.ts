import { builtInContract, type Contract, type Operation } from '../api/contract.ts';
import { embeddedOrigin, type HttpResponse, type Transport } from '../api/http.ts';
import { describeLifecycle } from '../api/lifecycle.ts';
import type { OperationId } from '../api/operations.ts';
import type { Attempt, Client } from '../client/client.ts';
import { createClient } from '../client/create-client.ts';
import { readConfigFile } from '../config/config-file.ts';
import { resolvePaths } from '../config/paths.ts';
import type { Context, Load } from '../context.ts';
import { UsageError } from '../errors.ts';
import { createWaiting, type Waiting, withWaiting } from '../output/waiting.ts';
import { openOffline, openTransport } from './open-transport.ts';
import { foreignFields, type OwnFields, ownFields } from './own-fields.ts';

/** The client that the settings call for: a service at a base URL, or the server in this process. */
export async function connect(context: Context, load: Load): Promise<Client> {
  const settings = await context.settings();
  const baseUrl = settings.offline ? embeddedOrigin : settings.get('base-url');
  if (!baseUrl) throw noTarget(context);
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

async function openTrace({ io, flags }: Context): Promise<OnAttempt | undefined> {
  const level = flags.verbose ?? 0;
  if (level === 0) return undefined;
  const { traceOf } = await import('../output/trace.ts');
  return (attempt) => void io.stderr.write(traceOf(attempt, level)).catch(() => {});
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

function noTarget({ io }: Context): UsageError {
  const names = Object.keys(readConfigFile(resolvePaths(io).configFile).profiles);
  const choice =
    names.length > 0 ? `choose a profile with --profile <name> (${names.slice(0, 20).join(', ')}), ` : '';
  return new UsageError(
    'no service to call: no base URL is set',
    `give --base-url <url>, ${choice}make a profile with \`petstore profile create <name> --base-url <url>\`, or use --offline for the embedded store`,
  );
}
