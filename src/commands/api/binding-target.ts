import type { CredentialPlace } from '../../api/contract.ts';
import type { Description } from '../../binding/description.ts';
import { serversOf } from '../../binding/document.ts';
import { valueProblem } from '../../config/keys.ts';
import { type Settings, unsetLine } from '../../config/settings.ts';
import { credentialPlace, describePlace, isSamePlace } from '../../config/token.ts';
import { UsageError } from '../../process/errors.ts';

/** The address that a binding is for. */
interface BindingAddress {
  readonly origin: string;
  /** The path below which the operations lie, if the base URL has none: `/v1`; empty for none. */
  readonly basePath: string;
  /** A line that tells the user about the address. */
  readonly note: string | undefined;
}

/**
 * The base URL that is set, below the path of the description's first server of that origin; else the first server of the
 * description, else the origin that the description came from.
 *
 * @throws UsageError if there is none: a binding belongs to an address.
 */
export function addressOf(settings: Settings, description: Description): BindingAddress {
  const baseUrl = settings.get('base-url');
  const servers = serversOf(description, baseUrl).filter(
    (server) => valueProblem('base-url', server) === undefined,
  );
  if (baseUrl === undefined) {
    const { url } = description;
    const [first = /^https?:/.test(url) ? new URL(url).origin : undefined] = servers;
    if (first === undefined) throw noBaseUrl('api bind');
    const note = `note: no base URL is set: petstore config set base-url ${first}`;
    return { origin: new URL(first).origin, basePath: pathOf(first), note };
  }
  const { origin } = new URL(baseUrl);
  const server = servers.find((each) => new URL(each).origin === origin);
  const basePath = server !== undefined && pathOf(baseUrl) === '' ? pathOf(server) : '';
  if (basePath !== '') {
    const note = `its operations lie below ${origin}${basePath}, as the description says`;
    return { origin, basePath, note };
  }
  const isOther = servers.length > 0 && !servers.includes(baseUrl);
  const note = isOther
    ? `note: the description is that of ${servers.join(', ')}; commands go to ${baseUrl}`
    : undefined;
  return { origin, basePath, note };
}

export function noBaseUrl(command: string): UsageError {
  return new UsageError(
    `${command}: no base URL is set, and a binding belongs to an address`,
    'give --base-url <url>, or name a profile with --profile <name>',
  );
}

/** The path of a URL without a trailing slash; empty for none. */
function pathOf(url: string): string {
  return new URL(url).pathname.replace(/\/$/, '');
}

/**
 * A note about the place of the token in requests, because a service that expects it in another place refuses every
 * request. Undefined if the token is sent in the usual place.
 *
 * @param places those of the description.
 */
export function credentialNote(settings: Settings, places: readonly CredentialPlace[]): string | undefined {
  const [first] = places;
  if (first === undefined) return undefined;
  const place = credentialPlace(settings, places);
  if (places.some((each) => isSamePlace(each, place))) {
    const isUsual = isSamePlace(place, { in: 'header', name: 'authorization' }) && !place.scheme;
    return places.includes(place) && !isUsual
      ? `note: a token is sent in ${describePlace(place)}, as the description asks`
      : undefined;
  }
  const lines = (['auth-header', 'auth-scheme'] as const).flatMap((key) => {
    const { source } = settings.explain(key);
    const profile = source === 'profile' ? settings.profile?.value : undefined;
    return source === 'default' ? [] : [`\`${unsetLine(key, profile)}\``];
  });
  return `note: the service takes its credential in ${describePlace(first)}, and the config puts it in ${describePlace(place)}; to leave it to the description: ${lines.join(' and ')}`;
}
