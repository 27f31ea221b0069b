import type { Contract, Operation } from '../../api/contract.ts';
import { excerpt, statusText } from '../answer.ts';
import { type Check, fail, pass, skip, type Verdict } from '../check.ts';
import { detailsOf } from '../exchange.ts';
import { idParameter, readsOf, type Session } from '../session.ts';

const wrongCredential = 'petstore-smoke-wrong-credential';

/** Whether a service that declares security asks for a credential, and for the right one. */
export function authChecks(contract: Contract): Check[] {
  const operation = subjectOf(contract);
  const declare = (name: string, credential: string | undefined): Check => ({
    group: 'auth',
    name,
    operation,
    run: (session) => check(session, operation, credential),
  });
  return [declare('missing', undefined), declare('wrong', `Bearer ${wrongCredential}`)];
}

function subjectOf(contract: Contract): Operation | undefined {
  const secured = readsOf(contract).filter(({ secured }) => secured);
  return secured.find((operation) => idParameter(operation) === undefined) ?? secured[0];
}

async function check(
  session: Session,
  operation: Operation | undefined,
  credential: string | undefined,
): Promise<Verdict> {
  if (!operation) return skip('the description declares no security');
  const name = idParameter(operation);
  const request = session.toRequest(operation, name === undefined ? {} : { [name]: 1n });
  const own = session.options.credentialField;
  const names = new Set([...session.contract.credentialFields, own]);
  const none = Object.fromEntries([...names].map((field) => [field, undefined]));
  const fields = { ...request.fields, ...none, ...(credential && { [own]: credential }) };
  const answer = await session.send({ ...request, fields });
  if (answer.status === 401 || answer.status === 403)
    return pass(statusText(answer.status), detailsOf(answer));
  return fail(`let in with ${credential ? 'a wrong' : 'no'} credential`, {
    ...detailsOf(answer),
    expected: '401 or 403',
    got: `${statusText(answer.status)}: ${excerpt(answer)}`,
  });
}
