import type { Order } from '../../api/schemas.ts';
import type { View } from '../../output/columns.ts';

export const ordersView: View<Order> = {
  noun: 'orders',
  columns: [
    { name: 'id', value: (order) => order.id, align: 'right' },
    { name: 'pet', value: (order) => order.petId, align: 'right' },
    { name: 'quantity', value: (order) => order.quantity, align: 'right' },
    { name: 'shipDate', value: (order) => order.shipDate },
    { name: 'complete', value: (order) => order.complete },
    { name: 'petId', value: (order) => order.petId, align: 'right', extra: true },
  ],
};
