import { isEmbedded } from '../../api/http.ts';
import type { Service } from '../../checks/check.ts';
import { findProxy } from '../../client/transport/proxy.ts';
import { chooseTokenHeader } from '../../config/credential.ts';
import { openTlsFiles } from '../../connect.ts';
import type { Context } from '../../context.ts';

/** Opens the service for checks. @throws UsageError if nothing says which service, or a setting is wrong. */
export async function connectForChecks(context: Context, strict = false): Promise<Service> {
  const { settings, secrets, io } = context;
  const client = await context.client('checks');
  const { baseUrl } = client;
  const proxy = findProxy(new URL(baseUrl), io.env);
  const whyNoSocket = isEmbedded(baseUrl)
    ? 'the embedded store has no socket'
    : proxy && `requests go through the proxy ${proxy.label}`;
  return {
    client,
    socket: whyNoSocket ?? { baseUrl, tls: await openTlsFiles(context, baseUrl), env: io.env },
    mask: secrets.mask,
    strict,
    sendsEtags: settings.get('etags'),
    tokenHeader: chooseTokenHeader(settings, client.contract.tokenHeader),
  };
}
