import { expect, test } from 'vitest';
import { messageIn } from '../../src/client/error-body.ts';

// Frameworks list what is wrong with a request beside a title. The message has both.

// The framework, the body of its error, and the message after the arrow.
const answers = String.raw`
ASP.NET
  {"title":"One or more validation errors occurred.","status":400,"errors":{"Name":["The Name field is required."]}}
  -> One or more validation errors occurred: The Name field is required.
Laravel
  {"message":"The given data was invalid.","errors":{"age":["must be at least 1."],"name":["The name is taken."]}}
  -> The given data was invalid: age: must be at least 1.; The name is taken.
Spring
  {"error":"Bad Request","errors":[{"field":"name","defaultMessage":"must not be blank"}]}
  -> Bad Request: name: must not be blank
Quarkus
  {"title":"Constraint Violation","violations":[{"field":"create.name","message":"must not be blank"}]}
  -> Constraint Violation: create.name: must not be blank
API Platform
  {"title":"An error occurred","violations":[{"propertyPath":"name","message":"This value is too short."}]}
  -> An error occurred: name: This value is too short.
FastAPI
  {"detail":[{"loc":["body","name"],"msg":"field required"}]} -> name: field required
NestJS
  {"message":["name must be a string","age must be a number"],"error":"Bad Request"}
  -> Bad Request: name must be a string; age must be a number
RFC 9457
  {"title":"Bad","invalid-params":[{"name":"age","reason":"must be positive"}]} -> Bad: age: must be positive
JSON:API
  {"errors":[{"title":"Invalid","detail":"is too short","source":{"pointer":"/name"}}]} -> /name: is too short
zod, as a text within message
  {"message":"[{\"code\":\"too_small\",\"path\":[\"category\",\"id\"],\"message\":\"Required\"}]"}
  -> category.id: Required
zod, within error
  {"success":false,"error":{"name":"ZodError","issues":[{"path":["name"],"message":"Required"}]}} -> name: Required
Django REST framework
  {"category":["This field is required."],"name":["Too long.","Not unique."]}
  -> category: This field is required.; name: Too long.; name: Not unique.
Django REST framework, of no field
  ["The shop is closed."] -> The shop is closed.
a JSON text
  "the shop is closed" -> the shop is closed
spectree
  [{"loc":["name"],"msg":"field required"}] -> name: field required
Litestar
  {"detail":"No","extra":[{"message":"Expected str","key":"name"}]} -> No: name: Expected str
Moleculer
  {"message":"No","data":[{"field":"name","message":"too short"}]} -> No: name: too short
a list of texts
  {"message":"no","errors":["a","b","a"]} -> no: a; b
one error with a message
  {"errors":[{"message":"it is taken"}]} -> it is taken
the specification
  {"code":"x","message":"name is required","status":422} -> name is required`;

test.each(Array.from(answers.matchAll(/^(\S.*)\n +(.*?)\s+-> (.*)$/gm), ([, ...cells]) => cells))(
  'a message lists the faults of the input: %s',
  (_, body = '', message) => {
    expect(messageIn(JSON.parse(body))).toBe(message);
  },
);
