import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { requireOperation } from '../api/contract.ts';
import type { ListId } from '../api/operations.ts';
import { confirmDestruction } from '../asking.ts';
import { value } from '../cli/flag.ts';
import { type Group, verb } from '../cli/verb.ts';
import type { Client } from '../client/client.ts';
import { collectFields } from '../client/lists/read-list.ts';
import { resolvePaths } from '../config/file.ts';
import type { Context } from '../context.ts';
import { InputError, UsageError } from '../process/errors.ts';
import { writeFileAtomic } from '../process/files.ts';
import { countText } from '../process/text.ts';
import type { PulledRecords } from '../server/store-file.ts';

const pull = verb({
  name: 'pull',
  summary: 'Copy the service of the profile into the embedded store',
  description:
    'Copies all records of the service, with their ids, into the embedded store, so that an apply can be rehearsed on real data with --offline. It only reads from the service. It copies all records, or none.',
  examples: [
    'petstore offline pull --profile staging',
    'petstore offline pull --to shop.json',
    'petstore serve --data shop.json --error-rate 0.1',
  ],
  flags: {
    to: value('--to <file>', 'write a new file for `serve --data` instead', { offers: 'file' }),
  },
  async run(context, { to }) {
    const { settings, io } = context;
    if (settings.offline)
      throw new UsageError(
        'offline pull: the embedded store cannot be copied into itself',
        'name a service with --profile or --base-url',
      );
    const file = to === undefined ? storeFile(context, 'offline pull') : resolve(io.cwd, to);
    const what = `replace the embedded store by the records of ${settings.baseUrl}`;
    if (to === undefined) await confirmDestruction(context, what);
    else requireNew(file, to);
    const client = await context.client();
    const records = await pullRecords(client);
    const { printStore, toPulledStore } = await import('../server/store-file.ts');
    const store = toPulledStore(records, client.baseUrl);
    if (to === undefined)
      await (await import('../server/offline.ts')).replaceStore(file, store, settings.get('timeout'));
    else {
      // Another command may have made it meanwhile.
      requireNew(file, to);
      writeFileAtomic(file, printStore(store));
    }
    const count = Object.values(records).flat().length;
    const text = `pulled ${countText(count, 'record', 'records')} from ${client.baseUrl} into ${to ?? 'the embedded store'}`;
    return { kind: 'nothing', notices: [['status', text]] };
  },
});

const reset = verb({
  name: 'reset',
  summary: 'Reset the embedded store to its seed data',
  examples: ['petstore offline reset', 'petstore offline reset --yes'],
  async run(context) {
    const file = storeFile(context, 'offline reset');
    await confirmDestruction(context, 'reset the embedded store');
    const { replaceStore } = await import('../server/offline.ts');
    const { seedStore } = await import('../server/seed.ts');
    await replaceStore(file, seedStore(), context.settings.get('timeout'));
    return { kind: 'nothing', notices: [['status', 'the embedded store has been reset to its seed']] };
  },
});

/** @throws UsageError `file_exists`. @param name the file as the user named it. */
function requireNew(file: string, name: string): void {
  if (existsSync(file))
    throw new UsageError(`--to ${name}: the file exists`, 'name a new one', 'file_exists');
}

/** Reads all records. The lists that refer to pets come first, so that a pet that is created meanwhile is not missing. */
async function pullRecords(client: Client): Promise<PulledRecords> {
  for (const id of ['listInventory', 'listOrders', 'listPets', 'listCategories'] as const)
    requireOperation(client.contract, id);
  const read = (id: ListId) => collectFields<object>(client.list(id, {}, { needsWhole: true }));
  const inventory = await read('listInventory');
  const orders = await read('listOrders');
  const pets = await read('listPets');
  return { inventory, orders, pets, categories: await read('listCategories') };
}

function storeFile(context: Context, command: string): string {
  const { offlineStore } = resolvePaths(context.io);
  if (offlineStore !== ':memory:') return offlineStore;
  throw new InputError(`${command}: PETSTORE_OFFLINE_STORE is :memory:, which keeps nothing`);
}

export const offlineCommands: Group = {
  examples: ['petstore offline pull --profile staging', 'petstore offline reset'],
  verbs: [pull, reset],
};
