/** A CommonJS package whose exports loaders see differently: only a static import by name is the same to all of them. */
export { $RefParser } from '@apidevtools/json-schema-ref-parser';
