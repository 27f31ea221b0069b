import { type NewPet, type PetStatus, petStatuses } from '../../api/schemas.ts';
import { type Given, given } from '../../records/noun.ts';
import { parseText } from '../arguments.ts';
import { Option } from '../command.ts';
import { resolveCategory } from './categories.ts';

export function nameFlag() {
  return new Option('--name <name>', 'its name').argParser(parseText('--name'));
}

export function categoryFlag(meaning: string) {
  return new Option('--category <id or name>', meaning).argParser(parseText('--category'));
}

export function statusFlag(meaning: string) {
  return new Option('--status <status>', meaning).choices(petStatuses);
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
