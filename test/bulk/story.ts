import { expect, test } from 'vitest';
import { type Counts, type StockServer, trouble } from '../helpers/stock-server.ts';
import { stockShop, type Workspace } from '../helpers/stock-shop.ts';

/** A service, and a person with files at work on it. */
export type Shop = StockServer & Workspace;

/**
 * What happens, in its order: a command with its exit code and the counts of its report, as in `3: applied 1, unknown 1`,
 * and texts of its failures, error, hint and notes; or something else that changes the shop.
 */
export type Scene =
  | readonly [line: string, report: string, ...texts: (RegExp | string)[]]
  | ((shop: Shop) => void | Promise<void>);

/** The facts of a report: `3: applied 1` is `{ code: 3, applied: 1 }`. */
function factsOf(report: string): Record<string, number | string> {
  const [code = '', counts = ''] = report.split(':');
  const facts = counts.split(',').map((fact) => fact.trim().split(' '));
  const entries = facts.filter(([name]) => name).map(([name, fact]) => [name, Number(fact)]);
  return { code: Number(code), ...Object.fromEntries(entries) };
}

/** A shop, and what happens there. */
type Story = readonly [
  shop: { readonly counts: Counts; readonly files?: Readonly<Record<string, string>> },
  ...scenes: Scene[],
];

async function play([{ counts, files }, ...scenes]: Story): Promise<void> {
  await using shop = await stockShop(counts, files);
  for (const scene of scenes) {
    if (typeof scene === 'function') {
      await scene(shop);
      continue;
    }
    const [line, expected, ...texts] = scene;
    const report = await shop.report(line);
    expect({ line, ...report }).toMatchObject({ line, ...factsOf(expected) });
    const { failures = [], error, stderr } = report;
    const words = [stderr, JSON.stringify(failures), error?.message, error?.hint].join(' ');
    for (const text of texts) expect(words).toMatch(text);
  }
}

/** Declares a test for each story, by its title. */
export function stories(all: Readonly<Record<string, Story>>): void {
  test.each(Object.entries(all))('%s', (_, story) => play(story));
}

/** The service has these counts now. */
export function counts(...expected: readonly number[]): Scene {
  return ({ stock }) => expect([...stock.values()]).toEqual(expected);
}

/** From now on the service answers writes of these pets like this. */
export function answering(statuses: Readonly<Record<string, number>>): Scene {
  return (shop) => trouble(shop, statuses, { headers: { 'retry-after': '0' } });
}

export function healed(shop: Shop): void {
  shop.misbehave = undefined;
}

/** Somebody sets counts. */
export function setting(counts: Readonly<Record<string, number>>): Scene {
  return ({ stock }) => {
    for (const [petId, count] of Object.entries(counts)) stock.set(petId, count);
  };
}

/** Somebody changes a file. */
export function file(name: string, text: string): Scene {
  return (shop) => shop.write(name, text);
}
