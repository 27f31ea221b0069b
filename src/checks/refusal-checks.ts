import type { Operation } from '../api/operations.ts';
import { statusWord } from '../client/answer-table.ts';
import { isJsonObject, printJson } from '../process/exact-json.ts';
import { counted } from '../process/text.ts';
import {
  type CheckAnswer,
  type CheckContext,
  type Finding,
  FindingError,
  pass,
  skip,
  statusText,
  warn,
} from './check.ts';
import { isStatus } from './condition.ts';
import { askList, detailsOf, faultOf, guessInput, idsOf, judge, reachOperation } from './judge-answer.ts';

/**
 * Asks for an id that no record has: one above those of the list. If that is too large for the service, or the id of a record
 * on a page that was not read, the largest int32 follows.
 */
export async function checkNotFound(context: CheckContext, operation: Operation): Promise<Finding> {
  const list = await askList(context, operation);
  const ids = list ? idsOf(list) : [];
  const largest = ids.reduce((most, id) => (id > most ? id : most), 0n);
  const answer = await context.ask(operation, { id: largest + 1000n }, { isUnchecked: true });
  const { status } = answer;
  const isOther = status === 400 || status === 422 || operation.success.includes(status);
  return judgeError(isOther ? await context.ask(operation, { id: 2n ** 31n - 1n }) : answer, '404');
}

export async function checkBadRequest(context: CheckContext, operation: Operation): Promise<Finding> {
  const answer = await context.ask(operation, { id: 'not-a-number' }, { isUnchecked: true });
  return judgeError(answer, '4xx');
}

/** Checks the status and the body of an error. A body of another shape is a warning if the service has its own description. */
function judgeError(answer: CheckAnswer, status: string): Finding {
  try {
    judge(answer, undefined, status);
    const named = isJsonObject(answer.json) ? (answer.json.status ?? answer.status) : answer.status;
    if (named === answer.status) return pass(statusText(answer.status), detailsOf(answer));
    const details = { pointer: '/status', expected: String(answer.status), got: printJson(named) };
    throw new FindingError(faultOf(answer, 'the body names another status than the answer has', details));
  } catch (error) {
    const isOfShape = error instanceof FindingError && isStatus(answer.status, status);
    if (!isOfShape || !answer.operation.responses) throw error;
    return { ...error.finding, state: 'warn' };
  }
}

/**
 * Checks that each secured GET refuses a request without the credential. If the service declares no security and a token was
 * given, an answer without the token is a warning.
 */
export async function checkAuth(context: CheckContext): Promise<Finding> {
  const { reads, client } = context;
  const secured = reads.filter(({ credential }) => credential === 'required');
  const isDeclared = secured.length > 0;
  if (!isDeclared && client.credentialSource === undefined)
    return skip('no security is declared, and no token given');
  const operations = isDeclared
    ? secured
    : [reachOperation(reads)].filter((operation) => operation !== undefined);
  const changes = { [context.tokenHeader.name.toLowerCase()]: undefined };
  const answers: CheckAnswer[] = [];
  for (const operation of operations) {
    const answer = await context.ask(operation, guessInput(operation), { isFinal: isAuthRefusal, changes });
    if (isDeclared ? !isAuthRefusal(answer.status) : answer.status < 400) answers.push(answer);
  }
  // A failure of a stable operation is the gravest.
  const gravest = answers.find(({ operation }) => operation.stability === 'stable') ?? answers[0];
  if (!gravest) return pass(`refused at ${counted(operations.length, 'operation', 'operations')}`);
  const ids = answers.map(({ operation }) => operation.id).join(', ');
  const reason = `answered ${statusText(gravest.status)} without a credential: ${ids}`;
  if (isDeclared) return faultOf(gravest, reason, { expected: '401 or 403' });
  return warn(`${reason}, and the description declares no security`, detailsOf(gravest));
}

function isAuthRefusal(status: number): boolean {
  return statusWord(status) === 'denied';
}
