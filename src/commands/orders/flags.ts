import type { NewOrder } from '../../api/schemas.ts';
import { type Given, given } from '../../records/noun.ts';
import { parseId, parseQuantity, parseShipDate } from '../arguments.ts';
import { Option } from '../command.ts';

export function petFlag(meaning: string) {
  return new Option('--pet <id>', meaning).argParser((text: string) => parseId(text, '--pet'));
}

export function quantityFlag() {
  return new Option('--quantity <n>', 'how many are ordered').argParser((text: string) =>
    parseQuantity(text, '--quantity'),
  );
}

export function shipDateFlag() {
  return new Option(
    '--ship-date <date>',
    'when it ships: RFC 3339, or YYYY-MM-DD for its first moment in UTC',
  ).argParser((text: string) => parseShipDate(text));
}

interface OrderFlags {
  readonly pet?: bigint | undefined;
  readonly quantity?: number | undefined;
  readonly shipDate?: string | undefined;
  readonly complete?: boolean | undefined;
}

export function givenOrder({ pet, quantity, shipDate, complete }: OrderFlags): Given<NewOrder> {
  return given<NewOrder>({ petId: pet, quantity, shipDate, complete });
}
