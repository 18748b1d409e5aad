/** An error of Node.js or of its SQLite. */
export type ServerError = Error & { code?: string; errcode?: number; errstr?: string };

/** How a failure is answered. */
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
	// Of a file system that takes no larger file.
	EFBIG: diskFull,
	EROFS: readOnly,
	EACCES: noRights,
	EPERM: noRights,
};
// The primary result codes of SQLite: permission, read-only, full.
const sqliteAnswers: Record<number, FailureAnswer> = { 3: noRights, 8: readOnly, 13: diskFull };

/**
 * What a client is told of an error that nobody expected, without its message, which may quote a path
 * or what somebody said.
 *
 * @param service The name of the service that failed.
 */
export function answerFailure(service: string, error: ServerError): FailureAnswer {
	return (
		answerOfDisk(error) ?? {
			statusCode: 500,
			message: `The ${service} failed (${reasonOf(error)}). Its log says where`,
		}
	);
}

/** What is said of a disk that is full, read-only or somebody else's; undefined for any other error. */
export function answerOfDisk({ code = '', errcode = 0 }: ServerError): FailureAnswer | undefined {
	return answers[code] ?? sqliteAnswers[errcode & 0xff];
}

/** Throws an Error that says what to do if a disk is full. */
export function throwIfFull(error: ServerError): void {
	const { statusCode, message } = answerOfDisk(error) ?? {};
	if (statusCode === diskFull.statusCode) throw new Error(message, { cause: error });
}

/** An error in a few words, none of which depends on what was said: SQLite has its own for each code. */
export const reasonOf = ({ errstr, code, name }: ServerError): string => errstr ?? code ?? name;

/** What an error is and where it happened, without its message, which may quote what was said. */
export function whereIs(error: ServerError): { code: string; at: string[] } {
	const frames = (error.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line));
	return { code: reasonOf(error), at: frames.slice(0, 5).map((line) => line.trim()) };
}
