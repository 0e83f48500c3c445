// Parameters of OAuth requests. Each may be sent only once (RFC 6749, 3.1).
import { oauthError } from './errors.ts';

/** All values of a parameter. */
export function valuesOf(parameters: object, name: string): string[] {
  const value: unknown = Object.hasOwn(parameters, name) ? Reflect.get(parameters, name) : undefined;
  return [value ?? []].flat().map(String);
}

/** The value of a parameter; undefined if absent or empty. Throws `invalid_request` if it is repeated. */
export function single(parameters: object, name: string): string | undefined {
  const [value, ...more] = valuesOf(parameters, name);
  if (more.length > 0) throw oauthError('invalid_request', 'A parameter is repeated');
  return value || undefined;
}
