import { bind } from './bind.ts';
import { operations } from './operations.ts';
import { request } from './request.ts';
import { spec } from './spec.ts';
import { tryOperation } from './try.ts';
import { unbind } from './unbind.ts';

export const examples = [
  'petstore api operations',
  'petstore api bind https://shop.example/openapi.json --profile staging',
  'petstore api request GET /pets -f status=available',
  'petstore api try createPet --offline',
];

export const verbs = [operations, spec, bind, unbind, request, tryOperation];
