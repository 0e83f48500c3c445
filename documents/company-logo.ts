// A company's logo: which picture can be one, and where it is kept. Sealed documents name it by its SHA-256. DOC-03
import { createHash } from 'node:crypto';
import type { Db } from '../platform/database.ts';
import type { Threads } from '../platform/threads.ts';
import { PICTURE_TYPES, type PictureType, pictureType, withoutMetadata } from './pdf/logo.ts';

const THREAD = new URL('./pdf/logo-thread.ts', import.meta.url);

/** In bytes: each document holds it. */
const LARGEST = 200 * 1024;

export interface Picture {
  bytes: Buffer;
  type: PictureType;
}

/** What is wrong with bytes that are to be a logo, in Spanish and in English. */
export interface LogoFault {
  es: string;
  en: string;
}

const TOO_LARGE: LogoFault = {
  es: `la imagen no puede pasar de ${LARGEST / 1024} kB`,
  en: `the picture may have ${LARGEST / 1024} kB at most`,
};
const NO_PICTURE: LogoFault = {
  es: 'se esperaba una imagen PNG o JPEG entera, de 4 millones de píxeles como mucho; un PNG animado, entrelazado o con paleta hay que guardarlo antes como PNG de 32 bits',
  en: 'expected a whole PNG or JPEG of 4 million pixels at most; save an animated, interlaced or palette PNG as a PNG of 32 bits first',
};

/** The logo of these bytes, or what is wrong with them. Reads every pixel of a PNG. */
export function readLogo(bytes: Buffer): Picture | LogoFault {
  if (bytes.length > LARGEST) return TOO_LARGE;
  const type = pictureType(bytes);
  return type ? { bytes, type } : NO_PICTURE;
}

/** The same, without keeping the process from other calls. FAIR-02 */
export async function readLogoApart(threads: Threads, accountId: number, bytes: Buffer): Promise<Picture | LogoFault> {
  if (bytes.length > LARGEST) return TOO_LARGE;
  const found = await threads.run(accountId, THREAD, bytes);
  const type = PICTURE_TYPES.find((one) => one === found);
  return type ? { bytes, type } : NO_PICTURE;
}

/** Keeps a picture for good, without what it says of whoever took it, and answers what names it. */
export async function keepPicture(db: Db, accountId: number, picture: Picture): Promise<string> {
  const { type } = picture;
  // Of a PNG only the pixels get into documents.
  const bytes = type === 'image/jpeg' ? withoutMetadata(picture.bytes) : picture.bytes;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await db
    .insertInto('company_images')
    .values({ account_id: accountId, sha256, media_type: type, bytes })
    .onConflict((conflict) => conflict.columns(['account_id', 'sha256']).doNothing())
    .execute();
  return sha256;
}

/** A picture by its SHA-256. */
export async function pictureOf(db: Db, accountId: number, sha256: string): Promise<{ bytes: Buffer; mime: string }> {
  const found = await db
    .selectFrom('company_images')
    .select(['bytes', 'media_type as mime'])
    .where('account_id', '=', accountId)
    .where('sha256', '=', sha256)
    .executeTakeFirst();
  if (!found) throw new Error(`The company's picture ${sha256} is missing`);
  return { ...found, bytes: Buffer.from(found.bytes) };
}

/** The logo that the company has now; undefined where it has none. */
export async function currentLogo(db: Db, accountId: number) {
  const account = await db.selectFrom('accounts').select('logo').where('id', '=', accountId).executeTakeFirst();
  return account?.logo ? pictureOf(db, accountId, account.logo) : undefined;
}
