import type { Context } from '../../context.ts';
import { verb } from '../command.ts';
import type { Entry } from '../entry.ts';

export function declare(context: Context, entry: Entry) {
  return verb(entry, {
    description:
      'Asks for each parameter of an operation with its type, default and choices, shows the request, and sends it; a write only when you say so. An operation that the service marks with x-hideTryItPanel is refused, as the mark asks.',
    write: true,
    examples: ['petstore api try listPets', 'petstore api try createPet --offline'],
  })
    .argument('<operationId>', 'operation; `petstore api operations` lists them')
    .action(async (name) => {
      const { tryOut } = await import('./try-out.ts');
      await tryOut(context, name);
    });
}
