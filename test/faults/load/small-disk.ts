// A file system that is soon full: in memory, of a fixed size, for as long as a proof runs.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface SmallDisk {
  folder: string;
  /** Takes all the room that is left, again and again where some was given back. Answers how many bytes it has taken. */
  fill(): Promise<number>;
  /** Gives it back. */
  free(): Promise<void>;
}

/**
 * Mounts one, which is unmounted when the stack ends. Where this process may not mount, why: only root may, and many containers
 * do not let it.
 */
export async function mountSmallDisk(stack: AsyncDisposableStack, megabytes: number): Promise<SmallDisk | string> {
  if (process.platform !== 'linux') return 'only Linux has a tmpfs';
  const folder = mkdtempSync(join(tmpdir(), 'albaran-disk-'));
  stack.defer(() => rmdirSync(folder));
  try {
    await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'albaran-proof', folder]);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return /^mount: .*/m.exec(said)?.[0] ?? said;
  }
  // Lazily: whatever still has a file open there does not keep it in the way.
  stack.defer(() => void execFileSync('umount', ['-l', folder]));
  const ballast = join(folder, 'ballast');
  return {
    folder,
    async fill() {
      await using file = await open(ballast, 'a');
      for (let size = 1024 * 1024; size >= 4096; ) {
        try {
          await file.write(Buffer.alloc(size));
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
          size /= 4;
        }
      }
      return (await file.stat()).size;
    },
    free: () => rm(ballast),
  };
}
