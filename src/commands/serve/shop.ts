import { stat } from 'node:fs/promises';
import type { Context } from '../../context.ts';
import { messageOf, UsageError } from '../../errors.ts';
import { writeFileAtomic } from '../../files.ts';
import { type Autosave, createAutosave } from '../../server/autosave.ts';
import type { Store } from '../../server/store.ts';
import type { ServePlan } from './flags.ts';
import { say } from './say.ts';

interface Shop {
  readonly store: Store;
  /** No file has it yet. */
  readonly isNew: boolean;
}

/**
 * The shop to serve: that of the file, or a new one.
 *
 * @throws UsageError where the file cannot be read or is no shop; one that is missing may be, where it will be saved.
 */
export async function openShop(plan: ServePlan): Promise<Shop> {
  if (plan.data === undefined) return { store: await makeShop(plan), isNew: true };
  const { readStore } = await import('../../server/store-file.ts');
  const store = readStore(plan.data);
  if (store) return { store, isNew: false };
  if (plan.save) return { store: await makeShop(plan), isNew: true };
  throw new UsageError(`--data ${plan.data}: no such file`, 'with --save a file that is missing is made');
}

async function makeShop({ shop, seed }: ServePlan): Promise<Store> {
  if (shop === 'seeded') return (await import('../../server/seed.ts')).seedStore();
  if (shop === 'empty') return new (await import('../../server/store.ts')).Store();
  return (await import('../../server/generate.ts')).generateStore(shop.pets, seed);
}

/** Keeps the shop saved in the file; a save that fails is told, and tried again. */
export function openAutosave(context: Context, store: Store, file: string): Autosave {
  const save = async () => {
    const { printStore } = await import('../../server/store-text.ts');
    await writeFileAtomic(file, printStore(store), await modeOf(file));
  };
  return createAutosave(save, (error) => say(context, `warning: ${messageOf(error)}`));
}

/** That of the file as it is, for it is the user's own; a new one gets what the umask leaves. */
async function modeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ mode }) => mode & 0o777,
    () => 0o666,
  );
}
