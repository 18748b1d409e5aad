/**
 * A test of what Windows does not have: signals, pipes, permissions as Unix has them, and programs that
 * start without a shell. It is skipped there.
 */
export const posixTest = process.platform === 'win32' ? test.skip : test;

/** A test that needs 127.0.0.2, which macOS does not have. It is skipped there. */
export const loopbackTest = process.platform === 'darwin' ? test.skip : test;
