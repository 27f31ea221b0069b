import type { GenericSchema } from 'valibot';
import type { JsonValue } from '../../json.ts';
import { Category, InventoryItem, InventoryUpdate, NewCategory, NewPet, Order, Pet } from '../schemas.ts';
import type { SchemaNames } from './description.ts';
import { type SchemaShape, shapeOf } from './schema-shape.ts';

/** The objects of the service document, section 2, by name. */
const resources = { NewPet, Pet, NewCategory, Category, Order, InventoryItem, InventoryUpdate } as const;
type ResourceName = keyof typeof resources;

/** How well a schema of a document fits a resource of the service document. */
export type Fit =
  | { readonly by: 'name' | 'shape' }
  /** The document says nothing of it. */
  | { readonly by: 'nothing' }
  /** It is something else; a reason where it could be taken for the resource. */
  | { readonly by: 'no'; readonly reason?: string };

/** Fields that tell a resource from every other where the schema does not bear its name. */
interface Marks {
  readonly all: readonly string[];
  readonly any?: readonly string[];
  readonly none?: readonly string[];
  /** No other field. */
  readonly only?: true;
}

const marks: Readonly<Record<ResourceName, Marks>> = {
  NewPet: { all: ['name', 'categoryId'], none: ['id'] },
  Pet: { all: ['id', 'name', 'categoryId'] },
  NewCategory: { all: ['name', 'description'], none: ['id', 'categoryId'] },
  Category: { all: ['id', 'name', 'description'], none: ['categoryId'] },
  Order: { all: ['petId', 'quantity'], any: ['shipDate', 'complete'] },
  InventoryItem: { all: ['petId', 'quantity', 'status'], none: ['shipDate', 'complete'] },
  InventoryUpdate: { all: ['quantity'], only: true },
};

/** How well a schema fits one resource. */
export function fitResource(schema: JsonValue | undefined, name: ResourceName, names: SchemaNames): Fit {
  const shape = shapeOf(schema, names);
  if (shape.names.has(name)) return fitNamed(shape, name);
  if (Object.keys(resources).some((other) => shape.names.has(other))) return { by: 'no' };
  if (shape.kind === 'unknown') return { by: 'nothing' };
  if (shape.kind !== 'object' || wrongField(shape, name) !== undefined) return { by: 'no' };
  return { by: hasMarks(shape, marks[name]) ? 'shape' : 'no' };
}

/** How well a schema fits a list of one resource. */
export function fitList(schema: JsonValue | undefined, name: ResourceName, names: SchemaNames): Fit {
  const shape = shapeOf(schema, names);
  const isNamed = name === 'Pet' && shape.names.has('Pets');
  if (shape.kind === 'unknown') return { by: isNamed ? 'name' : 'nothing' };
  if (shape.kind === 'object') return refuseWrapped(shape, name, names);
  if (shape.kind !== 'array') return { by: 'no' };
  const items = fitResource(shape.items, name, names);
  return isNamed && items.by !== 'no' ? { by: 'name' } : items;
}

/** JSON types of a resource's fields, as the service document states them. */
export function fieldTypes(name: ResourceName): ReadonlyMap<string, string> {
  const entries: Record<string, GenericSchema> = resources[name].entries;
  return new Map(Object.entries(entries).map(([field, schema]) => [field, jsonType(schema)]));
}

function fitNamed(shape: SchemaShape, name: ResourceName): Fit {
  if (shape.kind === 'unknown') return { by: 'name' };
  if (shape.kind !== 'object') return { by: 'no', reason: `its ${name} is ${article(shape.kind)}` };
  const wrong = wrongField(shape, name);
  if (wrong !== undefined) return { by: 'no', reason: `its ${name} ${wrong}` };
  const lacking = requiredFields(name).filter((field) => !shape.fields.has(field));
  if (lacking.length > 0) return { by: 'no', reason: `its ${name} has no field ${lacking.join(', ')}` };
  return { by: 'name' };
}

/** What is wrong with the type of a field that the service document states. */
function wrongField(shape: SchemaShape, name: ResourceName): string | undefined {
  for (const [field, type] of fieldTypes(name)) {
    const { kind } = shapeOf(shape.fields.get(field), new WeakMap());
    const fits = kind === 'unknown' || kind === type || (type === 'integer' && kind === 'number');
    if (!fits) return `has the field ${field} as ${article(kind)}, not ${article(type)}`;
  }
  return undefined;
}

function refuseWrapped(shape: SchemaShape, name: ResourceName, names: SchemaNames): Fit {
  for (const [field, schema] of shape.fields) {
    if (shapeOf(schema, names).kind !== 'array') continue;
    const { by } = fitList(schema, name, names);
    if (by === 'name' || by === 'shape')
      return {
        by: 'no',
        reason: `it answers an object that holds the list in its field ${field}, not an array`,
      };
  }
  if (shape.names.has('Pets') && name === 'Pet')
    return { by: 'no', reason: 'its Pets is an object, not an array' };
  return { by: 'no' };
}

function hasMarks(shape: SchemaShape, { all, any, none, only }: Marks): boolean {
  const has = (field: string) => shape.fields.has(field);
  if (only && shape.fields.size !== all.length) return false;
  return all.every(has) && (any?.some(has) ?? true) && !none?.some(has);
}

function requiredFields(name: ResourceName): string[] {
  const entries: Record<string, GenericSchema> = resources[name].entries;
  return Object.keys(entries).filter(
    (field) => !['optional', 'nullish'].includes(entries[field]?.type ?? ''),
  );
}

function jsonType(schema: GenericSchema): string {
  const inner = 'wrapped' in schema ? (schema.wrapped as GenericSchema) : schema;
  if (inner.type === 'picklist' || inner.type === 'string') return 'string';
  return inner.type === 'boolean' ? 'boolean' : 'integer';
}

function article(word: string): string {
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
}
