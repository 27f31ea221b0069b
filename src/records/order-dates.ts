import type { Order } from '../api/schemas.ts';

/** Whether an order is open and overdue: the day of its ship date, in UTC, is over. */
export function isOverdue(order: Order, now: Date): boolean {
  return isDueBefore(order, new Date(now).setUTCHours(0, 0, 0, 0));
}

/** Whether an order is open and ships before a moment. @param momentMs in milliseconds of Unix time */
export function isDueBefore({ complete, shipDate }: Order, momentMs: number): boolean {
  return complete !== true && typeof shipDate === 'string' && Date.parse(shipDate) < momentMs;
}
