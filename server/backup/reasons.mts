// Explains why a run failed.
import { existsSync } from 'node:fs';
import { FileError } from '../archive/folder.mts';
import { LockedError } from '../archive/lock.mts';
import { ServiceError, Stopped } from './service.mts';

const FILE_ERRORS: Record<string, string> = {
	ENOSPC: 'The disk is full. Make room, and run it again. Stored files are kept',
	EDQUOT: 'The disk quota is used up. Make room, and run it again. Stored files are kept',
	EFBIG: "The disk doesn't support files of that size. Choose another disk",
	EROFS: 'The folder is on a disk that is read-only. Choose another one, or mount it for writing',
	EACCES: "The folder can't be written to. Make the user who runs this command its owner",
	EPERM: "The folder can't be written to. Make the user who runs this command its owner",
	ENOENT: "The archive's folder is missing. Check that its disk is connected, then run it again",
	EEXIST: 'There is a file where the folder of the archive should be. Choose another folder',
	ENOTDIR: 'There is a file where the folder of the archive should be. Choose another folder',
	EIO: 'The disk reports an error. Check the disk, then run it again',
};

/** Why a run ended, as a message. */
export function reasonOf(error: unknown, folder?: string): string {
	if (error instanceof ServiceError) return error.message;
	if (error instanceof FileError) return `A file of the archive ${error.message}. Remove the link`;
	if (error instanceof Stopped) return 'Stopped. Stored files are kept';
	if (error instanceof LockedError) return `${error.message}. Try again later`;
	const { code, message, errcode } = error as NodeJS.ErrnoException & { errcode?: number };
	const isKnown = code !== 'ENOENT' || folder === undefined || !existsSync(folder);
	const known = (isKnown ? FILE_ERRORS[code ?? ''] : undefined) ?? SQLITE_ERRORS[errcode ?? 0];
	return known === undefined ? message : `${known} (${code})`;
}

/** SQLite errors of the lock file. */
const SQLITE_ERRORS: Record<number, string> = {
	8: FILE_ERRORS.EACCES,
	10: FILE_ERRORS.EIO,
	13: FILE_ERRORS.ENOSPC,
	14: FILE_ERRORS.ENOENT,
};
