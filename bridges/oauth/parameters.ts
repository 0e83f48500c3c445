// Parameters of OAuth requests: texts, each of which comes once (RFC 6749, 3.1).
import { oauthError } from './errors.ts';

/** Every value a parameter was given. */
export function given(parameters: object, name: string): string[] {
  const value: unknown = Object.hasOwn(parameters, name) ? Reflect.get(parameters, name) : undefined;
  return [value ?? []].flat().map(String);
}

/** The value of a parameter; undefined where it is absent or empty. `invalid_request` for one that is repeated. */
export function theOne(parameters: object, name: string): string | undefined {
  const [value, ...more] = given(parameters, name);
  if (more.length > 0) throw oauthError('invalid_request', 'A parameter is repeated');
  return value || undefined;
}
