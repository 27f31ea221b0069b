import { nouns } from '../api/nouns.ts';
import { NewOrder, type Order } from '../api/schemas.ts';
import { askOptional, askParsed, type Choice } from '../input/question.ts';
import { UsageError } from '../process/errors.ts';
import type { Names } from './names.ts';
import type { EditableNoun } from './noun.ts';
import { parseDate, parseId, parseIdOrName, parseQuantity, parseTruth } from './parse-values.ts';

export const orders: EditableNoun<Order> = {
  ...nouns.orders,
  title: ({ petId, quantity }) => `${quantity ?? 'any number'} of pet ${petId ?? 'unknown'}`,
  columns: (pets) => [
    { name: 'id', value: (order) => order.id, align: 'right' },
    { name: 'pet', value: (order) => order.petId, align: 'right' },
    {
      name: 'name',
      value: ({ petId }) => (typeof petId === 'bigint' ? pets.get(petId) : undefined),
      extra: true,
    },
    { name: 'quantity', value: (order) => order.quantity, align: 'right' },
    { name: 'shipDate', value: (order) => order.shipDate, time: 'near' },
    { name: 'complete', value: (order) => order.complete },
    { name: 'petId', value: (order) => order.petId, align: 'right', extra: true },
  ],
  lookup: { column: 'name', noun: 'pets', idOf: ({ petId }) => petId },
  schema: NewOrder,
  fields: [
    {
      name: 'petId',
      column: 'pet',
      isWanted: true,
      parse: parseIdOrName,
      ask: async (prompt, names) =>
        names.isListed('pets')
          ? prompt.search('Pet', await petChoices(names))
          : askParsed(prompt, 'Id of the pet', (text) => parseId(text, 'pet')),
    },
    {
      name: 'quantity',
      isWanted: true,
      parse: parseQuantity,
      ask: (prompt) => askParsed(prompt, 'Quantity', (text) => parseQuantity(text)),
    },
    {
      name: 'shipDate',
      parse: (text, what) => parseDate(text, what),
      ask: (prompt) =>
        askOptional(prompt, 'Ship date (Enter for none)', (text) => parseDate(text, 'ship date')),
    },
    { name: 'complete', parse: parseTruth },
  ],
};

async function petChoices(names: Names): Promise<Choice<bigint>[]> {
  const pets = await names.list('pets');
  if (pets.length === 0) throw new UsageError('there are no pets', 'make one with `petstore pets create`');
  return pets.map(({ id, name, status }) => ({
    name: `${name} (${id})`,
    value: id,
    description: status ?? undefined,
  }));
}

/** Whether an order is open and the day of its ship date, in UTC, is over. */
export function isOverdue(order: Order, now: Date): boolean {
  return isDueBefore(order, new Date(now).setUTCHours(0, 0, 0, 0));
}

/** Whether an order is open and ships before a moment, in milliseconds of Unix time. */
export function isDueBefore({ complete, shipDate }: Order, momentMs: number): boolean {
  return complete !== true && typeof shipDate === 'string' && Date.parse(shipDate) < momentMs;
}
