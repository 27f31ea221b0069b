import type { NewOrder } from '../../api/schemas.ts';
import { flag, value } from '../../cli/flag.ts';
import { type Given, given } from '../../records/noun.ts';
import { parseId, parseQuantity, parseShipDate } from '../arguments.ts';

export function petFlag(summary: string) {
  return value('--pet <id>', summary, (text) => parseId(text, '--pet'), { offers: 'pet' });
}

export const fieldFlags = {
  pet: petFlag('the pet that is ordered'),
  quantity: value('--quantity <n>', 'how many are ordered', (text) => parseQuantity(text, '--quantity')),
  shipDate: value(
    '--ship-date <date>',
    'when it ships: RFC 3339, or YYYY-MM-DD for its first moment in UTC',
    (text) => parseShipDate(text),
  ),
  complete: flag('--complete', 'the order is fulfilled'),
  noComplete: {
    ...flag('--no-complete', 'the order is not fulfilled yet'),
    stands: { key: 'complete', value: false },
  },
};

interface OrderFlags {
  readonly pet?: bigint | undefined;
  readonly quantity?: number | undefined;
  readonly shipDate?: string | undefined;
  readonly complete?: boolean | undefined;
}

export function givenOrder({ pet, quantity, shipDate, complete }: OrderFlags): Given<NewOrder> {
  return given<NewOrder>({ petId: pet, quantity, shipDate, complete });
}
