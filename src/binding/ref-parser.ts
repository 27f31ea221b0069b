/** Loaders disagree about the exports of this CommonJS package. A static import by name works in all of them. */
export { $RefParser } from '@apidevtools/json-schema-ref-parser';
