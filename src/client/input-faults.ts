import { isJsonObject, type JsonValue } from '../process/exact-json.ts';

// Frameworks put what is wrong with a request into a list, next to a title that says nothing: ASP.NET and Laravel `errors` by
// field, Spring `errors`, Quarkus and API Platform `violations`, FastAPI `detail`, NestJS `message`, RFC 9457 `invalid-params`.

const listNames = ['errors', 'violations', 'invalid-params', 'invalidParams', 'detail', 'details', 'message'];
/** The most faults that a message names. */
const maxFaults = 5;

/** Lists what a body says is wrong with the request, as one text: `name: must not be blank; age: must be at least 1`. */
export function inputFaults(value: JsonValue | undefined): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const faults = listNames.flatMap((name) => faultsIn(value[name]));
  const texts = [...new Set(faults)];
  if (texts.length === 0) return undefined;
  const rest = texts.length > maxFaults ? [`and ${texts.length - maxFaults} more`] : [];
  return [...texts.slice(0, maxFaults), ...rest].join('; ');
}

function faultsIn(list: JsonValue | undefined): string[] {
  if (Array.isArray(list)) return list.flatMap((item) => (isText(item) ? [item] : faultOf(item)));
  if (!isJsonObject(list)) return [];
  return Object.entries(list).flatMap(([field, reasons]) =>
    [reasons].flat().flatMap((reason) => (isText(reason) ? [named(field, reason)] : [])),
  );
}

function faultOf(item: JsonValue): string[] {
  if (!isJsonObject(item)) return [];
  const { field, name, propertyPath, path, loc, source } = item;
  const { message, defaultMessage, msg, reason, detail, title } = item;
  const place = Array.isArray(loc) ? loc.filter((part) => part !== 'body').join('.') : undefined;
  const pointer = isJsonObject(source) ? source.pointer : undefined;
  const fieldName = [field, propertyPath, path, name, place, pointer].find(isText);
  const text = [message, defaultMessage, msg, reason, detail, title].find(isText);
  return text === undefined ? [] : [named(fieldName, text)];
}

/** Puts the name of a field before a reason that does not name it. */
function named(field: string | undefined, reason: string): string {
  const isNamed = field === undefined || reason.toLowerCase().includes(field.toLowerCase());
  return isNamed ? reason.trim() : `${field}: ${reason.trim()}`;
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
