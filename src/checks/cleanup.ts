import { monotonicMs, sleep } from '../process/deadline.ts';
import { messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonObject } from '../process/exact-json.ts';
import { counted } from '../process/text.ts';
import { type Check, fail, pass, skip, warn } from './check.ts';
import {
  type Creation,
  describeCreation,
  type Kind,
  kinds,
  type Stored,
  Traces,
  timeOf,
} from './creations.ts';
import { isOfOneOperation, jsonId, type Probe, type Reply, recordOf } from './probe.ts';
import { statusText } from './text.ts';

/** The answer to the GET of a record; undefined if the contract has no such operation. */
export async function readById(probe: Probe, { kind, id }: Stored): Promise<Reply | undefined> {
  const operation = probe.client.contract.operations.get(kind.get);
  return operation && probe.call(operation, { [kind.idName]: id });
}

/** Where to look for a record. `list` if its GET cannot tell, or does not find what the list has shown. */
type Source = 'get' | 'list';

/**
 * The current record with this id: from its GET, or from its list if the contract has no such GET, the service has
 * retired it, or it gives no answer. `gone` if it does not exist; undefined if it cannot be read.
 */
async function readRecord(
  probe: Probe,
  stored: Stored,
  source: Source,
): Promise<JsonObject | 'gone' | undefined> {
  const { kind, id } = stored;
  const { operations } = probe.client.contract;
  const hasList = operations.has(kind.list);
  if (source === 'get' || !hasList) {
    const reply = await readById(probe, stored).catch((error) => {
      if (!hasList || !isOfOneOperation(error)) throw error;
    });
    const operation = operations.get(kind.get);
    const record = operation && reply && recordOf(operation, reply);
    if (operation && reply && isJsonObject(reply.json)) {
      if (record && operation.success.includes(reply.status)) return record;
      // A 404 without an Error body may mean that the service no longer has the path.
      if (reply.status === 404) return 'gone';
    }
  }
  for await (const record of recordsIn(probe, kind)) if (jsonId(record[kind.idField]) === id) return record;
  return hasList ? 'gone' : undefined;
}

async function* recordsIn({ client, signal, options }: Probe, { list }: Kind): AsyncGenerator<JsonObject> {
  if (!client.contract.operations.has(list)) return;
  for await (const page of client.list(list, {}, { signal, retries: options.retries, whole: true }))
    for (const record of page as unknown[]) if (isJsonObject(record)) yield record;
}

/** Whether a record's name is one that only this run has used, or the record belongs to a pet with such a name. */
function isOwn({ traces }: Probe, kind: Kind, record: JsonObject): boolean {
  if (kind.isNamed) return traces.isOwnName(record.name);
  const petId = jsonId(record.petId);
  return petId !== undefined && traces.ownPets.has(petId);
}

/** Whether a record says whose it is. */
function tellsOwner({ isNamed }: Kind, { name, petId }: JsonObject): boolean {
  return isNamed ? typeof name === 'string' : jsonId(petId) !== undefined;
}

/** Reads a record to learn whether it certainly belongs to this run. */
export async function proveOwn(
  probe: Probe,
  stored: Stored,
  source: Source = 'get',
): Promise<'own' | 'gone' | 'foreign' | 'unknown'> {
  const { kind, id } = stored;
  const record = await readRecord(probe, stored, source);
  if (record === 'gone') return 'gone';
  if (!record || jsonId(record[kind.idField]) !== id || !tellsOwner(kind, record)) return 'unknown';
  if (!isOwn(probe, kind, record)) return 'foreign';
  if (kind.noun === 'pets') probe.traces.ownPets.add(id);
  return 'own';
}

/** Looks in a list for records of this run that are not known yet. @returns whether there were any. */
async function findOwn(probe: Probe, kind: Kind): Promise<boolean> {
  const { traces } = probe;
  const created = traces.creations.filter((each) => each.kind === kind);
  let isFound = false;
  for await (const record of recordsIn(probe, kind)) {
    const id = jsonId(record[kind.idField]);
    if (id === undefined || !isOwn(probe, kind, record)) continue;
    const known = created.find((each) => each.id === id);
    if (known) {
      known.isListed = true;
      continue;
    }
    const name = kind.isNamed ? String(record.name) : undefined;
    const open = created.find((each) => each.isOpen && each.id === undefined && each.name === name);
    Object.assign(open ?? traces.add({ kind, name }), { id, isListed: true });
    if (kind.noun === 'pets') traces.ownPets.add(id);
    isFound = true;
  }
  return isFound;
}

interface Removal {
  removed: number;
  /** Records that still exist, a clause each. */
  readonly left: string[];
  /** Records that may still exist, a clause each. */
  readonly perhaps: string[];
  /** Records of others that an answer attributed to this run. */
  readonly foreign: string[];
}

/** Removes every record that certainly belongs to this run; records that refer to others go first. */
async function removeAll(probe: Probe): Promise<Removal> {
  const removal: Removal = { removed: 0, left: [], perhaps: [], foreign: [] };
  for (const kind of kinds.toReversed()) {
    const created = probe.traces.creations.filter((each) => each.kind === kind && !each.isGone);
    await Promise.all(created.map((each) => removeOne(probe, each, removal)));
  }
  return removal;
}

/**
 * Tries twice: the second attempt removes records that a service which fails now and then has kept, and records that those
 * referred to.
 */
async function removeAllTwice(probe: Probe): Promise<Removal> {
  const first = await removeAll(probe);
  if (first.left.length + first.perhaps.length === 0) return first;
  const second = await removeAll(probe);
  return { ...second, removed: first.removed + second.removed };
}

async function removeOne(probe: Probe, creation: Creation, removal: Removal): Promise<void> {
  const { kind, id, isListed } = creation;
  if (id === undefined) return;
  const what = `${kind.noun} ${id}`;
  try {
    let source: Source = 'get';
    let proof = await proveOwn(probe, { kind, id });
    if (proof === 'unknown' || (proof === 'gone' && isListed)) {
      source = 'list';
      proof = await proveOwn(probe, { kind, id }, source);
    }
    if (proof === 'foreign') return void removal.foreign.push(what);
    if (proof === 'unknown') throw new Error('it cannot be read, so it is not certainly ours');
    if (proof === 'own') await sendDelete(probe, Object.assign(creation, { id }), source);
    creation.isGone = true;
    if (proof === 'own') removal.removed += 1;
  } catch (error) {
    const list = creation.mayBeGone ? removal.perhaps : removal.left;
    list.push(`${what}: ${messageOf(error)}`);
  }
}

/** @throws Error if the record still exists, or may still exist. */
async function sendDelete(probe: Probe, stored: Creation & Stored, source: Source): Promise<void> {
  const { kind, id } = stored;
  const operation = probe.client.contract.operations.get(kind.remove);
  if (!operation) throw new Error(`the contract has no ${kind.remove}`);
  stored.mayBeGone = true;
  let said: string;
  try {
    const { status } = await probe.call(operation, { [kind.idName]: id });
    said = statusText(status);
    const isGone = status === 404 || status === 410 || (status >= 200 && status < 300);
    if (!isGone) throw new Error(said);
  } catch (error) {
    // The service may have removed it, whatever it answered.
    const proof = await proveOwn(probe, stored, source).catch(() => 'unknown');
    if (proof === 'gone') return;
    stored.mayBeGone = proof !== 'own';
    throw error;
  }
  stored.mayBeGone = (await proveOwn(probe, stored, source)) !== 'own';
  if (!stored.mayBeGone) throw new Error(`${said}, and it is still there`);
}

/**
 * Removes every record that the run has created, including those that no answer confirmed, and reports those that it
 * could not remove.
 */
export const cleanupCheck: Check<Probe> = {
  id: 'write/cleanup',
  async run(probe) {
    const { traces, stop } = probe;
    if (traces.creations.length === 0) return skip('nothing was written');
    const removal = await stop.whileCleaning(() => cleanUp(probe));
    const { removed, foreign } = removal;
    const left = describeLeft(removal);
    const others = [...new Set(foreign)].sort().join(', ');
    const told = others && `; left alone, because not certainly ours: ${others}`;
    if (left)
      return fail(`${left.reason}${told}`, {
        expected: 'every record of this run removed',
        got: left.got,
        left: left.left,
        hint: 'delete what is named here, or run again later with --sweep 1h',
        made: traces.creations.map(describeCreation),
      });
    const done = removed === 0 ? 'nothing was left to remove' : `${removed} removed`;
    return others ? warn(`${done}${told}`) : pass(done);
  },
};

/** What a report says of the records that are left; undefined if there are none. */
function describeLeft({ left, perhaps }: Removal) {
  const [is, may] = [left.length, perhaps.length];
  if (is + may === 0) return undefined;
  const surely = is === 1 ? 'a record is left behind' : `${is} records are left behind`;
  const unsure = `${may === 1 ? 'a record' : `${may} records`} may be left behind`;
  const reason = is === 0 ? unsure : may === 0 ? surely : `${surely}, and ${may} more may be`;
  const all = [...left, ...perhaps.map((each) => `perhaps ${each}`)];
  return { reason, left: all, got: all.join('; ') };
}

async function cleanUp(probe: Probe): Promise<Removal> {
  const { traces, stop } = probe;
  const endMs = monotonicMs() + stop.lookMs;
  const open = new Set(traces.creations.filter(({ isOpen }) => isOpen).map(({ kind }) => kind));
  const unseen: string[] = [];
  for (const kind of open)
    await findOpen(probe, kind, endMs).catch((error) =>
      unseen.push(`${kind.noun} that no answer confirmed: ${messageOf(error)}`),
    );
  const removal = await removeAllTwice(probe);
  return { ...removal, perhaps: [...unseen, ...removal.perhaps] };
}

/** Looks in a list for records that no answer confirmed, which the service may still be creating. */
async function findOpen(probe: Probe, kind: Kind, endMs: number): Promise<void> {
  if (!probe.client.contract.operations.has(kind.list)) throw new Error(`the contract has no ${kind.list}`);
  while (!(await findOwn(probe, kind)) && monotonicMs() <= endMs) await sleep(150, probe.signal);
}

/** Removes records of earlier runs that are as old as `--sweep` asks, by the time in their names. */
export const sweepCheck: Check<Probe> = {
  id: 'write/sweep',
  async run(probe) {
    const before = probe.now().getTime() - (probe.options.sweepMs ?? Infinity);
    const traces = new Traces((name) => (timeOf(name) ?? Infinity) <= before);
    const sweeper: Probe = { ...probe, traces };
    for (const kind of kinds) await findOwn(sweeper, kind);
    const removal = await removeAllTwice(sweeper);
    const { removed, left, perhaps } = removal;
    const what = (count: number) => `${counted(count, 'record', 'records')} of earlier runs`;
    const found = describeLeft(removal);
    if (!found) return pass(removed === 0 ? 'nothing of earlier runs' : `${what(removed)} removed`);
    return fail(`${what(left.length + perhaps.length)} left`, {
      expected: 'every record of earlier runs removed',
      got: found.got,
    });
  },
};
