// The envelope of every REST answer, for results and errors. ENV-01..ENV-05
import { ApiError, asApiError } from '../platform/errors.ts';

/** The body of an answer. */
export interface Envelope {
  errorCode: number;
  errorMsg: string;
  data: unknown;
}

/** The envelope of a result. */
export const success = (data: unknown): Envelope => ({ errorCode: 200, errorMsg: '', data });

/** The envelope of an error. `data` is the list of problems for bad input, null for other errors. ENV-02 */
export const failure = (error: ApiError): Envelope => ({
  errorCode: error.status,
  errorMsg: error.message,
  data: error.fields.length > 0 ? error.fields : null,
});

/** Converts an operation's error or an error of the HTTP server. ENV-04 */
export const knownError = (error: HttpFailure): ApiError => fromFastify(error) ?? asApiError(error);

type HttpFailure = Error & { code?: string; statusCode?: number };

function fromFastify({ code, message, statusCode = 500 }: HttpFailure): ApiError | undefined {
  switch (code) {
    // Node's error when the caller hangs up. A lost database connection has the same code but another message.
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
