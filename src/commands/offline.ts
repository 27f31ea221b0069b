import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { offeredOperation } from '../api/contract.ts';
import type { ListId } from '../api/operations.ts';
import { confirmDestruction } from '../asking.ts';
import { flag, value } from '../cli/flag.ts';
import { verb } from '../cli/verb.ts';
import type { Client } from '../client/client.ts';
import { resolvePaths } from '../config/paths.ts';
import type { Context } from '../context.ts';
import { withProgress } from '../output/progress.ts';
import { InputError, UsageError } from '../process/errors.ts';
import { writeFileAtomic } from '../process/files.ts';
import { withLock } from '../process/lock.ts';
import { counted } from '../process/text.ts';
import type { PulledRecords } from '../server/pulled-store.ts';
import type { Store } from '../server/store.ts';

/** Writes the pulled records to the embedded store or to a file. */
type StoreWriter = (store: Store) => Promise<void>;

const pull = verb({
  name: 'pull',
  summary: 'Copy the service of the profile into the embedded store',
  description:
    'Copies all records of the service, with their ids, into the embedded store, so that an apply can be rehearsed on real data with --offline. It only reads from the service. All records are copied or none. A store that has been changed is replaced only with --yes.',
  examples: [
    'petstore offline pull --profile staging',
    'petstore offline pull --to shop.json',
    'petstore serve --data shop.json --error-rate 0.1',
  ],
  flags: {
    to: value('--to <file>', 'write a file for `serve --data` instead', { offers: 'file' }),
    force: flag('--force', 'replace the file of --to if it exists'),
  },
  async run(context, { to, force }) {
    if (force && to === undefined)
      throw new UsageError('--force: there is no file to replace', 'name it with --to <file>');
    const { offline } = context.settings;
    if (offline)
      throw new UsageError(
        'offline pull: the embedded store cannot be copied into itself',
        'name a service with --profile or --base-url',
      );
    const client = await context.client();
    const write =
      to === undefined
        ? await prepareStore(context)
        : await prepareFile(resolve(context.io.cwd, to), to, force);
    const records = await readAll(context, client);
    const { toPulledStore } = await import('../server/pulled-store.ts');
    const { baseUrl } = client;
    const store = toPulledStore(records, baseUrl, context.now());
    await write(store);
    await context.print(`pulled ${summarize(records)} from ${baseUrl} into ${to ?? 'the embedded store'}`);
  },
});

const reset = verb({
  name: 'reset',
  summary: 'Start the embedded store again with its seed',
  examples: ['petstore offline reset', 'petstore offline reset --yes'],
  async run(context) {
    const { beginReplacement } = await import('../server/pulled-store.ts');
    const { seedStore } = await import('../server/seed.ts');
    const { replace } = beginReplacement(storeFile(context, 'offline reset'));
    await confirmDestruction(context, 'reset the embedded store');
    await replace(seedStore());
    await context.print('the embedded store has been reset to its seed');
  },
});

/** Prepares to replace the embedded store. If it has been changed, it asks before the first request. */
async function prepareStore(context: Context): Promise<StoreWriter> {
  const { beginReplacement } = await import('../server/pulled-store.ts');
  const { current, replace } = beginReplacement(storeFile(context, 'offline pull'));
  if (current?.isChanged)
    await confirmDestruction(context, 'replace the embedded store, which has been changed');
  return replace;
}

/** Prepares to write a file. @throws UsageError before the first request if the file cannot be written. */
async function prepareFile(file: string, name: string, force: boolean | undefined): Promise<StoreWriter> {
  await checkReplaceable(file, name, force);
  return async (store) => {
    const { printStore } = await import('../server/store-file.ts');
    const write = async () => {
      await checkReplaceable(file, name, force);
      await writeFileAtomic(file, printStore(store));
    };
    await withLock(file, write, { waitMs: 0 });
  };
}

async function checkReplaceable(file: string, name: string, force: boolean | undefined): Promise<void> {
  const stats = await stat(file).catch(() => undefined);
  if (!stats) return;
  if (!stats.isFile()) throw new UsageError(`--to ${name}: is not a regular file`);
  if (!force)
    throw new UsageError(
      `--to ${name}: the file exists`,
      'replace it with --force, or name another',
      'file_exists',
    );
}

/** Reads all records. Lists that refer to pets come first: a pet that is created meanwhile is then read too. */
async function readAll(context: Context, client: Client): Promise<PulledRecords> {
  for (const id of ['listInventory', 'listOrders', 'listPets', 'listCategories'] as const)
    offeredOperation(client.contract, id);
  let done = 0;
  const read = async (id: ListId): Promise<object[]> => {
    const records: object[] = [];
    for await (const page of client.list(id, {}, { whole: true })) {
      for (const record of page) records.push(record);
      done += page.length;
    }
    return records;
  };
  const options = { label: 'pulling', unit: 'records', read: () => ({ done }) };
  return withProgress(context, options, async () => {
    const inventory = await read('listInventory');
    const orders = await read('listOrders');
    const pets = await read('listPets');
    return { inventory, orders, pets, categories: await read('listCategories') };
  });
}

function summarize({ categories, pets, orders, inventory }: PulledRecords): string {
  const parts = [
    counted(pets.length, 'pet', 'pets'),
    counted(categories.length, 'category', 'categories'),
    counted(orders.length, 'order', 'orders'),
  ];
  return `${parts.join(', ')} and ${counted(inventory.length, 'inventory entry', 'inventory entries')}`;
}

function storeFile(context: Context, command: string): string {
  const { offlineStore } = resolvePaths(context.io);
  if (offlineStore !== ':memory:') return offlineStore;
  throw new InputError(`${command}: PETSTORE_OFFLINE_STORE is :memory:, which keeps nothing`);
}

export const examples = ['petstore offline pull --profile staging', 'petstore offline reset'];

export const verbs = [pull, reset];
