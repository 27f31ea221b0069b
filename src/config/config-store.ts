import { basename, dirname } from 'node:path';
import Conf from 'conf';
import { messageOf } from '../process/errors.ts';
import { isJsonObject, type JsonObject, parseJson } from '../process/exact-json.ts';

/**
 * Opens a config file with conf: `store` reads the whole file each time, and an assignment to it replaces the file. conf
 * makes the folder if it is missing. The caller checks who may write the file, and holds its lock while it writes.
 *
 * @throws the error of the system; Error with a clause as its message if the text is not a JSON object. So does `store`.
 */
export function openStore(path: string): { store: JsonObject } {
  return new Conf<JsonObject>({
    cwd: dirname(path),
    configName: basename(path),
    fileExtension: '',
    configFileMode: 0o600,
    // The name of a profile may have a dot.
    accessPropertiesByDotNotation: false,
    deserialize: parseContent,
    serialize: (content) => `${JSON.stringify(content, undefined, 2)}\n`,
  });
}

/** Parses the text of a config file; an empty text is an empty config. */
function parseContent(text: string): JsonObject {
  if (text.trim() === '') return {};
  try {
    const content = parseJson(text);
    if (isJsonObject(content)) return content;
  } catch (error) {
    throw new Error(`it is not valid JSON: ${messageOf(error)}`);
  }
  throw new Error('it is not a JSON object');
}
