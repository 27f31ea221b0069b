import { action } from '../../cli/verb.ts';
import { propertyColumns } from '../../output/columns.ts';
import { smokeFlags } from './smoke-flags.ts';

export const smoke = action({
  description:
    'Checks that a deployment is reachable and does what its description says; read-only unless --write is given. A call ' +
    'ends within --timeout (10s by default). Exits 0 if every check that ran has passed, 7 if one failed, 6 if the service ' +
    'cannot be reached, 4 if it refused the credential, 2 if no check ran. `petstore help checks` lists the checks.',
  examples: [
    'petstore smoke',
    'petstore smoke --wait 2m --report junit=out/smoke.xml --report github',
    'petstore smoke --write --confirm staging',
    "petstore smoke --wait-for 'header x-commit=4f2a9c1' --expect 'GET /healthz 200 /status=ok'",
    'petstore serve --port 0 -- petstore smoke --write',
  ],
  flags: smokeFlags,
  view: ({ flags: { dryRun } }) =>
    dryRun ? { plural: 'checks', columns: propertyColumns(['id', 'operation', 'stability']) } : undefined,
  run: async (context, flags) => (await import('./smoke-run.ts')).runSmokeCommand(context, flags),
});
