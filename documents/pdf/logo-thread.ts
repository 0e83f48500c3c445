// What is run in a thread of its own: a picture is read pixel by pixel.
import { type PictureType, pictureType } from './logo.ts';

export default (bytes: Uint8Array): PictureType | undefined => pictureType(Buffer.from(bytes));
