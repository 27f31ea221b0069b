import { randomBytes } from 'node:crypto';
import { isListId } from '../api/contract.ts';
import type { Noun, OperationId } from '../api/operations.ts';
import { monotonicMs } from '../clock.ts';
import { sleep } from '../deadline.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { counted } from '../text.ts';
import { fail, pass, type Verdict, warn } from './check.ts';
import { jsonOf, type Probe, toId } from './probe.ts';
import { statusText } from './text.ts';

/** One kind of record that `--write` creates, changes and removes. */
export interface Kind {
  /** The name of its check. */
  readonly name: 'category' | 'pet' | 'inventory' | 'order';
  readonly noun: Noun;
  readonly list: OperationId;
  readonly create: OperationId;
  readonly get: OperationId;
  readonly update: OperationId;
  readonly remove: OperationId;
  /** The name of the id in a path. */
  readonly idName: string;
  /** The field of a record with the id. */
  readonly idField: string;
}

/** In the order of their dependencies. */
export const kinds = {
  category: kindOf('category', 'categories', ['Category', 'Categories'], 'categoryId'),
  pet: kindOf('pet', 'pets', ['Pet', 'Pets'], 'petId'),
  inventory: kindOf('inventory', 'inventory', ['Inventory', 'Inventory'], 'petId'),
  order: kindOf('order', 'orders', ['Order', 'Orders'], 'orderId'),
} as const;

function kindOf(
  name: Kind['name'],
  noun: Noun,
  [one, many]: readonly [
    'Category' | 'Pet' | 'Inventory' | 'Order',
    'Categories' | 'Pets' | 'Inventory' | 'Orders',
  ],
  idName: string,
): Kind {
  return {
    name,
    noun,
    list: `list${many}`,
    create: `create${one}`,
    get: `get${one}`,
    update: `update${one}`,
    remove: `delete${one}`,
    idName,
    idField: noun === 'inventory' ? 'petId' : 'id',
  };
}

const inOrder: readonly Kind[] = Object.values(kinds);

/** A record that, by an answer or a list, belongs to this run. */
export interface Made {
  readonly kind: Kind;
  readonly id: bigint;
}

/** A create that was sent; a report names it if its check fails. */
export interface Creation {
  readonly kind: Kind;
  /** Set for a category or a pet. */
  readonly name: string | undefined;
  id?: bigint | undefined;
}

/** The records that a run has created, so that it can remove exactly those. */
export interface Traces {
  /** Records not yet known to be gone. */
  readonly made: Set<Made>;
  readonly creations: Creation[];
  /** Kinds of which a request may have created a record although no answer confirmed it. */
  readonly suspected: Set<Kind>;
  /** Pets whose name was read and is from this run; their orders and inventory belong to the run too. */
  readonly ownPets: Set<bigint>;
  isOwnName(name: unknown): boolean;
}

export function createTraces(isOwnName?: (name: unknown) => boolean): Traces {
  const creations: Creation[] = [];
  return {
    made: new Set(),
    creations,
    suspected: new Set(),
    ownPets: new Set(),
    isOwnName:
      isOwnName ?? ((name) => creations.some((each) => each.name !== undefined && each.name === name)),
  };
}

const prefix = 'petstore-smoke-';
/** A shorter name has too few random characters. */
export const shortestName = 20;

/** A unique name: its end is random, and its uuid contains the time. @see RFC 9562, 5.7 */
export function newName(now: Date, maxLength = Infinity): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now.getTime(), 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const uuid = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return `${prefix}${uuid}`.slice(-Math.min(maxLength, prefix.length + uuid.length));
}

/** The creation time in a name of a smoke run; undefined for any other name. */
function timeOf(name: unknown): number | undefined {
  const uuid = /^petstore-smoke-([\da-f]{8})-([\da-f]{4})-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
  const [, high, low] = uuid.exec(String(name)) ?? [];
  return high === undefined ? undefined : Number.parseInt(`${high}${low}`, 16);
}

/** The record in a report: `pet petstore-smoke-… (id 12)`. */
export function describeCreation({ kind, name, id }: Creation): string {
  const known = id === undefined ? 'id unknown' : `id ${id}`;
  return name === undefined ? `${kind.name} (${known})` : `${kind.name} ${name} (${known})`;
}

/**
 * The current record with this id: from its GET, or from its list if the contract has no such GET or the service has
 * retired it. `gone` if it does not exist; undefined if it cannot be read.
 */
async function readRecord(probe: Probe, { kind, id }: Made): Promise<JsonObject | 'gone' | undefined> {
  const operation = probe.client.contract.operations.get(kind.get);
  if (operation) {
    const reply = await probe.send(probe.toRequest(operation, { [kind.idName]: id }));
    const body = operation.success.includes(reply.status) ? jsonOf(reply) : undefined;
    if (isJsonObject(body)) return body;
    // A 404 without an Error body may mean that the service no longer has the path.
    if (reply.status === 404 && isJsonObject(jsonOf(reply))) return 'gone';
  }
  for await (const record of recordsIn(probe, kind)) if (toId(record[kind.idField]) === id) return record;
  return probe.client.contract.operations.has(kind.list) ? 'gone' : undefined;
}

async function* recordsIn({ client, signal }: Probe, { list }: Kind): AsyncGenerator<JsonObject> {
  if (!isListId(list) || !client.contract.operations.has(list)) return;
  for await (const page of client.list(list, {}, { signal }))
    for (const record of page as unknown[]) if (isJsonObject(record)) yield record;
}

function isOwn({ isOwnName, ownPets }: Traces, { kind, id }: Made, record: JsonObject): boolean {
  if (toId(record[kind.idField]) !== id) return false;
  if (kind.noun === 'pets' || kind.noun === 'categories') return isOwnName(record.name);
  const petId = toId(record.petId);
  return petId !== undefined && ownPets.has(petId);
}

/**
 * Whether a record certainly belongs to this run: its name is one that only this run has used, or it belongs to such a
 * pet.
 */
export async function proveOwn(
  probe: Probe,
  traces: Traces,
  made: Made,
): Promise<'own' | 'gone' | 'foreign' | 'unknown'> {
  const record = await readRecord(probe, made);
  if (record === 'gone') return 'gone';
  if (!record) return 'unknown';
  if (!isOwn(traces, made, record)) return 'foreign';
  if (made.kind.noun === 'pets') traces.ownPets.add(made.id);
  return 'own';
}

interface Removal {
  removed: number;
  /** Records that still exist, a clause each. */
  readonly left: string[];
  /** Records of others that an answer attributed to this run. */
  readonly foreign: string[];
}

/** Removes every record that certainly belongs to this run; records that refer to others go first. */
async function removeAll(probe: Probe, traces: Traces): Promise<Removal> {
  const removal: Removal = { removed: 0, left: [], foreign: [] };
  // Pets first: they prove the ownership of their orders and inventory.
  const pets = [...traces.made].filter(({ kind, id }) => kind === kinds.pet && !traces.ownPets.has(id));
  await Promise.all(pets.map((made) => proveOwn(probe, traces, made).catch(() => 'unknown')));
  for (const kind of [...inOrder].reverse()) {
    const own = [...traces.made].filter((made) => made.kind === kind);
    await Promise.all(own.map((made) => removeOne(probe, traces, { made, removal })));
  }
  return removal;
}

async function removeOne(
  probe: Probe,
  traces: Traces,
  { made, removal }: { readonly made: Made; readonly removal: Removal },
): Promise<void> {
  const { kind, id } = made;
  const what = `${kind.noun} ${id}`;
  try {
    const proof = await proveOwn(probe, traces, made);
    if (proof === 'foreign') return void removal.foreign.push(what);
    if (proof === 'unknown')
      return void removal.left.push(`${what}: it cannot be read, so it is not certainly ours`);
    const problem = proof === 'gone' ? undefined : await sendDelete(probe, made);
    if (problem !== undefined) return void removal.left.push(`${what}: ${problem}`);
    traces.made.delete(made);
    if (proof === 'own') removal.removed += 1;
  } catch (error) {
    removal.left.push(`${what}: ${(error as Error).message}`);
  }
}

/** @returns the reason why the record still exists; undefined if it is gone. */
async function sendDelete(probe: Probe, { kind, id }: Made): Promise<string | undefined> {
  const operation = probe.client.contract.operations.get(kind.remove);
  if (!operation) return `the contract has no ${kind.remove}`;
  const { status } = await probe.send(probe.toRequest(operation, { [kind.idName]: id }));
  const isGone = status === 404 || status === 410 || (status >= 200 && status < 300);
  return isGone ? undefined : statusText(status);
}

/**
 * Removes every record that the run has created, including those that no answer confirmed, and reports those that it
 * could not remove.
 *
 * @param lookMs how long to look for a record that an unanswered request may still create.
 */
export async function cleanUp(probe: Probe, traces: Traces, lookMs: number): Promise<Verdict> {
  const unseen: string[] = [];
  const endMs = monotonicMs() + lookMs;
  for (const kind of inOrder)
    if (traces.suspected.has(kind)) unseen.push(...(await findSuspected(probe, traces, { kind, endMs })));
  const { removed, left, foreign } = await removeAll(probe, traces);
  const all = [...unseen, ...left];
  const done = removed === 0 ? 'nothing was left to remove' : `${removed} removed`;
  const told =
    foreign.length === 0 ? '' : `; left alone, because not certainly ours: ${foreign.sort().join(', ')}`;
  if (all.length > 0)
    return fail(`${all.length === 1 ? 'a record is' : `${all.length} records are`} left behind${told}`, {
      expected: 'every record of this run removed',
      got: all.join('; '),
      hint: 'delete what is named here, or run again later with --sweep 1h',
      made: traces.creations.map(describeCreation),
    });
  return foreign.length > 0 ? warn(`${done}${told}`) : pass(done);
}

/** Looks in a list for records of this run that no answer confirmed. */
async function findSuspected(
  probe: Probe,
  traces: Traces,
  { kind, endMs }: { readonly kind: Kind; readonly endMs: number },
): Promise<string[]> {
  const perhaps = `perhaps ${kind.noun} that no answer confirmed`;
  if (!probe.client.contract.operations.has(kind.list))
    return [`${perhaps}: the contract has no ${kind.list}`];
  try {
    for (;;) {
      const before = traces.made.size;
      await findOwn(probe, traces, kind);
      if (traces.made.size > before || monotonicMs() > endMs) return [];
      await sleep(150, probe.signal);
    }
  } catch (error) {
    return [`${perhaps}: ${(error as Error).message}`];
  }
}

/** Adds the records of a list that belong to this run to the traces. */
async function findOwn(probe: Probe, traces: Traces, kind: Kind): Promise<void> {
  const known = new Set([...traces.made].filter((made) => made.kind === kind).map(({ id }) => id));
  for await (const record of recordsIn(probe, kind)) {
    const id = toId(record[kind.idField]);
    if (id === undefined || known.has(id) || !isOwn(traces, { kind, id }, record)) continue;
    traces.made.add({ kind, id });
    if (kind.noun === 'pets') traces.ownPets.add(id);
  }
}

/** Removes records of earlier runs that are at least `ageMs` old, by the time in their names. */
export async function sweep(probe: Probe, ageMs: number): Promise<Verdict> {
  const before = probe.now().getTime() - ageMs;
  const traces = createTraces((name) => (timeOf(name) ?? Infinity) <= before);
  for (const kind of inOrder) await findOwn(probe, traces, kind);
  const { removed, left } = await removeAll(probe, traces);
  if (left.length === 0)
    return pass(
      removed === 0
        ? 'nothing of earlier runs'
        : `${counted(removed, 'record', 'records')} of earlier runs removed`,
    );
  return fail(`${counted(left.length, 'record', 'records')} of earlier runs left`, {
    expected: 'every record of earlier runs removed',
    got: left.join('; '),
  });
}
