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
  const content = parseNamingLine(text.replace(/^\ufeff/, ''));
  if (!isJsonObject(content)) throw new Error('it is not a JSON object');
  return content;
}

function parseNamingLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The message of V8 rarely has a place, and quotes the text.
    throw new Error(`it is not valid JSON: ${whyUnreadable(text) ?? messageOf(error)}`);
  }
}

/** Says what is wrong with a text, and in which line. */
function whyUnreadable(text: string): string | undefined {
  try {
    parseJson(text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
