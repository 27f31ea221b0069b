import { type Noun, type OperationId, operations } from '../api/operations.ts';
import { type Shape, shapeOf } from './schema.ts';

// How the nouns of the program are known in a document: by their words and their fields.

/** How the records of a noun are known. */
interface NounMarks {
  /** The fields that each of its records must have. */
  readonly key: readonly string[];
  /** Matches the words of a name that stands for it. */
  readonly words: RegExp;
  /** Whether a record has the fields that no other noun has. */
  isMarked(has: (field: string) => boolean): boolean;
}

export const nouns: Readonly<Record<Noun, NounMarks>> = {
  pets: {
    key: ['id', 'name'],
    words: /^pet$/,
    isMarked: (has) => has('name') && has('categoryId'),
  },
  categories: {
    key: ['id', 'name'],
    words: /^(pet )?category$/,
    isMarked: () => false,
  },
  orders: {
    key: [],
    words: /^((pet|store) )?order$/,
    isMarked: (has) => has('petId') && has('quantity') && (has('shipDate') || has('complete')),
  },
  inventory: {
    key: ['petId', 'quantity'],
    words: /^((pet|store) )?(inventory( item| entry)?|stock)( update)?$/,
    isMarked: (has) =>
      has('petId') && has('quantity') && has('status') && !has('shipDate') && !has('complete'),
  },
};

/** The field that holds the id of a noun's records. */
export function idFieldOf(id: OperationId): 'id' | 'petId' {
  return operations[id].noun === 'inventory' ? 'petId' : 'id';
}

/** Whether an answer is a record of a noun, not a message about one. */
export function isRecord(noun: Noun, { fields }: Shape): boolean {
  return nouns[noun].key.every((field) => fields.has(field));
}

/** Whether a schema has the category in a field `category` in place of `categoryId`: an object, a name or an id. */
export function hasCategory(shape: Shape): boolean {
  const { kind, fields } = shapeOf(shape.fields.get('category'));
  if (shape.fields.has('categoryId')) return false;
  return kind === 'string' || kind === 'integer' || fields.has('id') || fields.has('name');
}

/** Words in the name of a schema or an operation that do not change what it is about. */
const affixes =
  /^(new|create|created|add|update|updated|edit|patch|put|replace|save|set|get|find|show|fetch|register|insert|post|all|one|input|output|request|response|payload|dto|body|in|out|read|write|list|model|entity|data|schema|base|full|public|resource|api|controller|handler)$/;
const prepositions = /^(by|with|for|of|from|to|using|via)$/;

/** The noun in the name of a schema: pets of `Pet`, `Pets`, `NewPet`, `PetDto` and `create_pet_request`. */
export function nounOf(name: string): Noun | undefined {
  const words = wordsOf(name).filter((word) => !affixes.test(word));
  const rest = words.join(' ');
  return (Object.keys(nouns) as Noun[]).find((noun) => nouns[noun].words.test(rest));
}

/** The noun that an operationId is about: pets of `addPet` and `findPetsByStatus`, none of `addPetType`. */
export function subjectOf(operationId: string): Noun | undefined {
  const words = wordsOf(operationId);
  const end = words.findIndex((word) => prepositions.test(word));
  return nounOf(words.slice(0, end === -1 ? undefined : end).join(' '));
}

/** The words of a name in lower case, each in the singular. */
export function wordsOf(name: string): string[] {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.filter((word) => word !== '').map((word) => word.replace(/ies$/, 'y').replace(/(?<!s)s$/, ''));
}
