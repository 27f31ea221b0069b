import type { Context } from '../../context.ts';
import { explainConfig } from './explain.ts';
import { getConfig } from './get.ts';
import { initConfig } from './init.ts';
import { listConfig } from './list.ts';
import { showPaths } from './path.ts';
import { setConfig } from './set.ts';
import { unsetConfig } from './unset.ts';

export function commands(context: Context): readonly object[] {
  return [
    initConfig(context),
    listConfig(context),
    getConfig(context),
    setConfig(context),
    unsetConfig(context),
    showPaths(context),
    explainConfig(context),
  ];
}
