import type { Contract, Operation } from '../../api/contract.ts';
import { fieldValue } from '../../api/http.ts';
import { UnavailableError } from '../../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.ts';
import { type Check, fail, isRed, pass, skip, type Verdict } from '../check.ts';
import { detailsOf, type Exchange, jsonOf } from '../exchange.ts';
import type { Session } from '../session.ts';
import { type Fixtures, type Kind, kinds } from '../write/kinds.ts';
import type { Ledger, Made } from '../write/ledger.ts';
import { bodyOf, compare, expectGone, operationOf, readBack, remove, StepFailure } from '../write/steps.ts';

/** A full life of each kind of record: create, read back, update, read back, delete, gone. */
export function writeChecks(contract: Contract, ledger: Ledger): Check[] {
  let run: Run | undefined;
  return Object.values(kinds).map((kind) => ({
    group: 'write',
    name: kind.name,
    operation: contract.operations.get(kind.create),
    run(session) {
      run ??= createRun(session, ledger);
      return check(run, kind);
    },
  }));
}

interface Run {
  readonly session: Session;
  readonly ledger: Ledger;
  readonly fixtures: Fixtures;
}

/** What a check stands on could not be made. */
class FixtureFailure extends Error {
  readonly kind: Kind;

  constructor(kind: Kind, reason: string) {
    super(reason);
    this.kind = kind;
  }
}

function createRun(session: Session, ledger: Ledger): Run {
  const made = new Map<Kind, Promise<bigint>>();
  const make = (kind: Kind) => async () => {
    const id = made.get(kind) ?? makeFixture(run, kind);
    made.set(kind, id);
    return id;
  };
  const run: Run = {
    session,
    ledger,
    fixtures: { categoryId: make(kinds.category), petId: make(kinds.pet) },
  };
  return run;
}

async function makeFixture(run: Run, kind: Kind): Promise<bigint> {
  const { body } = await kind.draft(newName(run, kind), run.fixtures);
  try {
    return (await create(run, kind, body)).id;
  } catch (error) {
    const isExpected = error instanceof StepFailure || error instanceof UnavailableError;
    throw isExpected ? new FixtureFailure(kind, error.message) : error;
  }
}

function newName({ session, ledger }: Run, kind: Kind): string {
  return ledger.newName(operationOf(session, kind.create)?.body?.bounds.name?.maxLength);
}

async function check(run: Run, kind: Kind): Promise<Verdict> {
  const { contract, results } = run.session;
  const lacking = [kind.create, kind.remove].find((id) => !contract.operations.has(id));
  if (lacking) return skip(`${lacking}: ${contract.missing.get(lacking) ?? 'the contract lacks it'}`);
  try {
    return await live(run, kind);
  } catch (error) {
    if (error instanceof StepFailure) return error.verdict;
    if (!(error instanceof FixtureFailure)) throw error;
    const before = results.get(`write/${error.kind.name}`);
    if (before && isRed(before)) return skip(`${before.id} says what is wrong`);
    return { outcome: 'error', reason: `no ${error.kind.name} to work with: ${error.message}` };
  }
}

async function live(run: Run, kind: Kind): Promise<Verdict> {
  const { session, ledger, fixtures } = run;
  const { body, change } = await kind.draft(newName(run, kind), fixtures);
  if (body[kind.idName] !== undefined) await makeRoom(run, kind, body);
  const made = await create(run, kind, body);
  const etag = await readBack(session, kind, { id: made.id, sent: body });
  const updated = await update(run, kind, { made, body, change, etag });
  await remove(session, demand(session, kind.remove), { [kind.idName]: made.id });
  await expectGone(session, kind, made.id);
  ledger.drop(made);
  return pass(updated ? 'created, read, updated, read, deleted, gone' : 'created, read, deleted, gone');
}

/** A service may make the inventory entry of a pet together with the pet. */
async function makeRoom({ session }: Run, kind: Kind, body: JsonObject): Promise<void> {
  const get = operationOf(session, kind.get);
  if (!get) return;
  const input = { [kind.idName]: toId(body[kind.idName]) };
  const answer = await session.send(session.toRequest(get, input));
  if (get.success.includes(answer.status)) await remove(session, demand(session, kind.remove), input);
}

async function create({ session, ledger }: Run, kind: Kind, body: JsonObject): Promise<Made> {
  const step = { step: 'create', operation: demand(session, kind.create) };
  const request = session.toRequest(step.operation, { body });
  const answer = await session.send(request).catch((error) => {
    if (!(error instanceof UnavailableError) || error.sent) ledger.suspect(kind.noun);
    throw error;
  });
  const isRefused = answer.status >= 400 && answer.status < 500;
  const id = isRefused ? undefined : idOf(kind, answer);
  // An attempt that was answered by a gateway may have made a record all the same.
  if (answer.retried || (id === undefined && !isRefused)) ledger.suspect(kind.noun);
  if (id === undefined) {
    bodyOf(step, answer);
    const details = { ...detailsOf(answer), operation: step.operation, expected: 'its id' };
    throw new StepFailure('create', fail('the answer does not say what was made', details));
  }
  const made = { noun: kind.noun, id, remove: kind.remove, idName: kind.idName };
  ledger.add(made);
  compare(step, body, answer);
  return made;
}

/** The id of a new record: from its body, else from the end of its Location. */
function idOf({ idField }: Kind, answer: Exchange): bigint | undefined {
  const body = jsonOf(answer);
  const digits = /(?<!\d)(\d+)\/?$/.exec(fieldValue(answer.fields, 'location') ?? '')?.[1];
  return (isJsonObject(body) ? toId(body[idField]) : undefined) ?? (digits ? BigInt(digits) : undefined);
}

interface Change {
  readonly made: Made;
  readonly body: JsonObject;
  readonly change: JsonObject;
  readonly etag: string | undefined;
}

/** @returns false where the contract has no update. */
async function update({ session }: Run, kind: Kind, { made, body, change, etag }: Change): Promise<boolean> {
  const operation = operationOf(session, kind.update);
  if (!operation) return false;
  const changed = { ...body, ...change };
  const sent = operation.method === 'PATCH' ? change : kind.replacement(changed);
  const request = session.toRequest(operation, { [kind.idName]: made.id, body: sent });
  const fields = { ...request.fields, ...(etag && { 'if-match': etag }) };
  compare({ step: 'update', operation }, changed, await session.send({ ...request, fields }));
  await readBack(session, kind, { id: made.id, sent: changed });
  return true;
}

function demand(session: Session, id: Kind['create']): Operation {
  const operation = operationOf(session, id);
  if (!operation) throw new Error(`the contract lacks ${id}`);
  return operation;
}

function toId(value: JsonValue | undefined): bigint | undefined {
  return typeof value === 'bigint' || Number.isInteger(value) ? BigInt(value as number) : undefined;
}
