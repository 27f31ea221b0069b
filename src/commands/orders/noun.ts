import { NewOrder, type Order } from '../../api/schemas.ts';
import { askParsed } from '../../asking/ask-text.ts';
import { type EditableNoun, toWrite } from '../../records/noun.ts';
import { parseId, parseQuantity, parseShipDate } from '../arguments.ts';
import { ordersView } from './view.ts';

export const orders: EditableNoun<Order, NewOrder> = {
  one: 'order',
  many: 'orders',
  title: ({ petId, quantity }) => `${quantity ?? 'any number'} of pet ${petId ?? 'unknown'}`,
  view: ordersView,
  fillView: async () => ({ view: ordersView }),
  reading: ['getOrder'],
  read: (_, client, orderId) => client.call('getOrder', { orderId }),
  removal: 'deleteOrder',
  remove: (orderId) => toWrite('deleteOrder', { orderId }),
  creation: 'createOrder',
  create: (body) => toWrite('createOrder', { body }),
  replacement: 'updateOrder',
  replace: (orderId, body, options) => toWrite('updateOrder', { orderId, body }, options),
  schema: NewOrder,
  fields: [
    {
      name: 'petId',
      flag: '--pet',
      ask: (prompt) => askParsed(prompt, 'Id of the pet', (text) => ({ petId: parseId(text, 'pet') })),
    },
    {
      name: 'quantity',
      flag: '--quantity',
      ask: (prompt) => askParsed(prompt, 'Quantity', (text) => ({ quantity: parseQuantity(text) })),
    },
    {
      name: 'shipDate',
      flag: '--ship-date',
      ask: (prompt) =>
        askParsed(prompt, 'Ship date (Enter for none)', (text) => ({
          shipDate: parseShipDate(text, 'ship date'),
        })),
    },
    {
      name: 'complete',
      flag: '--complete',
      ask: async (prompt) => ({ complete: await prompt.confirm('Is it complete?') }),
    },
  ],
};
