import type { Bounds } from '../api/schemas.ts';
import { isJsonObject, isNumber, type JsonObject, type JsonValue } from '../process/exact-json.ts';
import { type Description, listOf, objectOf, referenceOf, referentOf } from './description.ts';

/**
 * The value that a schema describes, with its references and its `allOf`. A `oneOf` or `anyOf` counts if it has one alternative
 * besides null. Members are read when they are needed, because a schema may contain itself.
 */
export class Shape {
  private readonly schema: JsonValue | undefined;
  private readonly root: Description;
  private memberSchemas: readonly JsonObject[] | undefined;
  private fieldShapes: ReadonlyMap<string, Shape> | undefined;
  private itemShape: Shape | undefined;

  constructor(schema: JsonValue | undefined, root: Description) {
    this.schema = schema;
    this.root = root;
  }

  /** The members of the schema, and then the schema itself. The last one that states a keyword counts. */
  get parts(): readonly JsonObject[] {
    this.memberSchemas ??= partsOf(this.schema, this.root);
    return this.memberSchemas;
  }

  /** `unknown` if the schema states no type, or several. */
  get kind(): Kind | 'unknown' {
    return this.parts.map(statedKind).findLast((kind) => kind !== undefined) ?? 'unknown';
  }

  /** True if null is one of the types. */
  get isNullable(): boolean {
    const schemas = this.parts.flatMap((part) => [part, ...listOf(part.oneOf), ...listOf(part.anyOf)]);
    return schemas.some((schema) => [objectOf(schema).type].flat().includes('null'));
  }

  /** The names that the references to the schema give it, the first one first. */
  get names(): readonly string[] {
    return namesOf(this.schema, this.root);
  }

  keyword(name: string): JsonValue | undefined {
    return this.parts.findLast((part) => part[name] !== undefined)?.[name];
  }

  get fields(): ReadonlyMap<string, Shape> {
    const schemas = () => this.parts.flatMap(({ properties }) => Object.entries(objectOf(properties)));
    this.fieldShapes ??= new Map(schemas().map(([name, field]) => [name, new Shape(field, this.root)]));
    return this.fieldShapes;
  }

  /** Returns the shape of a field. It is unknown if the schema does not describe the field. */
  field(name: string): Shape {
    return this.fields.get(name) ?? new Shape(undefined, this.root);
  }

  get required(): ReadonlySet<string> {
    const names = this.parts.flatMap(({ required }) => listOf(required));
    return new Set(names.filter((name) => typeof name === 'string'));
  }

  /** True if the object may have no other fields. */
  get isClosed(): boolean {
    return this.parts.some(({ additionalProperties }) => additionalProperties === false);
  }

  /** True if the schema says that the object may have other fields. */
  get takesOtherFields(): boolean {
    return !this.isClosed && this.keyword('additionalProperties') !== undefined;
  }

  get items(): Shape {
    this.itemShape ??= new Shape(this.keyword('items'), this.root);
    return this.itemShape;
  }

  /** The bounds that the schema states for a value. */
  get bounds(): Bounds {
    const [format, constant, value] = ['format', 'const', 'default'].map((name) => this.keyword(name));
    const choices = listOf(this.keyword('enum') ?? (constant === undefined ? undefined : [constant]));
    const texts = choices.filter((choice) => typeof choice !== 'object').map(String);
    const numberOf = (name: string) => {
      const value = this.keyword(name);
      return isNumber(value) ? value : undefined;
    };
    return {
      type: this.kind === 'unknown' ? undefined : this.kind,
      format: format === 'date' || format === 'date-time' ? format : undefined,
      enum: texts.length > 0 ? texts : undefined,
      default: typeof value === 'string' ? value : undefined,
      minimum: numberOf('minimum'),
      maximum: numberOf('maximum'),
      maxLength: numberOf('maxLength'),
    };
  }
}

/** Lists the schemas that a value must match, each once: the referenced and composed schemas, then the schema itself. */
function partsOf(
  schema: JsonValue | undefined,
  root: Description,
  visited = new Set<object>(),
): JsonObject[] {
  if (!isJsonObject(schema) || visited.has(schema)) return [];
  visited.add(schema);
  return [...membersOf(schema, root).flatMap((member) => partsOf(member, root, visited)), schema];
}

/** Lists the names in the references to a schema, and in the references to its only member. */
function namesOf(schema: JsonValue | undefined, root: Description, visited = new Set<string>()): string[] {
  const whole = objectOf(schema);
  const reference = referenceOf(whole);
  if (reference !== undefined && visited.has(reference)) return [];
  if (reference !== undefined) visited.add(reference);
  const [member, ...others] = membersOf(whole, root);
  const isOnlyMember = others.length === 0 && !isJsonObject(whole.properties);
  return [
    ...(reference === undefined ? [] : [reference.split('/').at(-1) ?? '']),
    ...(isOnlyMember && member !== undefined ? namesOf(member, root, visited) : []),
  ];
}

/** Lists the schemas that a value must match in addition to the schema itself. */
function membersOf(schema: JsonObject, root: Description): JsonValue[] {
  const reference = referenceOf(schema);
  const target = reference === undefined ? undefined : referentOf(reference, root);
  const choices = [schema.oneOf, schema.anyOf].map((alternatives) =>
    withoutTexts(listOf(alternatives).filter((alternative) => objectOf(alternative).type !== 'null')),
  );
  return [
    ...(target === undefined ? [] : [target]),
    ...listOf(schema.allOf),
    ...choices.filter((alternatives) => alternatives.length === 1).flat(),
  ];
}

/** How Elysia, zod and ASP.NET Core describe a text that stands for a number or a boolean. */
const formatsOfValues = /^(numeric|integer|number|boolean|u?int\d+|float|double|decimal)$/;
const patternOfDigits = /^\^(\\[d.]|[-+*?:|()[\]0-9eE])+\$$/;

/** Leaves out the texts that stand for a number or a boolean, if the number or the boolean is an alternative too. */
function withoutTexts(alternatives: readonly JsonValue[]): readonly JsonValue[] {
  const others = alternatives.filter((alternative) => {
    const { type, format, pattern } = objectOf(alternative);
    const isValue = formatsOfValues.test(String(format)) || patternOfDigits.test(String(pattern));
    return !(type === 'string' && isValue);
  });
  const isValue = others.every((other) => /^(integer|number|boolean)$/.test(String(objectOf(other).type)));
  return others.length > 0 && isValue ? others : alternatives;
}

/** Returns the type that a schema states, if the schema states a single type besides null and a text that stands for its value. */
function statedKind(schema: JsonObject): Kind | undefined {
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null');
  const [only, ...others] = withoutTexts(types.map((type) => ({ ...schema, type })));
  if (only !== undefined)
    return others.length === 0 ? kinds.find((kind) => kind === objectOf(only).type) : undefined;
  if (isJsonObject(schema.properties)) return 'object';
  if (schema.items !== undefined) return 'array';
  return undefined;
}

const kinds = ['object', 'array', 'string', 'integer', 'number', 'boolean'] as const;
type Kind = (typeof kinds)[number];
