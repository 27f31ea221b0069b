import type { ListId, Result } from '../../api/operations.ts';
import type { Category, Order } from '../../api/schemas.ts';
import type { LookUpKind } from '../../cli/flag.ts';
import type { Offer, Typed } from '../../cli/verb.ts';
import { wholeList } from '../../client/whole-list.ts';
import { readConfigFile } from '../../config/file.ts';
import { isSettingKey, keyRules } from '../../config/keys.ts';
import { resolvePaths } from '../../config/paths.ts';
import { offlineProfile } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { isIdText } from '../../records/values.ts';

/** Looks up the possible values of one kind. */
export async function lookUp(kind: LookUpKind, context: Context, typed: Typed): Promise<readonly Offer[]> {
  switch (kind) {
    case 'profile':
      return profileNames(context);
    case 'ownProfile':
      return ownProfileNames(context);
    case 'settingValue':
      return settingValues(context, typed);
    case 'category':
      return categoryOffers(await first(context, 'listCategories'));
    case 'pet':
      return (await first(context, 'listPets')).map(({ id, name }) => ({ word: `${id}`, summary: name }));
    case 'order':
      // Completing an order twice makes no sense, so complete orders are not offered.
      return (await first(context, 'listOrders')).filter(({ complete }) => !complete).map(orderOffer);
    case 'run':
      return runs(context);
    case 'field':
      return fields(typed);
    case 'check':
      return checkNames();
  }
}

function profileNames(context: Context): Offer[] {
  return [...ownProfileNames(context), { word: offlineProfile }];
}

/** Without the built-in profile, which cannot be deleted. */
function ownProfileNames({ io }: Context): Offer[] {
  return Object.keys(readConfigFile(io).profiles).map((word) => ({ word }));
}

/** The values of the key before the cursor: `config set output <Tab>`. */
function settingValues(context: Context, { operands: [key = ''] }: Typed): readonly Offer[] {
  if (key === 'profile') return profileNames(context);
  const choices = isSettingKey(key) ? keyRules[key].choices : undefined;
  return (choices ?? []).map((word) => ({ word }));
}

/** The first page of a list, or of each that a service must be asked for: more would not fit a screen. */
async function first<K extends ListId>(context: Context, operation: K): Promise<readonly Result<K>[]> {
  const records: Result<K>[] = [];
  for (const pages of wholeList(await context.client(), operation, {}))
    for await (const page of pages) {
      for (const record of page) records.push(record);
      break;
    }
  return records;
}

/** Each category by its name; by its id if several have the name, or if it would be read as an id or a flag. */
function categoryOffers(categories: readonly Category[]): Offer[] {
  const lowerNames = categories.map(({ name }) => name.toLowerCase());
  const shared = new Set(lowerNames.filter((name, at) => lowerNames.indexOf(name) !== at));
  return categories.map(({ id, name }) =>
    shared.has(name.toLowerCase()) || isIdText(name) || name.startsWith('-')
      ? { word: `${id}`, summary: name }
      : { word: name },
  );
}

function orderOffer({ id, petId, quantity }: Order): Offer {
  return { word: `${id}`, summary: `${quantity ?? '?'} of pet ${petId ?? '?'}` };
}

async function runs({ io }: Context): Promise<Offer[]> {
  const { RunStore } = await import('../../bulk/runs.ts');
  return (await new RunStore(resolvePaths(io).stateDir).ids()).map((word) => ({ word }));
}

async function fields({ group }: Typed): Promise<readonly Offer[]> {
  return ((await group.columns?.()) ?? []).map((word) => ({ word }));
}

/** The groups of checks, and the checks of one operation each. */
async function checkNames(): Promise<Offer[]> {
  const { operationIds, operations } = await import('../../api/operations.ts');
  const { groups } = await import('../../checks/options.ts');
  const reads = operationIds.filter((id) => operations[id].method === 'GET').map((id) => `op/${id}`);
  return [...groups, ...reads].map((word) => ({ word }));
}
