// A small file system in memory, for a proof.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface SmallDisk {
  folder: string;
  /** Takes all free space, repeatedly as some is freed. Returns the number of bytes taken. */
  fill(): Promise<number>;
  /** Gives it back. */
  free(): Promise<void>;
}

/**
 * Mounts one, unmounted when the stack ends. Returns the reason if this process may not mount: only root may, and many containers
 * forbid it.
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
  // Lazily: open files must not prevent it.
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
