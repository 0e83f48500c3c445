// The shape of every REST answer, and how an error becomes one. ENV-01..ENV-05
import { ApiError, asApiError } from '../platform/errors.ts';

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

/** What a request failed with, be it an operation's error or the HTTP server's own. ENV-04 */
export const knownError = (error: HttpFailure): ApiError => fromFastify(error) ?? asApiError(error);

type HttpFailure = Error & { code?: string; statusCode?: number };

function fromFastify({ code, message, statusCode = 500 }: HttpFailure): ApiError | undefined {
  switch (code) {
    // Node's own word for a caller who hung up; a lost connection to the database has the same code.
    case 'ECONNRESET':
      return message === 'aborted' ? new ApiError('badInput', 'La petición no llegó entera') : undefined;
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError('tooLarge', 'El cuerpo de la petición pasa de 1 MiB');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ApiError('notJson', 'El cuerpo de la petición tiene que ser JSON (Content-Type: application/json)');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ApiError('badInput', 'El cuerpo de la petición no mide lo que dice Content-Length');
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new ApiError('badInput', 'La dirección no está bien codificada');
    default:
      return code?.startsWith('FST_') && statusCode < 500
        ? new ApiError('badInput', 'La petición no es válida')
        : undefined;
  }
}
