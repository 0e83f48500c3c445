// The shape of every REST answer, and how an error becomes one. ENV-01..ENV-05
import type { ApiError } from '../platform/errors.ts';

export interface Envelope {
  errorCode: number;
  errorMsg: string;
  data: unknown;
}

export const success = (data: unknown): Envelope => ({ errorCode: 200, errorMsg: '', data });

/** `data` is the list of problems for bad input, and null for every other error. ENV-02 */
export const failure = (error: ApiError): Envelope => ({
  errorCode: error.status,
  errorMsg: error.message,
  data: error.fields.length > 0 ? error.fields : null,
});
