import type { Service } from '../../checks/check.ts';
import type { SocketAddress } from '../../client/transport/sockets.ts';
import { chooseTokenHeader } from '../../config/credential.ts';
import type { Settings } from '../../config/settings.ts';
import { openAddress } from '../../connect.ts';
import type { Context } from '../../context.ts';

/** The limits of a call, if no setting has others: checks shall say soon that something is wrong. */
const defaults = { timeoutMs: 10_000, retries: 1 };

/** Opens the service for the checks. @throws UsageError if nothing says which service, or a setting is wrong. */
export async function openService(context: Context, strict = false): Promise<Service> {
  const { settings, secrets, now } = context;
  const client = await context.client();
  const timeout = settings.explain('timeout');
  const timeoutMs = timeout.source === 'default' ? defaults.timeoutMs : timeout.value;
  const retries = settings.explain('retries');
  return {
    client,
    // There is an address, because there is a client.
    address: (await openAddress(context, timeoutMs)) as SocketAddress,
    mask: secrets.mask,
    now,
    strict,
    timeoutMs,
    sendsEtags: settings.get('etags'),
    retries: retries.source === 'default' ? defaults.retries : retries.value,
    tokenHeader: chooseTokenHeader(settings, client.contract.tokenHeader),
  };
}

/** Whether the service is reached by TLS. */
export function hasTls({ offline, service }: Settings): boolean {
  return !offline && service?.startsWith('https:') === true;
}
