import type { Contract, Operation } from '../../api/contract.ts';
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
  const answer = await session.send({
    ...request,
    fields: { ...request.fields, ...credentials(session, name) },
  });
  if (answer.status === 401 || answer.status === 403)
    return pass(statusText(answer.status), detailsOf(answer));
  return fail(`let in with ${name === 'wrong' ? 'a wrong' : 'no'} credential`, {
    ...detailsOf(answer),
    expected: '401 or 403',
    got: `${statusText(answer.status)}: ${excerpt(answer)}`,
  });
}

/** Every field that may carry a credential, left out or wrong. */
function credentials(
  { contract, options }: Session,
  name: 'missing' | 'wrong',
): Record<string, string | undefined> {
  const names = new Set([...contract.credentialFields, options.credentialField]);
  const wrong = (field: string) =>
    field === 'authorization' ? `Bearer ${wrongCredential}` : wrongCredential;
  return Object.fromEntries([...names].map((field) => [field, name === 'wrong' ? wrong(field) : undefined]));
}
