import type { Service } from '../../checks/check.ts';
import { chooseTokenHeader } from '../../config/credential.ts';
import type { Settings } from '../../config/settings.ts';
import { socketOptions } from '../../connect.ts';
import { type Context, retryLimitsOf, timeoutOf } from '../../context.ts';

/** Opens the service for the checks. @throws UsageError if nothing says which service, or a setting is wrong. */
export async function openService(context: Context, strict = false): Promise<Service> {
  const { settings, secrets, now } = context;
  const client = await context.client('checks');
  return {
    client,
    socket: await socketOptions(context, client.baseUrl),
    mask: secrets.mask,
    now,
    strict,
    timeoutMs: timeoutOf(settings, 'checks'),
    sendsEtags: settings.get('etags'),
    retries: retryLimitsOf(settings, 'checks').retries,
    tokenHeader: chooseTokenHeader(settings, client.contract.tokenHeader),
  };
}

/** Returns true if the service is reached by TLS. */
export function hasTls({ baseUrl }: Settings): boolean {
  return baseUrl?.startsWith('https:') === true;
}
