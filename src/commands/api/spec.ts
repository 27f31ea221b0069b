import { verb } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { printJson } from '../../json.ts';

export const spec = verb({
  name: 'spec',
  summary: 'Print the OpenAPI 3.0.3 document of the service',
  description:
    'Prints the OpenAPI 3.0.3 document of the built-in contract, as `petstore serve` answers it: JSON, or YAML with -o yaml.',
  examples: ['petstore api spec > openapi.json', 'petstore api spec -o yaml > openapi.yaml'],
  async run(context) {
    const { output } = context.flags;
    if (output !== undefined && output !== 'json' && output !== 'yaml')
      throw new UsageError(`--output ${output}: an OpenAPI document is json or yaml`);
    const settings = await context.settings();
    const { toOpenApi } = await import('../../api/openapi.ts');
    const document = toOpenApi({ serverUrl: settings.offline ? undefined : settings.get('base-url') });
    const isYaml = (output ?? settings.get('output')) === 'yaml';
    await context.io.stdout.write(isYaml ? await toYaml(document) : toJson(document, context));
  },
});

function toJson(document: unknown, { io }: Context): string {
  return `${printJson(document, io.stdout.isTerminal ? 2 : 0)}\n`;
}

async function toYaml(document: unknown): Promise<string> {
  const { loadYaml } = await import('../../yaml.ts');
  return (await loadYaml()).print(document);
}
