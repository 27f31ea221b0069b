import { NewOrder, type Order } from '../api/schemas.ts';
import { askParsed } from '../input/question.ts';
import type { View } from '../output/columns.ts';
import { type EditableNoun, toWrite } from './noun.ts';
import { fillPetNames, type PetNames } from './pet-names.ts';
import { parseIdOrName, parseQuantity, parseShipDate, parseTruth } from './values.ts';

export const orders: EditableNoun<Order> = {
  one: 'order',
  many: 'orders',
  list: 'listOrders',
  title: ({ petId, quantity }) => `${quantity ?? 'any number'} of pet ${petId ?? 'unknown'}`,
  view: ordersView(),
  fillView: (context, client, extent) =>
    fillPetNames(context, client, { extent, petId: (order) => order.petId, view: ordersView }),
  reading: ['getOrder'],
  read: (_, client, orderId, options) => client.call('getOrder', { orderId }, options),
  remove: (orderId) => toWrite('deleteOrder', { orderId }),
  create: (body) => toWrite('createOrder', { body: body as NewOrder }),
  replace: (orderId, body, options) => toWrite('updateOrder', { orderId, body: body as NewOrder }, options),
  schema: NewOrder,
  fields: [
    {
      name: 'petId',
      column: 'pet',
      flag: '--pet',
      parse: parseIdOrName,
      ask: (prompt) => askParsed(prompt, 'Id or name of the pet', (text) => parseIdOrName(text, 'pet')),
    },
    {
      name: 'quantity',
      flag: '--quantity',
      parse: parseQuantity,
      ask: (prompt) => askParsed(prompt, 'Quantity', (text) => parseQuantity(text)),
    },
    {
      name: 'shipDate',
      flag: '--ship-date',
      parse: (text, what) => parseShipDate(text, what),
      ask: (prompt) =>
        askParsed(prompt, 'Ship date (Enter for none)', (text) => parseShipDate(text, 'ship date')),
    },
    {
      name: 'complete',
      flag: '--complete',
      parse: parseTruth,
      ask: (prompt) => prompt.confirm('Is it complete?'),
    },
  ],
};

/** A view of orders; it has the pet's name if the user asked for it or the output is a terminal. */
function ordersView(pets?: PetNames): View<Order> {
  return {
    noun: 'orders',
    columns: [
      { name: 'id', value: (order) => order.id, align: 'right' },
      { name: 'pet', value: (order) => order.petId, align: 'right' },
      {
        name: 'name',
        value: ({ petId }) => (typeof petId === 'bigint' ? pets?.names.get(petId) : undefined),
        ...(pets?.isShown ? {} : { extra: true }),
      },
      { name: 'quantity', value: (order) => order.quantity, align: 'right' },
      { name: 'shipDate', value: (order) => order.shipDate },
      { name: 'complete', value: (order) => order.complete },
      { name: 'petId', value: (order) => order.petId, align: 'right', extra: true },
    ],
  };
}

/** Whether an order is open and its ship date has passed. */
export function isOverdue({ complete, shipDate }: Order, now: Date): boolean {
  return complete !== true && typeof shipDate === 'string' && Date.parse(shipDate) < now.getTime();
}
