import type { HttpHeaders, HttpResponse } from '../api/http.ts';
import { printJson } from '../process/exact-json.ts';

/** Every code that the local server puts into an Error body, with its status. */
const statuses = {
  invalid_parameter: 400,
  invalid_json: 400,
  invalid_request: 400,
  unauthorized: 401,
  forbidden_origin: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  already_exists: 409,
  in_use: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  misdirected_request: 421,
  validation_failed: 422,
  unknown_reference: 422,
  headers_too_large: 431,
  internal: 500,
  unavailable: 503,
} as const;
type RefusalCode = keyof typeof statuses;

/** The error of a request that the server refuses. Any part below the app throws it; the app answers with an Error body. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly headers: HttpHeaders;

  constructor(code: RefusalCode, message: string, headers: HttpHeaders = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }

  toResponse(): HttpResponse {
    const status = statuses[this.code];
    return {
      status,
      headers: { 'content-type': 'application/json', ...this.headers },
      body: printJson({ code: this.code, message: this.message, status }),
    };
  }
}

/** The most bytes of a request's body. */
export const maxBodyBytes = 1024 * 1024;

/** Creates the refusal of a method. @param methods the methods that the path takes; HEAD goes with GET. */
export function methodNotAllowed(message: string, methods: readonly string[]): Refusal {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return new Refusal('method_not_allowed', message, { allow });
}
