import { isListId } from '../../api/contract.ts';
import { isJsonObject } from '../../json.ts';
import { statusText } from '../answer.ts';
import { fail, pass, type Verdict } from '../check.ts';
import type { Session } from '../session.ts';
import { type Kind, kinds } from './kinds.ts';
import type { Ledger, Made } from './ledger.ts';

const order = [kinds.order, kinds.inventory, kinds.pet, kinds.category];

/** Removes every record that the run has made, what refers to others first; says what could not be removed. */
export async function cleanUp(session: Session, ledger: Ledger): Promise<Verdict> {
  const unseen: string[] = [];
  for (const kind of [...order].reverse())
    if (ledger.suspected.has(kind.noun)) unseen.push(...(await findSuspected(session, ledger, kind)));
  const total = ledger.made.length;
  const left: string[] = [...unseen];
  for (const kind of order) {
    const own = ledger.made.filter(({ noun }) => noun === kind.noun);
    const problems = await Promise.all(own.map((made) => removeOne(session, ledger, made)));
    left.push(...problems.filter((problem) => problem !== undefined));
  }
  if (left.length > 0)
    return fail(`${left.length === 1 ? 'a record is' : `${left.length} records are`} left behind`, {
      expected: 'every record of this run removed',
      got: left.join('; '),
    });
  return pass(total === 0 ? 'nothing was left to remove' : `${total} removed`);
}

async function removeOne(session: Session, ledger: Ledger, made: Made): Promise<string | undefined> {
  const what = `${made.noun} ${made.id}`;
  try {
    const operation = session.contract.operations.get(made.remove);
    if (!operation) throw new Error(`the contract has no ${made.remove}`);
    const { status } = await session.send(session.toRequest(operation, { [made.idName]: made.id }));
    const isGone = status === 404 || status === 410 || (status >= 200 && status < 300);
    if (isGone) ledger.drop(made);
    return isGone ? undefined : `${what}: ${statusText(status)}`;
  } catch (error) {
    return `${what}: ${(error as Error).message}`;
  }
}

/** Looks in a list for records of this run that no answer told of. */
async function findSuspected(session: Session, ledger: Ledger, kind: Kind): Promise<string[]> {
  const { client, signal } = session;
  const { list } = kind;
  try {
    if (!isListId(list) || !client.contract.operations.has(list))
      throw new Error(`the contract has no ${list}`);
    const petIds = ledger.made.filter(({ noun }) => noun === 'pets').map(({ id }) => id);
    for await (const page of client.list(list, {}, { signal })) {
      for (const record of page as unknown[]) {
        if (!isJsonObject(record)) continue;
        const id = record[kind.idField];
        const isOwn = ledger.isOwnName(record.name) || petIds.includes(record.petId as bigint);
        const isKnown = ledger.made.some((made) => made.noun === kind.noun && made.id === id);
        if (isOwn && !isKnown && typeof id === 'bigint')
          ledger.add({ noun: kind.noun, id, remove: kind.remove, idName: kind.idName });
      }
    }
    return [];
  } catch (error) {
    return [`perhaps ${kind.noun} that no answer told of: ${(error as Error).message}`];
  }
}
