import { builtInContract, type Contract } from '../api/contract.ts';
import { readActiveContract, storedProfile } from '../config/contract-file.ts';
import { resolvePaths } from '../config/paths.ts';
import type { Context } from '../context.ts';

/** The embedded store has the built-in contract; a service has that of its profile. */
export async function readContract(context: Context): Promise<Contract> {
  const settings = await context.settings();
  if (settings.offline) return builtInContract;
  const { configFile } = resolvePaths(context.io);
  return (await readActiveContract(configFile, storedProfile(settings)))?.contract ?? builtInContract;
}
