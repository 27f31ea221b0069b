import { operationIds } from '../../api/operations.ts';
import { argument } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';

export const tryOperation = verb({
  name: 'try',
  summary: 'Try an operation: answer questions, look at the request, send it',
  description:
    'Asks for each parameter of an operation with its type, default and choices, shows the request, and sends it; a write only when you say so. An operation that the service marks with x-hideTryItPanel is refused, as the mark asks.',
  write: true,
  examples: ['petstore api try listPets', 'petstore api try createPet --offline'],
  args: {
    name: argument('<operationId>', 'operation; `petstore api operations` lists them', {
      offers: operationIds,
    }),
  },
  async run(context, { name }) {
    const { tryOut } = await import('./try-out.ts');
    await tryOut(context, name);
  },
});
