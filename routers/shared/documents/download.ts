// What operations answer that give a file: where it is and what it is. REST gives the file itself to whom asks for its type.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { OfferedFile, OperationContext } from '../../../platform/context.ts';
import { notFound } from '../../../platform/errors.ts';
import type { LinkTarget } from '../../../platform/signed-links.ts';

export const downloadOutput = z.object({
  url: z.string(),
  nombre: z.string(),
  tipo_mime: z.string(),
  tamano: z.int(),
  sha256: z.string(),
});

/** The answer about a file that was made; `campo`: the parameter that names its document. */
export function download(
  { accountId, downloadUrl, offerFile }: Pick<OperationContext, 'accountId' | 'downloadUrl' | 'offerFile'>,
  made: OfferedFile | undefined,
  target: Omit<LinkTarget, 'accountId'>,
  campo: string,
): z.input<typeof downloadOutput> {
  if (!made) throw notFound(campo);
  offerFile(made);
  const { name, type, bytes } = made;
  return {
    url: downloadUrl({ accountId, ...target }),
    nombre: name,
    tipo_mime: type,
    tamano: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
}
