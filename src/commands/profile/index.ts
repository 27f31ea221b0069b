import { create } from './create.ts';
import { remove } from './delete.ts';
import { list } from './list.ts';
import { show } from './show.ts';
import { use } from './use.ts';

export const examples = [
  'petstore profile create staging --base-url https://staging.example.com/v1',
  'petstore profile use staging',
  'petstore profile list',
];

export const verbs = [list, create, use, show, remove];
