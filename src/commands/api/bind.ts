import { argument, flag, values } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';

export const bind = verb({
  name: 'bind',
  summary: "Follow a service's own OpenAPI description",
  description: [
    'Reads an OpenAPI 3.0, 3.1 or Swagger 2.0 description, JSON or YAML, finds in it the operations that this program knows, and stores what it found with the active profile, or at the top level if no profile is active. From then on every command follows it. What was bound, what was not, and why is shown.',
    'The URL of a service leads to its description by a link or a well-known path; without an argument the base URL does. The exit code is 3 if several operations fit one of ours, which then stays unbound.',
  ].join('\n\n'),
  examples: [
    'petstore api bind',
    'petstore api bind https://shop.example --profile staging',
    'petstore api bind openapi.yaml --dry-run',
    "petstore api bind openapi.yaml --map updateInventory='PATCH /stock/{petId}'",
  ],
  args: {
    location: argument(
      '[file or URL]',
      'the description, or a service that has one (default: the base URL); - reads stdin',
      { offers: 'file' },
    ),
  },
  flags: {
    map: values(
      '--map <operation=METHOD path>',
      'say which operation of the description is meant; may be given again',
    ),
    withToken: flag(
      '--with-token',
      "send the profile's token to its own origins when looking for the description",
    ),
    dryRun: flag('--dry-run', 'show what would be bound and store nothing'),
  },
  async run(context, { location, map = [], withToken }) {
    const { bindDescription } = await import('./bind-description.ts');
    await bindDescription(context, location, map, withToken === true);
  },
});
