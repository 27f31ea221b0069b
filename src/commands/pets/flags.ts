import { type NewPet, type PetStatus, petStatuses } from '../../api/schemas.ts';
import { choice, value } from '../../cli/flag.ts';
import { type Given, given } from '../../records/noun.ts';
import { parseText } from '../arguments.ts';
import { resolveCategory } from './categories.ts';

export const nameFlag = value('--name <name>', 'its name', parseText('--name'));

export function categoryFlag(summary: string) {
  return value('--category <id or name>', summary, parseText('--category'), { offers: 'category' });
}

export function statusFlag(summary: string) {
  return choice('--status <status>', summary, petStatuses);
}

interface PetFlags {
  readonly name?: string | undefined;
  /** Id or name. */
  readonly category?: string | undefined;
  readonly status?: PetStatus | undefined;
}

export function givenPet({ name, category, status }: PetFlags): Given<NewPet> {
  const { names, values } = given<NewPet>({ name, status });
  if (category === undefined) return { names, values };
  return {
    names: [...names, 'categoryId'],
    values: async (client) => ({
      ...(await values(client)),
      categoryId: await resolveCategory(client, category),
    }),
  };
}
