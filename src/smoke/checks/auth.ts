import type { Contract, CredentialPlace, Operation } from '../../api/contract.ts';
import type { RawRequest } from '../../client/client.ts';
import { excerpt, statusText } from '../answer.ts';
import { type Check, fail, pass, skip, type Verdict } from '../check.ts';
import { detailsOf } from '../exchange.ts';
import { idParameter, readsOf, type Session } from '../session.ts';

const wrongCredential = 'petstore-smoke-wrong-credential';

/** Whether a service that declares security asks for a credential, and for the right one. */
export function authChecks(contract: Contract): Check[] {
  const operation = subjectOf(contract);
  const declare = (name: 'missing' | 'wrong'): Check => ({
    group: 'auth',
    name,
    operation,
    run: (session) => check(session, operation, name),
  });
  return [declare('missing'), declare('wrong')];
}

function subjectOf(contract: Contract): Operation | undefined {
  const secured = readsOf(contract).filter(({ secured }) => secured);
  return secured.find((operation) => idParameter(operation) === undefined) ?? secured[0];
}

async function check(
  session: Session,
  operation: Operation | undefined,
  name: 'missing' | 'wrong',
): Promise<Verdict> {
  if (!operation) return skip('the description declares no security');
  const id = idParameter(operation)?.name;
  const request = session.toRequest(operation, id === undefined ? {} : { [id]: 1n });
  const { fields, query } = credentials(session, name);
  const answer = await session.send(
    { ...request, query, fields: { ...request.fields, ...fields } },
    { withoutParameter: true },
  );
  if (answer.status === 401 || answer.status === 403)
    return pass(statusText(answer.status), detailsOf(answer));
  return fail(`let in with ${name === 'wrong' ? 'a wrong' : 'no'} credential`, {
    ...detailsOf(answer),
    expected: '401 or 403',
    got: `${statusText(answer.status)}: ${excerpt(answer)}`,
  });
}

/** Every place that may carry a credential, left out or wrong. */
function credentials(
  { contract, options }: Session,
  name: 'missing' | 'wrong',
): Required<Pick<RawRequest, 'fields' | 'query'>> {
  const places = [...contract.credentialPlaces, options.credentialPlace];
  const given = places.map((place) => [fieldOf(place), wrongAt(place)] as const);
  const fields = given.filter(([field]) => field !== undefined);
  const parameters = places.filter((place) => place.in === 'query').map((place) => place.name);
  const isWrong = name === 'wrong';
  return {
    fields: Object.fromEntries(fields.map(([field, value]) => [field, isWrong ? value : undefined])),
    query: isWrong ? [...new Set(parameters)].map((parameter) => [parameter, wrongCredential]) : [],
  };
}

function fieldOf({ in: place, name }: CredentialPlace): string | undefined {
  if (place === 'query') return undefined;
  return place === 'cookie' ? 'cookie' : name.toLowerCase();
}

function wrongAt(place: CredentialPlace): string {
  if (place.in === 'cookie') return `${place.name}=${wrongCredential}`;
  return fieldOf(place) === 'authorization' ? `Bearer ${wrongCredential}` : wrongCredential;
}
