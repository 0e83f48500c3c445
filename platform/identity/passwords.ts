// Password hashes: argon2id. The cost is stored with the hash, so that it can be raised while old hashes still work.
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { badField } from '../errors.ts';

export const MIN_PASSWORD = 12;
export const MAX_PASSWORD = 200;

/** About 40 ms and 19 MiB for one password. The thread pool limits how many run at once. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 };
const FORM = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;

const derive = promisify(argon2);
// Keyboards compose accents differently, so normalise.
const bytes = (password: string) => Buffer.from(password.normalize('NFKC'));
const base64 = (buffer: Buffer) => buffer.toString('base64').replace(/=+$/, '');
const encode = (nonce: Buffer, tag: Buffer) =>
  `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${base64(nonce)}$${base64(tag)}`;

/** A hash that no password matches, at the same cost: for people who don't exist. */
export const NO_PASSWORD = encode(Buffer.alloc(16), Buffer.alloc(32));

/** A random password. */
export const newPassword = () => randomBytes(15).toString('base64url');

/** Whether a password has an allowed length. */
export function fitsPassword(password: string): boolean {
  const length = [...password].length;
  return length >= MIN_PASSWORD && length <= MAX_PASSWORD;
}

/** Throws 400 for a password that is too short or too long; `campo` is its field. */
export function checkPassword(campo: string, password: string): void {
  if (!fitsPassword(password)) throw badField(campo, `se esperaban de ${MIN_PASSWORD} a ${MAX_PASSWORD} caracteres`);
}

/** The hash to store. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  return encode(nonce, await derive('argon2id', { message: bytes(password), nonce, tagLength: 32, ...COST }));
}

/** Whether a password matches the hash. */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [, memory, passes, parallelism, nonce = '', tag = ''] = FORM.exec(hash) ?? [];
  const expected = Buffer.from(tag, 'base64');
  if (expected.length === 0) throw new Error('Unknown format of a password hash');
  const found = await derive('argon2id', {
    message: bytes(password),
    nonce: Buffer.from(nonce, 'base64'),
    tagLength: expected.length,
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  });
  return timingSafeEqual(found, expected);
}
