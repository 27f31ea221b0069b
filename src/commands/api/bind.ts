import { argument, flag, values } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';

export const bind = verb({
  name: 'bind',
  summary: "Follow a service's own OpenAPI description",
  description:
    'Reads an OpenAPI 3.0 or 3.1 description, JSON or YAML, finds in it the operations that this program knows, and stores what it found with the active profile, or at the top level where no profile is active. From then on every command follows it: methods, paths, parameters, required fields, bounds and life cycle. What was bound, what was not, and why is shown.',
  examples: [
    'petstore api bind https://shop.example/openapi.json --profile staging',
    'petstore api bind openapi.yaml --dry-run',
    "petstore api bind openapi.yaml --map updateInventory='PATCH /stock/{petId}'",
  ],
  args: { location: argument('<file or URL>', 'the description; - reads it from stdin', { offers: 'file' }) },
  flags: {
    map: values(
      '--map <operation=METHOD path>',
      'say which operation of the description is meant; may be given again',
    ),
    dryRun: flag('--dry-run', 'show what would be bound and store nothing'),
  },
  async run(context, { location, map = [] }) {
    const { bindDescription } = await import('./bind-description.ts');
    await bindDescription(context, location, map);
  },
});
