import { takesField } from '../api/contract.ts';
import type { InventoryItem } from '../api/schemas.ts';
import { confirmWrite } from '../asking.ts';
import type { Answer } from '../client/client.ts';
import { type Context, commandLine } from '../context.ts';
import { CliError, UsageError } from '../process/errors.ts';
import { type Access, type Noun, openAccess, readRecord } from './noun.ts';
import type { IdOrName } from './parse-values.ts';
import { readPet } from './pets.ts';
import type { Write } from './send-write.ts';
import { writeRecord } from './write.ts';

export const inventory: Noun<InventoryItem> = {
  one: 'the inventory entry of pet',
  many: 'inventory entries',
  operations: { list: 'listInventory', get: 'getInventory', delete: 'deleteInventory' },
  named: 'pets',
  title: ({ quantity }) => `${quantity} in stock`,
  columns: (pets) => [
    { name: 'petId', value: (entry) => entry.petId, align: 'right' },
    { name: 'name', value: (entry) => pets.get(entry.petId), extra: true },
    { name: 'quantity', value: (entry) => entry.quantity, align: 'right' },
    { name: 'status', value: (entry) => entry.status, status: true },
  ],
  lookup: { column: 'name', noun: 'pets', idOf: ({ petId }) => petId },
};

/** Sets a count to a number. */
export async function setCount(context: Context, pet: IdOrName, quantity: number): Promise<void> {
  const access = await openAccess(context, inventory, 'updateInventory');
  const petId = await access.names.idOf('pets', pet);
  await confirmWrite(context, { what: `set the stock of pet ${petId} to ${quantity}` });
  const shown = await readForPerson(access, petId);
  await writeCount(access, petId, quantity, { shown, before: context.flags.dryRun ? shown : undefined });
}

/**
 * The entry before the change, to print what changed on a terminal, or the whole request with --dry-run; undefined
 * elsewhere.
 */
async function readForPerson(
  { context, client, ...access }: Access<InventoryItem>,
  petId: bigint,
): Promise<Answer<InventoryItem> | undefined> {
  const { dryRun } = context.flags;
  const isShown = dryRun ? !access.operation.partial : context.io.stderr.isTerminal;
  if (!isShown || context.quiet || !client.contract.operations.has('getInventory')) return undefined;
  return readRecord({ context, client, ...access }, petId).catch(() => undefined);
}

/** Reads a count, adds to it and writes the sum. */
export async function adjustCount(context: Context, pet: IdOrName, change: bigint): Promise<void> {
  const access = await openAccess(context, inventory, 'updateInventory');
  const petId = await access.names.idOf('pets', pet);
  await confirmWrite(context, { what: `change the stock of pet ${petId} by ${change}` });
  const { exclusively } = access.client;
  const adjust = () => readAndAdd(access, petId, change);
  await (exclusively ? exclusively(adjust) : adjust());
}

async function readAndAdd(access: Access<InventoryItem>, petId: bigint, change: bigint): Promise<void> {
  const { context, client } = access;
  const before = await readRecord(access, petId);
  const old = before.value.quantity;
  const quantity = toQuantity(
    BigInt(old) + change,
    `adjust the stock of pet ${petId}: ${old} now, ${change < 0n ? change : `+${change}`}`,
  );
  if (before.etag === undefined && !client.exclusively) await context.warn(notAtomic);
  try {
    await writeCount(access, petId, quantity, { shown: before, before });
  } catch (error) {
    throw await settleAdjustment(access, error, { petId, old, quantity });
  }
}

const notAtomic =
  'note: adjust is not atomic because the service sends no ETag: a change by somebody else at this moment would be lost';

/** @throws UsageError if the sum is not a valid count. */
function toQuantity(sum: bigint, what: string): number {
  if (sum < 0n) throw new UsageError(`${what}: the count would go below 0`);
  if (sum > BigInt(Number.MAX_SAFE_INTEGER))
    throw new UsageError(`${what}: it would go above ${Number.MAX_SAFE_INTEGER}`);
  return Number(sum);
}

/**
 * Sets one count and prints the entry.
 *
 * @param entry `before` is the entry that alone may be changed; `shown` the one to print the change of.
 */
async function writeCount(
  access: Access<InventoryItem>,
  petId: bigint,
  quantity: number,
  { before, shown }: { readonly [Name in 'before' | 'shown']: Answer<InventoryItem> | undefined },
): Promise<void> {
  const write: Write = {
    operation: 'updateInventory',
    input: { petId, body: { quantity }, before: before?.value },
    options: { ifMatch: before?.etag },
    ...(shown && { change: { subject: `pet ${petId}`, before: shown.value, names: ['quantity'] } }),
  };
  await writeRecord(access, write);
}

/** Creates the entry of a pet. */
export async function createEntry(context: Context, pet: IdOrName, quantity: number): Promise<void> {
  const access = await openAccess(context, inventory, 'createInventory');
  const petId = await access.names.idOf('pets', pet);
  await confirmWrite(context, { what: `create the inventory entry of pet ${petId}` });
  const body = { petId, quantity, ...(await statusOf(access, petId)) };
  await writeRecord(access, { operation: 'createInventory', input: { body, values: { petId, quantity } } });
}

/** The status of a new entry, which is that of its pet; nothing if the service does not ask for it. */
async function statusOf({ context, client, operation }: Access<InventoryItem>, petId: bigint) {
  if (!takesField(operation, 'status')) return {};
  const { value } = await readPet(context, client, petId);
  return { status: value.status ?? 'available' };
}

/**
 * The error for an adjustment whose write failed. If the write may have been applied, it reads the count back and
 * advises against adjusting again, which could count twice.
 */
async function settleAdjustment(
  access: Access<InventoryItem>,
  error: unknown,
  adjustment: Adjustment,
): Promise<unknown> {
  if (!(error instanceof CliError) || error.details.applied !== 'unknown') return error;
  const { petId } = adjustment;
  const now = await readRecord(access, petId)
    .then(({ value }) => value.quantity)
    .catch(() => undefined);
  const found = describeCount(now, adjustment);
  const hint = `do not run it again before you have looked: ${commandLine(access.context, ['inventory', 'get', `${petId}`])}`;
  return new CliError(error.kind, `${error.message}; ${found}`, { ...error.details, retryable: false, hint });
}

interface Adjustment {
  readonly petId: bigint;
  /** The count before it. */
  readonly old: number | bigint;
  /** The count that was sent. */
  readonly quantity: number;
}

/**
 * What a count that was read back says of an adjustment.
 *
 * @param now undefined if it could not be read.
 */
function describeCount(now: number | bigint | undefined, { old, quantity }: Adjustment): string {
  if (now === undefined) return 'it may or may not have been applied, and the count could not be read back';
  if (now === quantity)
    return `read back, the count is ${now}, which is the result of this adjustment: it was probably applied`;
  if (now === old)
    return `read back, the count is still ${now}: it was not applied when it was read, but still may be`;
  return `read back, the count is ${now}, and ${quantity} was sent: it may or may not have been applied`;
}
