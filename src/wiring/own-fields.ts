import { version } from '../../package.json';
import type { Contract } from '../api/contract.ts';
import type { HttpFields } from '../api/http.ts';
import type { CredentialParameter } from '../client/credential-parameter.ts';
import { type GivenField, parseHeaderFlag, refuseInsecure, toFields } from '../client/fields.ts';
import { type Credential, readCredential } from '../config/credentials.ts';
import type { Context } from '../context.ts';
import { secretsIn } from '../mask.ts';

/** Who asks, and for what. */
const commonFields = [
  { name: 'user-agent', value: `petstore/${version}`, source: 'petstore' },
  { name: 'accept', value: 'application/json', source: 'petstore' },
];

/** What of this program and its user stands in every request. */
export interface OwnFields {
  readonly fields: HttpFields;
  /** A credential that the service takes in the query. */
  readonly parameter?: CredentialParameter | undefined;
  /** Where the credential came from; undefined where there is none. */
  readonly credential?: string | undefined;
}

/** What every request to the service carries: who asks, the credential, and what the user adds or replaces. */
export async function ownFields(
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

/** The same for another address: no credential of the service, and what the user adds only where no service is set. */
export function foreignFields(
  { flags, secrets }: Context,
  { origin, baseUrl }: { readonly origin: string; readonly baseUrl: string | undefined },
): OwnFields {
  const added = baseUrl === undefined ? (flags.headers ?? []).map(parseHeaderFlag) : [];
  if (!flags.allowInsecureHttp) refuseInsecure(added, origin);
  const fields = toFields([...commonFields, ...added]);
  for (const secret of secretsIn(fields)) secrets.add(secret);
  return { fields };
}
