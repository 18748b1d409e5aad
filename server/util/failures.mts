/** An error of Node.js or its SQLite. */
export type ServerError = Error & { code?: string; errcode?: number; errstr?: string };

interface FailureAnswer {
	statusCode: number;
	message: string;
}

const diskFull = {
	statusCode: 507,
	message: 'The disk of the server is full. Free some space, then try again',
};
const readOnly = {
	statusCode: 500,
	message:
		'The server can only read from its disk. Make the archive and the index writable, then try again',
};
const noRights = {
	statusCode: 500,
	message:
		"The server isn't allowed to use one of its files. Check the owner and the permissions of the archive and the index",
};
const answers: Record<string, FailureAnswer> = {
	ENOSPC: diskFull,
	EDQUOT: diskFull,
	// The file system allows no larger files.
	EFBIG: diskFull,
	EROFS: readOnly,
	EACCES: noRights,
	EPERM: noRights,
};
// Primary result codes of SQLite: permission, read-only, full.
const sqliteAnswers: Record<number, FailureAnswer> = { 3: noRights, 8: readOnly, 13: diskFull };

/**
 * The answer to an unexpected error, without its message, which may quote a path or the user's words.
 *
 * @param service Name of the failed service.
 */
export function answerFailure(service: string, error: ServerError): FailureAnswer {
	return (
		answerOfDisk(error) ?? {
			statusCode: 500,
			message: `The ${service} failed (${reasonOf(error)}). Its log says where`,
		}
	);
}

/** The answer if a disk is full, read-only or another user's; undefined for other errors. */
export function answerOfDisk({ code = '', errcode = 0 }: ServerError): FailureAnswer | undefined {
	return answers[code] ?? sqliteAnswers[errcode & 0xff];
}

/** Throws an Error that says what to do if a disk is full. */
export function throwIfFull(error: ServerError): void {
	const { statusCode, message } = answerOfDisk(error) ?? {};
	if (statusCode === diskFull.statusCode) throw new Error(message, { cause: error });
}

/** A short description that quotes no content. SQLite has a text for each code. */
export const reasonOf = ({ errstr, code, name }: ServerError): string => errstr ?? code ?? name;

/** The type and location of an error, without its message, which may quote the user's words. */
export function whereIs(error: ServerError): { code: string; at: string[] } {
	const frames = (error.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line));
	return { code: reasonOf(error), at: frames.slice(0, 5).map((line) => line.trim()) };
}
