import { explain } from './explain.ts';
import { get } from './get.ts';
import { init } from './init.ts';
import { list } from './list.ts';
import { path } from './path.ts';
import { set } from './set.ts';
import { unset } from './unset.ts';

export const examples = [
  'petstore config init',
  'petstore config explain',
  'petstore config set output json',
];

export const verbs = [init, list, get, set, unset, path, explain];
